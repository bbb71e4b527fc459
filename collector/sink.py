"""The store as the pipeline sees it: one thread, so that all writes are in one order."""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from storage.errors import StorageError
from storage.records import AdaptedBatch, WriteResult

from .errors import BusyError, InternalError
from .metrics import CollectorMetrics
from .stages.batch import Sink

_logger = logging.getLogger(__name__)
_Result = TypeVar("_Result")


class StoreSink:
    """Runs ``write`` (all batches in one transaction) on its own thread.

    A store that cannot be written is told as BusyError, whatever its operator has to do about it: a sender
    that is not told to retry throws its spans away. Whatever else goes wrong is logged and told as
    InternalError. ``available`` says whether the last write succeeded.
    """

    def __init__(
        self,
        write: Callable[[Sequence[AdaptedBatch]], Sequence[WriteResult]],
        metrics: CollectorMetrics,
        retry_after_s: float,
    ) -> None:
        self._write = write
        self._metrics = metrics
        self._retry_after_s = retry_after_s
        self._thread = ThreadPoolExecutor(1, "weighbridge-writer")
        self.available = True

    async def write(self, batches: Sequence[AdaptedBatch]) -> Sequence[WriteResult]:
        """Write ``batches`` in one transaction; one result each."""
        started = time.perf_counter()
        try:
            results = await self.run(lambda: self._write(batches))
            if len(results) != len(batches):
                raise InternalError("the store answered for another number of batches")
        except StorageError as exc:
            if self.available:  # said once, not for every request until it is mended
                _logger.error("the store cannot be written; senders are told to retry: %s", exc)
            self.available = False
            raise BusyError(f"the store is unavailable: {exc}", self._retry_after_s) from exc
        except Exception as exc:
            _logger.exception("a write failed")
            raise InternalError("the spans could not be stored; the collector's log says why") from exc
        if not self.available:
            _logger.warning("the store can be written again")
        self.available = True
        self._metrics.wrote(sum(len(b.spans) for b in batches), time.perf_counter() - started)
        return results

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """Run ``work`` on the writer's thread, after the writes before it; its errors are the caller's."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def close(self) -> None:
        """End the thread after what it is doing now."""
        self._thread.shutdown(wait=False, cancel_futures=True)


_: type[Sink] = StoreSink
