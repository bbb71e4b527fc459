"""Decisions to OpenTelemetry spans, off the hot path. The only file that imports the SDK.

The hot path appends the finished decision to a bounded ring and goes on. A background thread takes what
is there, makes read-only spans of it (starting SDK spans would cost more than the decision itself) and
hands them to the exporter in batches. When the ring is full the newest decision is dropped and counted:
a slow or absent collector must cost spans, never requests.

Sampling is by the trace's own randomness, so all spans of a trace share one fate, and the rate travels
with the span in ``tracestate`` (``ot=th``). A caller that samples but does not state its rate leaves the
rate of the span unknown, so none is written.
"""

import atexit
import logging
import threading
from collections import deque
from types import TracebackType
from typing import Self
from uuid import uuid4

from opentelemetry.context import _SUPPRESS_INSTRUMENTATION_KEY, attach, detach, set_value
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, TraceFlags, TraceState
from opentelemetry.trace.status import Status, StatusCode

from . import semconv
from .decision import Decision
from .model import Outcome, OutcomeKind
from .protocols import DecisionSink
from .recorder_config import RecorderConfig, RecorderStats
from .span_attributes import decision_attributes, outcome_attributes, text
from .trace_context import MAX_THRESHOLD, sampling_fields, threshold_of_rate, with_threshold

log = logging.getLogger(__name__)

_RANDOMNESS = MAX_THRESHOLD - 1
_FAILED = frozenset({OutcomeKind.ERROR, OutcomeKind.DROPPED})


class _Marker:
    """A place in the ring: set once everything before it has been exported."""

    def __init__(self) -> None:
        self.reached = threading.Event()


_Entry = tuple[Decision, Outcome | None] | _Marker


class Recorder:
    """Sends decisions and outcomes to a span exporter.

    ``exporter`` is any SDK ``SpanExporter`` (the OTLP ones, for instance); it belongs to the recorder
    from here on and is shut down with it. ``service`` and ``instance`` become ``service.name`` and
    ``service.instance.id`` (a random UUID by default).
    """

    def __init__(
        self,
        exporter: SpanExporter,
        *,
        service: str,
        instance: str | None = None,
        config: RecorderConfig | None = None,
    ) -> None:
        self._config = config or RecorderConfig()
        self._exporter = exporter
        self._spans = _SpanMaker(service, instance or str(uuid4()), self._config)
        self._threshold = threshold_of_rate(self._config.rate)
        self._ring: deque[_Entry] = deque()
        self._wake = threading.Event()
        self._counting = threading.Lock()
        self._closed = self._failing = False
        self._taken = self._exported = self._failed = self._dropped = self._unsampled = 0
        self._thread = threading.Thread(target=self._run, name="weighbridge-recorder", daemon=True)
        self._thread.start()
        atexit.register(self.shutdown)

    def samples(self, trace_id: int, trace_state: str) -> bool:
        """Whether a decision of this trace is kept at the configured rate and the caller's own."""
        threshold, randomness = self._threshold, trace_id & _RANDOMNESS
        if trace_state:
            stated, explicit = sampling_fields(trace_state)
            threshold = max(threshold, stated or 0)
            randomness = randomness if explicit is None else explicit
        if randomness >= threshold:
            return True
        with self._counting:
            self._unsampled += 1
        return False

    def record(self, decision: Decision) -> None:
        """Take a decision into the ring; returns at once."""
        self._push((decision, None))

    def record_outcome(self, decision: Decision, outcome: Outcome) -> None:
        """Take an outcome into the ring; its span ``upstream <node>`` runs from decision to outcome."""
        if self._config.outcome_spans:
            self._push((decision, outcome))

    def stats(self) -> RecorderStats:
        """The counts so far."""
        with self._counting:
            pending = self._taken - self._exported - self._failed + len(self._ring)
            recorded = self._taken + len(self._ring)
            return RecorderStats(
                recorded, self._exported, self._failed, pending, self._dropped, self._unsampled
            )

    def flush(self, timeout_s: float = 10.0) -> bool:
        """Export what was recorded before this call; False if that took longer or is no longer possible."""
        if not self._thread.is_alive():
            return False
        marker = _Marker()
        self._ring.append(marker)
        self._wake.set()
        return marker.reached.wait(timeout_s)

    def shutdown(self, timeout_s: float = 10.0) -> bool:
        """Export what is left and shut the exporter down; True if all was handed over in time.

        May be called again; later calls only answer.
        """
        atexit.unregister(self.shutdown)
        already, self._closed = self._closed, True
        self._wake.set()
        self._thread.join(timeout_s)
        if not already:
            self._exporter.shutdown()
        return not self._thread.is_alive()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()

    def _push(self, entry: _Entry) -> None:
        ring, config = self._ring, self._config
        if len(ring) >= config.capacity or self._closed:
            with self._counting:
                self._dropped += 1
            return
        ring.append(entry)  # atomic, so producers need no lock; the bound may be passed by one per thread
        if len(ring) >= config.max_batch and not self._wake.is_set():
            self._wake.set()

    def _run(self) -> None:
        while True:
            self._wake.wait(self._config.interval_s)
            self._wake.clear()
            closing = self._closed
            while self._ring:
                self._export_batch()
            if closing:
                return

    def _export_batch(self) -> None:
        ring, marker = self._ring, None
        batch: list[tuple[Decision, Outcome | None]] = []
        while ring and len(batch) < self._config.max_batch:
            entry = ring.popleft()
            if isinstance(entry, _Marker):
                marker = entry
                break
            batch.append(entry)
        with self._counting:
            self._taken += len(batch)
        spans = [span for entry in batch if (span := self._spans.make(*entry)) is not None]
        done = len(spans) if spans and self._export(spans) else 0
        with self._counting:
            self._exported += done
            self._failed += len(batch) - done
        if marker is not None:
            marker.reached.set()

    def _export(self, spans: list[ReadableSpan]) -> bool:
        # Instrumented transports must not make spans of the delivery of spans.
        token = attach(set_value(_SUPPRESS_INSTRUMENTATION_KEY, True))
        try:
            done = self._exporter.export(spans) is SpanExportResult.SUCCESS
        except Exception:
            # Said once per outage: at ten batches a second the log would hold nothing else.
            log.log(logging.DEBUG if self._failing else logging.ERROR, "the exporter failed", exc_info=True)
            done = False
        finally:
            detach(token)
        self._failing = not done
        return done


