"""Every figure the collector tells about itself: Prometheus names here and nowhere else."""

from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SPANS = (1, 8, 64, 256, 512, 1024, 2048, 4096, 8192, 16384)
_PREFIX = "weighbridge_collector_"


@dataclass(frozen=True, slots=True)
class WriteFigures:
    """Writes since the last look: how many, their spans, and their mean and longest time."""

    writes: int = 0
    spans: int = 0
    seconds: float = 0.0
    longest_s: float = 0.0


class CollectorMetrics:
    """Counters and gauges on a registry of their own; labels take few, fixed values."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self._requests = Counter(
            f"{_PREFIX}requests", "Requests answered.", ["transport", "signal", "outcome"], registry=registry
        )
        self._bytes = Counter(
            f"{_PREFIX}request_bytes", "Bytes of requests, decompressed.", ["signal"], registry=registry
        )
        self._spans = Counter(
            f"{_PREFIX}spans", "Spans by what became of them.", ["result"], registry=registry
        )
        self._items = Counter(
            f"{_PREFIX}other_items",
            "Metrics and log records received, not stored.",
            ["signal"],
            registry=registry,
        )
        self._decisions = Counter(f"{_PREFIX}decisions", "Spans that made a decision.", registry=registry)
        self._warnings = Counter(
            f"{_PREFIX}warnings", "Warnings, one per span and reason.", registry=registry
        )
        self._write_s = Histogram(
            f"{_PREFIX}write_seconds", "Time of one durable write.", buckets=_SECONDS, registry=registry
        )
        self._write_spans = Histogram(
            f"{_PREFIX}write_spans", "Spans of one durable write.", buckets=_SPANS, registry=registry
        )
        self._figures = WriteFigures()

    def watch(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        """Expose ``read`` as the gauge ``name``."""
        Gauge(f"{_PREFIX}{name}", meaning, registry=self._registry).set_function(read)

    def answered(self, transport: str, signal: str, outcome: str) -> None:
        """Count one answered request; ``outcome`` is a label of the status table or "ok"."""
        self._requests.labels(transport, signal, outcome).inc()

    def received(self, signal: str, size: int) -> None:
        """Count the bytes of one request after decompression."""
        self._bytes.labels(signal).inc(size)

    def spans(self, result: str, count: int) -> None:
        """Count spans: ``result`` is accepted, duplicated or rejected."""
        self._spans.labels(result).inc(count)

    def decisions(self, count: int, warnings: int) -> None:
        """Count decisions made and warnings given."""
        self._decisions.inc(count)
        self._warnings.inc(warnings)

    def items(self, signal: str, count: int) -> None:
        """Count metrics or log records that were received and not stored."""
        self._items.labels(signal).inc(count)

    def wrote(self, spans: int, seconds: float) -> None:
        """Count one durable write."""
        self._write_s.observe(seconds)
        self._write_spans.observe(spans)
        seen = self._figures
        self._figures = WriteFigures(
            seen.writes + 1, seen.spans + spans, seen.seconds + seconds, max(seen.longest_s, seconds)
        )

    def take_figures(self) -> WriteFigures:
        """Figures of the writes since the last call."""
        figures, self._figures = self._figures, WriteFigures()
        return figures

    def exposition(self) -> bytes:
        """Everything in the Prometheus text format."""
        return generate_latest(self._registry)
