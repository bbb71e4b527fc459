"""Every metric the web process exposes, by name.

The counters of the intake live in the store, so that they outlive the processes and one scrape sees
all of them; they are read at each scrape. Label values come from senders and are escaped by the library.
"""

import math
import re
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector, CollectorRegistry

from dashboard.live import LiveFigures
from storage.records import HealthView, ProcessRow, SourceRow, StoreFigures

PREFIX = "weighbridge_"
NANO = 1e9


def web_process(version: str) -> CollectorRegistry:
    """A registry of this process: CPU, memory, open files, and the version it runs."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    registry.register(_Build(version))
    return registry


class _Build(Collector):
    def __init__(self, version: str) -> None:
        self._version = version

    def collect(self) -> Iterator[Metric]:
        family = GaugeMetricFamily(PREFIX + "build_info", "Version of the web process.", labels=["version"])
        family.add_metric([self._version], 1)
        yield family


class FeedMetrics(Collector):
    """The live feed of this process, read from its own counts at each scrape."""

    def __init__(self, figures: LiveFigures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """One family for each count."""
        figures = self._figures
        yield GaugeMetricFamily(
            PREFIX + "live_viewers", "Viewers of the live feed now.", value=figures.viewers
        )
        for name, text, value in (
            ("frames", "Frames encoded.", figures.frames),
            ("dropped_messages", "Messages dropped for slow viewers.", figures.dropped),
            ("refused_viewers", "Viewers refused: too many, or of a foreign origin.", figures.refused),
            ("evicted_viewers", "Viewers let go because they were stuck.", figures.evicted),
            ("late_beats", "Beats skipped because the one before took too long.", figures.late_beats),
            ("failed_reads", "Reads of the store that failed.", figures.failed_reads),
        ):
            yield CounterMetricFamily(f"{PREFIX}live_{name}", text, value=value)


class StoreMetrics(Collector):
    """One look at the store as metrics; ``view`` is None when the store could not be read."""

    def __init__(self, view: HealthView | None) -> None:
        self._view = view

    def collect(self) -> Iterator[Metric]:
        """The families, with their samples."""
        up = 0 if self._view is None else 1
        yield GaugeMetricFamily(PREFIX + "store_up", "Whether the store could be read.", value=up)
        if self._view is not None:
            yield from _sources(self._view.sources)
            yield from _processes(self._view.processes)
            yield from _store(self._view.store)


def _sources(sources: tuple[SourceRow, ...]) -> Iterator[Metric]:
    spans = CounterMetricFamily(
        PREFIX + "intake_spans", "Spans by source and what became of them.", labels=["source", "result"]
    )
    decisions = CounterMetricFamily(
        PREFIX + "intake_decisions", "Spans that made a decision.", labels=["source"]
    )
    unmapped = CounterMetricFamily(
        PREFIX + "intake_unmapped_spans", "Spans no mapping knew.", labels=["source"]
    )
    rejected = CounterMetricFamily(
        PREFIX + "intake_rejected_spans", "Spans not stored.", labels=["source", "reason"]
    )
    warned = CounterMetricFamily(
        PREFIX + "intake_warned_spans", "Spans stored with a warning.", labels=["source", "reason"]
    )
    rate = GaugeMetricFamily(
        PREFIX + "intake_rate", "Accepted spans a second over the last minute.", labels=["source"]
    )
    seen = GaugeMetricFamily(
        PREFIX + "intake_last_seen_timestamp_seconds", "When the source last sent.", labels=["source"]
    )
    for s in sources:
        for result, value in (
            ("accepted", s.accepted),
            ("duplicated", s.duplicated),
            ("rejected", sum(s.rejected.values())),
        ):
            spans.add_metric([s.source, result], value)
        decisions.add_metric([s.source], s.decisions)
        unmapped.add_metric([s.source], s.unmapped)
        rate.add_metric([s.source], s.rate)
        seen.add_metric([s.source], s.last_seen_unix_nano / NANO)
        for family, reasons in ((rejected, s.rejected), (warned, s.warned)):
            for reason, count in reasons.items():
                family.add_metric([s.source, reason], count)
    yield from (spans, decisions, unmapped, rejected, warned, rate, seen)


def _processes(processes: tuple[ProcessRow, ...]) -> Iterator[Metric]:
    seen = GaugeMetricFamily(
        PREFIX + "process_seen_timestamp_seconds", "Newest heartbeat.", labels=["role", "instance"]
    )
    figures: dict[str, GaugeMetricFamily] = {}
    for p in processes:
        seen.add_metric([p.role, p.instance], p.seen_unix_nano / NANO)
        for name, value in p.figures.items():
            key = f"{PREFIX}figure_{re.sub('[^a-zA-Z0-9_]', '_', name)}"
            if key not in figures:
                figures[key] = GaugeMetricFamily(
                    key,
                    f"{key.removeprefix(PREFIX + 'figure_')} as a process last told it.",
                    labels=["role", "instance"],
                )
            if math.isfinite(value):
                figures[key].add_metric([p.role, p.instance], value)
    yield seen
    yield from figures.values()


def _store(store: StoreFigures) -> Iterator[Metric]:
    pairs: list[tuple[str, str, float | None]] = [
        ("size_bytes", "Bytes the store takes.", store.size_bytes),
        ("limit_bytes", "Bytes the store may take.", store.limit_bytes),
        ("spans", "Spans in the store, perhaps an estimate.", store.spans),
        ("decisions", "Decisions in the store, perhaps an estimate.", store.decisions),
        ("oldest_timestamp_seconds", "Time of the oldest span.", _seconds(store.oldest_unix_nano)),
        ("newest_timestamp_seconds", "Time of the newest span.", _seconds(store.newest_unix_nano)),
    ]
    for name, text, value in pairs:
        if value is not None:
            yield GaugeMetricFamily(f"{PREFIX}store_{name}", text, value=value)


def _seconds(unix_nano: int | None) -> float | None:
    return None if unix_nano is None else unix_nano / NANO
