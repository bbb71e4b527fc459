"""Group commit: batches that arrive while a write runs go together into the next one.

An idle store is written to at once; under load each write takes everything that waits, up to a number of
spans, so one commit serves many callers. What waits is bounded by admission, which every caller holds
until its batch has landed.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from collector.consumer import Consumer
from collector.errors import BusyError, IntakeError, InternalError
from storage.records import AdaptedBatch, WriteResult

_logger = logging.getLogger(__name__)
_NOTHING = WriteResult(0, 0, 0)


class Sink(Protocol):
    """Writes batches durably, all or none."""

    async def write(self, batches: Sequence[AdaptedBatch]) -> Sequence[WriteResult]:
        """One result per batch; raises IntakeError when nothing of them was stored."""
        ...


@dataclass(frozen=True, slots=True)
class _Waiting:
    batch: AdaptedBatch
    landed: asyncio.Future[WriteResult]


class GroupCommit:
    """A Consumer that writes in groups; ``run`` is its only writer."""

    def __init__(self, sink: Sink, max_spans: int) -> None:
        self._sink = sink
        self._max_spans = max_spans
        self._waiting: deque[_Waiting] = deque()
        self._wake = asyncio.Event()
        self._closing = False
        self.queue_spans = 0
        """Spans that wait or are being written."""

    async def consume(self, batch: AdaptedBatch) -> WriteResult:
        """Store ``batch`` with the next group; raises IntakeError when it could not be stored."""
        if len(batch.spans) == 0:
            return _NOTHING
        if self._closing:
            raise BusyError("the collector is shutting down")
        entry = _Waiting(batch, asyncio.get_running_loop().create_future())
        self._waiting.append(entry)
        self.queue_spans += len(batch.spans)
        self._wake.set()
        return await entry.landed

    async def run(self) -> None:
        """Write groups until ``close``, then what still waits."""
        while True:
            await self._wake.wait()
            while self._waiting:
                group = self._next_group()
                await self._write(group)
                self.queue_spans -= sum(len(entry.batch.spans) for entry in group)
            if self._closing:
                return
            self._wake.clear()

    def close(self) -> None:
        """Take nothing more; ``run`` ends when what waits is written."""
        self._closing = True
        self._wake.set()

    def _next_group(self) -> list[_Waiting]:
        group, spans = [self._waiting.popleft()], 0
        spans = len(group[0].batch.spans)
        while self._waiting and spans + len(self._waiting[0].batch.spans) <= self._max_spans:
            entry = self._waiting.popleft()
            group.append(entry)
            spans += len(entry.batch.spans)
        return group

    async def _write(self, group: list[_Waiting]) -> None:
        try:
            results = await self._sink.write([entry.batch for entry in group])
        except InternalError as exc:
            if len(group) == 1:
                _fail(group, exc)
                return
            _logger.warning("a group of %d batches failed; writing them one by one", len(group))
            for entry in group:
                await self._write([entry])
        except IntakeError as exc:
            _fail(group, exc)
        except Exception:  # whatever it is, the only writer must live on
            _logger.exception("a sink raised what it should not")
            _fail(group, InternalError("the spans could not be stored; the collector's log says why"))
        else:
            for entry, result in zip(group, results, strict=True):
                if not entry.landed.done():
                    entry.landed.set_result(result)


_: type[Consumer] = GroupCommit


def _fail(group: Sequence[_Waiting], exc: IntakeError) -> None:
    for entry in group:
        if not entry.landed.done():
            entry.landed.set_exception(exc)