class _SpanMaker:
    """Makes read-only spans of ring entries."""

    def __init__(self, service: str, instance: str, config: RecorderConfig) -> None:
        names = {semconv.SERVICE_NAME: text(service), semconv.SERVICE_INSTANCE_ID: text(instance)}
        self._resource = Resource(names)
        self._scope = InstrumentationScope(semconv.SCOPE_NAME)
        self._max_candidates = config.max_candidates
        self._threshold = threshold_of_rate(config.rate)
        self._told = False
        self._root_state = self._state("") if config.rate else TraceState()

    def make(self, decision: Decision, outcome: Outcome | None) -> ReadableSpan | None:
        """The span of an entry; None when none can be made of it, which is logged the first time."""
        try:
            return self._decision(decision) if outcome is None else self._outcome(decision, outcome)
        except Exception:
            level, self._told = logging.DEBUG if self._told else logging.ERROR, True
            log.log(level, "no span could be made of a decision", exc_info=True)
            return None

    def _decision(self, decision: Decision) -> ReadableSpan:
        identity = decision.identity
        return ReadableSpan(
            name=semconv.SPAN_NAME_PREFIX + text(decision.evaluation.policy.name),
            context=self._context(decision, identity.span_id),
            parent=self._parent(decision),
            resource=self._resource,
            attributes=decision_attributes(decision, self._max_candidates),
            kind=SpanKind.INTERNAL,
            start_time=decision.started_ns,
            end_time=decision.decided_ns,
            instrumentation_scope=self._scope,
        )

    def _outcome(self, decision: Decision, outcome: Outcome) -> ReadableSpan:
        identity, end = decision.identity, outcome.time_ns
        failed = outcome.kind in _FAILED
        status = Status(StatusCode.ERROR, text(outcome.message) or None) if failed else Status()
        return ReadableSpan(
            name="upstream " + text(decision.node.name),
            context=self._context(decision, identity.upstream_span_id),
            parent=self._parent(decision) or self._context(decision, identity.span_id),
            resource=self._resource,
            attributes=outcome_attributes(decision, outcome),
            kind=SpanKind.CLIENT,
            status=status,
            start_time=decision.decided_ns,
            end_time=decision.decided_ns if end is None else end,
            instrumentation_scope=self._scope,
        )

    def _parent(self, decision: Decision) -> SpanContext | None:
        """The caller's span, None where the decision starts the trace."""
        parent = decision.identity.parent
        if parent is None:
            return None
        return SpanContext(parent.trace_id, parent.span_id, True, TraceFlags(TraceFlags.SAMPLED))

    def _context(self, decision: Decision, span_id: int) -> SpanContext:
        parent = decision.identity.parent
        state = self._root_state if parent is None else self._state_below(parent.trace_state)
        flags = TraceFlags(TraceFlags.SAMPLED)
        return SpanContext(decision.identity.trace_id, span_id, False, flags, state)

    def _state_below(self, trace_state: str) -> TraceState:
        """Trace state of a span whose caller has this one."""
        stated, _ = sampling_fields(trace_state)
        if stated is None:
            return TraceState.from_header([trace_state]) if trace_state else TraceState()
        return self._state(trace_state, max(stated, self._threshold))

    def _state(self, trace_state: str, threshold: int | None = None) -> TraceState:
        effective = self._threshold if threshold is None else threshold
        return TraceState.from_header([with_threshold(trace_state, effective)])


__all__ = ["Recorder", "RecorderConfig", "RecorderStats"]

_: type[DecisionSink] = Recorder
