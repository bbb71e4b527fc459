"""How the demo sends: the official OTLP/gRPC exporter, watched, with a bounded queue before it.

The simulation never waits for the collector. While that is away, spans are dropped and counted, one line
says so, and another says when it is back.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

TIMEOUT_S = 4.0
"""An export is tried again within that time, then given up; the queue holds what arrives meanwhile."""

_CHANNEL = (("grpc.max_reconnect_backoff_ms", 1_000), ("grpc.initial_reconnect_backoff_ms", 200))


class Link:
    """Whether the collector takes spans, over all exporters of the process; safe from several threads."""

    def __init__(self, endpoint: str, say: Callable[[str], None]) -> None:
        self.endpoint = endpoint
        self._say = say
        self._lock = threading.Lock()
        self._down_since: float | None = None
        self._lost = 0
        self.lost = 0
        """Spans the collector did not take, since the start."""

    def exported(self) -> None:
        """A batch arrived."""
        with self._lock:
            down, lost = self._down_since, self._lost
            self._down_since, self._lost = None, 0
        if down is not None:
            self._say(
                f"demo: the collector at {self.endpoint} is back after {time.monotonic() - down:.0f} s; "
                f"{lost:,} spans were not delivered"
            )

    def failed(self, spans: int) -> None:
        """A batch was given up."""
        with self._lock:
            first = self._down_since is None
            if first:
                self._down_since = time.monotonic()
            self._lost += spans
            self.lost += spans
        if first:
            self._say(
                f"demo: the collector at {self.endpoint} does not take spans; "
                "the simulation goes on without it and keeps trying"
            )


class WatchedExporter(SpanExporter):
    """Passes spans to another exporter and tells the link how it went; sets their resource if given one."""

    def __init__(self, exporter: SpanExporter, link: Link, resource: Resource | None = None) -> None:
        self._exporter = exporter
        self._link = link
        self._resource = resource

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export a batch, waiting at most ``TIMEOUT_S``."""
        if self._resource is not None:
            spans = [_with_resource(span, self._resource) for span in spans]
        result = self._exporter.export(spans)
        if result is SpanExportResult.SUCCESS:
            self._link.exported()
        else:
            self._link.failed(len(spans))
        return result

    def shutdown(self) -> None:
        """Close the connection; an export that waits to try again gives up."""
        self._exporter.shutdown()


class SpanQueue:
    """A bounded queue of spans and the thread that exports them in batches."""

    def __init__(
        self, exporter: SpanExporter, *, capacity: int = 8_192, batch: int = 512, interval_s: float = 0.5
    ) -> None:
        self._exporter = exporter
        self._capacity, self._batch, self._interval = capacity, batch, interval_s
        self._spans: deque[ReadableSpan] = deque()
        self._closing = threading.Event()
        self.sent = 0
        """Spans handed over."""
        self.dropped = 0
        """Spans that found the queue full."""
        self._thread = threading.Thread(target=self._run, name="weighbridge-demo-spans", daemon=True)
        self._thread.start()

    def put(self, spans: Sequence[ReadableSpan]) -> None:
        """Queue the spans of one request, or drop and count them all; returns at once."""
        if len(self._spans) + len(spans) > self._capacity:
            self.dropped += len(spans)
        else:
            self._spans.extend(spans)

    def shutdown(self, timeout_s: float = 1.0) -> None:
        """Export what is left, as far as the time allows, and close the exporter."""
        self._closing.set()
        self._thread.join(timeout_s)
        self._exporter.shutdown()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while True:
            closing = self._closing.wait(self._interval)
            while self._spans:
                batch = [self._spans.popleft() for _ in range(min(self._batch, len(self._spans)))]
                taken = self._exporter.export(batch) is SpanExportResult.SUCCESS
                self.sent += len(batch) * taken
                if closing and not taken:
                    return
            if closing:
                return


def connect(endpoint: str, link: Link, resource: Resource | None = None) -> WatchedExporter:
    """An OTLP/gRPC exporter to ``host:port``, without TLS, that reconnects within a second or two."""
    # The exporter logs each try that fails; the link's line says it once.
    logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)
    exporter = OTLPSpanExporter(
        endpoint=endpoint,
        insecure=True,
        timeout=TIMEOUT_S,
        channel_options=_CHANNEL,  # type: ignore[arg-type]  # declared as one pair of strings; gRPC takes more
    )
    return WatchedExporter(exporter, link, resource)


def _with_resource(span: ReadableSpan, resource: Resource) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=resource,
        attributes=span.attributes,
        events=span.events,
        links=span.links,
        kind=span.kind,
        status=span.status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )
