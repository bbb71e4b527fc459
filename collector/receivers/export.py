"""Export without a transport: a payload in, an answer out once everything of it is stored.

The work of one request runs in a task of its own that holds the request's admission until the end. A
client that goes away, or a caller that stops waiting, therefore neither leaks admission nor gives it
back while the request still takes memory.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, TypeVar

from collector.adapters.registry import adapt
from collector.config import CollectorConfig
from collector.consumer import Consumer
from collector.decode import Decoded, TraceReader
from collector.errors import BusyError, IntakeError, InternalError
from collector.stages.account import Account
from collector.stages.admit import Admission, Ticket
from storage.records import AdaptedBatch

from .other_signals import count_items
from .payload import Payload, Signal

_Result = TypeVar("_Result")
_logger = logging.getLogger(__name__)

INLINE_BYTES = 16 * 1024
"""Requests up to this size are decoded on the event loop: that takes less than handing them over."""

NOT_STORED = "{} are counted but not stored by this version"


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The answer to a request: how many items were taken, how many never will be, and why."""

    accepted: int
    rejected: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class _Part:
    """One decoded and adapted part of a trace request; ``last`` when nothing follows."""

    decoded: Decoded
    adapted: AdaptedBatch
    last: bool


class Export:
    """Takes requests of every signal. ``executor`` decodes what is large; ``account`` counts."""

    def __init__(
        self,
        consumer: Consumer,
        admission: Admission,
        account: Account,
        executor: Executor,
        config: CollectorConfig,
    ) -> None:
        self._consumer = consumer
        self._admission = admission
        self._account = account
        self._executor = executor
        self._config = config
        self._tasks: set[asyncio.Task[ExportResult]] = set()

    async def export(self, signal: Signal, payload: Payload, ticket: Ticket | None = None) -> ExportResult:
        """Take one request; returns when it is stored.

        ``ticket`` is the admission under which the body was read; it is closed here. Raises IntakeError,
        and nothing else: BusyError also when storing takes longer than the time limit, though the spans
        may still be stored, as a resend will find.
        """
        if ticket is None:
            ticket = self._admission.enter(len(payload.body))
        work = (
            self._traces(payload, ticket) if signal is Signal.TRACES else self._other(signal, payload, ticket)
        )
        task = asyncio.create_task(self._guard(work, ticket))
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        try:
            async with asyncio.timeout(self._config.request_timeout_s):
                return await asyncio.shield(task)
        except TimeoutError as exc:
            message = f"the spans were not stored within {self._config.request_timeout_s:g} s"
            raise BusyError(message, self._config.retry_after_s) from exc

    async def traces(self, payload: Payload, ticket: Ticket | None = None) -> ExportResult:
        """``export`` for spans."""
        return await self.export(Signal.TRACES, payload, ticket)

    async def drain(self, timeout_s: float) -> bool:
        """Wait until no request is being worked on; False when some still are after ``timeout_s``."""
        if not self._tasks:
            return True
        _, pending = await asyncio.wait(self._tasks, timeout=timeout_s)
        return not pending

    def _finished(self, task: asyncio.Task[ExportResult]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # seen here, since the caller may have gone

    async def _guard(self, work: Coroutine[Any, Any, ExportResult], ticket: Ticket) -> ExportResult:
        try:
            return await work
        except IntakeError:
            raise
        except Exception as exc:
            _logger.exception("a request could not be handled")
            raise InternalError("the collector failed; its log says why") from exc
        finally:
            ticket.close()

    async def _traces(self, payload: Payload, ticket: Ticket) -> ExportResult:
        reader, part = await self._offload(payload, lambda: self._first_part(payload, ticket))
        accepted = rejected = 0
        message = ""
        while True:
            result = await self._consumer.consume(part.adapted)
            told = self._account.traces(part.decoded, part.adapted, result)
            accepted += len(part.adapted.spans)
            rejected += part.decoded.rejected
            message = message or told
            if part.last:
                return ExportResult(accepted, rejected, message)
            part = await self._offload(payload, lambda: self._next_part(reader))

    def _first_part(self, payload: Payload, ticket: Ticket) -> tuple[TraceReader, _Part]:
        body = self._open(Signal.TRACES, payload, ticket)
        reader = TraceReader(body, payload.encoding)
        return reader, self._next_part(reader)

    def _next_part(self, reader: TraceReader) -> _Part:
        decoded = reader.read(self._config.part_max_spans)
        found = adapt(decoded.batch)
        decoded = Decoded(decoded.batch, decoded.rejects, found.warnings + Counter(decoded.warnings))
        return _Part(decoded, AdaptedBatch(decoded.batch, found.decisions, found.outcomes), reader.done)

    async def _other(self, signal: Signal, payload: Payload, ticket: Ticket) -> ExportResult:
        def count() -> int:
            return count_items(signal, self._open(signal, payload, ticket), payload.encoding)

        items = await self._offload(payload, count)
        self._account.items(signal.value, items)
        return ExportResult(items, 0, NOT_STORED.format(signal.value) if items else "")

    def _open(self, signal: Signal, payload: Payload, ticket: Ticket) -> bytes:
        """The plain body, its growth admitted and its size counted."""
        body = payload.plain(self._config.request_limit)
        if payload.gzipped:
            ticket.grow(len(body))
        self._account.received(signal.value, len(body))
        return body

    async def _offload(self, payload: Payload, work: Callable[[], _Result]) -> _Result:
        if len(payload.body) <= INLINE_BYTES and not payload.gzipped:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)
