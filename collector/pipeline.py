"""Builds the intake out of its stages and runs it: receivers first to stop, the sink last."""

import asyncio
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from storage.errors import StorageError
from storage.records import AdaptedBatch, IntakeTally, WriteResult

from .config import CollectorConfig
from .metrics import CollectorMetrics
from .receivers.export import Export
from .receivers.otlp_grpc import GrpcReceiver
from .receivers.otlp_http import HttpReceiver, OtlpHttp
from .sink import StoreSink
from .stages.account import Account
from .stages.admit import Admission
from .stages.batch import GroupCommit
from .tallies import Tallies

_logger = logging.getLogger(__name__)

Write = Callable[[Sequence[AdaptedBatch]], Sequence[WriteResult]]
RecordIntake = Callable[[Sequence[IntakeTally]], None]
Heartbeat = Callable[[Mapping[str, float]], None]


class Collector:
    """The whole intake.

    ``write`` stores batches in one transaction, one result each; it raises StoreUnavailableError when the
    store cannot take them now. ``record_intake`` and ``heartbeat`` are called every second. All three run
    on one thread of the collector's own. ``clock`` gives nanoseconds since the epoch.
    """

    def __init__(
        self,
        config: CollectorConfig,
        write: Write,
        record_intake: RecordIntake,
        heartbeat: Heartbeat,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._config = config
        self._record_intake = record_intake
        self._heartbeat = heartbeat
        self.metrics = CollectorMetrics()
        self._tallies = Tallies()
        self._admission = Admission(
            config.max_inflight_bytes, config.max_inflight_requests, config.retry_after_s
        )
        self._sink = StoreSink(write, self.metrics, config.retry_after_s)
        self._batch = GroupCommit(self._sink, config.batch_max_spans)
        self._decoders = ThreadPoolExecutor(config.decode_threads, "weighbridge-decode")
        account = Account(self._tallies, self.metrics, clock)
        self._export = Export(self._batch, self._admission, account, self._decoders, config)
        self._grpc = GrpcReceiver(self._export, self._admission, self.metrics, config)
        endpoints = OtlpHttp(self._export, self._admission, self.metrics, config, self._not_ready)
        self._http = HttpReceiver(endpoints, config)
        self._started = False
        self._stopping: asyncio.Task[None] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._watch()

    @property
    def grpc_address(self) -> str:
        """``host:port`` of the gRPC server, once started."""
        return self._grpc.address

    @property
    def http_address(self) -> str:
        """``host:port`` of the HTTP server, once started."""
        return self._http.address

    @property
    def inflight_requests(self) -> int:
        """Requests that are being read, decoded or stored."""
        return self._admission.requests

    async def start(self) -> None:
        """Bind both ports and begin; raises ListenError, with nothing left running."""
        try:
            await self._http.start()
            await self._grpc.start()
        except BaseException:
            await self._http.stop(0)
            self._decoders.shutdown(wait=False)
            self._sink.close()
            raise
        self._tasks = [asyncio.create_task(self._batch.run()), asyncio.create_task(self._flush_forever())]
        self._started = True

    async def stop(self, grace_s: float = 8.0) -> None:
        """Drain and end within about ``grace_s`` seconds; repeated calls wait for the first."""
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop(grace_s))
        await asyncio.shield(self._stopping)

    async def _stop(self, grace_s: float) -> None:
        if not self._started:
            return
        self._started = False
        deadline = time.monotonic() + grace_s
        await asyncio.gather(self._grpc.stop(grace_s / 2), self._http.stop(grace_s / 2))
        await self._export.drain(_left(deadline))
        self._batch.close()
        writer, flusher = self._tasks
        flusher.cancel()
        await asyncio.wait([writer, flusher], timeout=_left(deadline))
        if writer.done():
            await asyncio.wait([asyncio.create_task(self._flush())], timeout=_left(deadline))
        else:
            _logger.error("the store did not take the last writes in time; their senders were told to retry")
            writer.cancel()
        self._decoders.shutdown(wait=False, cancel_futures=True)
        self._sink.close()

    def _not_ready(self) -> str:
        if not self._started:
            return "the collector is not running"
        return "" if self._sink.available else "the store is unavailable"

    async def _flush_forever(self) -> None:
        while True:
            await asyncio.sleep(self._config.flush_interval_s)
            await self._flush()

    async def _flush(self) -> None:
        """Hand tallies and figures to the store; what cannot be handed over waits for the next time."""
        tallies, figures = self._tallies.drain(), self._figures()

        try:
            if tallies:
                await self._sink.run(lambda: self._record_intake(tallies))
        except StorageError as exc:
            _logger.debug("the intake counts wait for the store: %s", exc)  # the sink says that it is away
            self._tallies.restore(tallies)
        except Exception:
            _logger.warning("the intake counts could not be stored; kept for the next time", exc_info=True)
            self._tallies.restore(tallies)
        try:
            await self._sink.run(lambda: self._heartbeat(figures))
        except StorageError as exc:
            _logger.debug("the heartbeat waits for the store: %s", exc)
        except Exception:
            _logger.warning("the heartbeat could not be stored", exc_info=True)

    def _figures(self) -> dict[str, float]:
        written = self.metrics.take_figures()
        return {
            "queue_spans": float(self._batch.queue_spans),
            "inflight_bytes": float(self._admission.bytes),
            "inflight_requests": float(self._admission.requests),
            "refused_requests": float(self._admission.refused),
            "rss_bytes": rss_bytes(),
            "writes": float(written.writes),
            "written_spans": float(written.spans),
            "write_ms": 1e3 * written.seconds / written.writes if written.writes else 0.0,
            "write_max_ms": 1e3 * written.longest_s,
            "store_available": float(self._sink.available),
        }

    def _watch(self) -> None:
        watch = self.metrics.watch
        watch("queue_spans", "Spans waiting for the store.", lambda: self._batch.queue_spans)
        watch("inflight_bytes", "Bytes of requests inside.", lambda: self._admission.bytes)
        watch("inflight_requests", "Requests inside.", lambda: self._admission.requests)
        watch("refused_requests", "Requests told to retry at the door.", lambda: self._admission.refused)
        watch("rss_bytes", "Resident memory of the process.", rss_bytes)
        watch("store_available", "1 when the last write succeeded.", lambda: float(self._sink.available))


def rss_bytes() -> float:
    """Resident memory of this process in bytes; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return 0.0
    return float(pages * os.sysconf("SC_PAGE_SIZE"))


def _left(deadline: float) -> float:
    return max(0.05, deadline - time.monotonic())
