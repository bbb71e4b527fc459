"""Counts what became of each part of a request, by source, and words what the sender is told."""

from collections import Counter
from collections.abc import Callable, Mapping

from collector.decode import Counts, Decoded
from collector.metrics import CollectorMetrics
from collector.tallies import Tallies
from storage.records import AdaptedBatch, WriteResult

REASONS_TOLD = 5
"""Reasons named in one answer; the rest is summed up."""


class Account:
    """Feeds the tallies by source and the process metrics. ``clock`` gives nanoseconds since the epoch."""

    def __init__(self, tallies: Tallies, metrics: CollectorMetrics, clock: Callable[[], int]) -> None:
        self._tallies = tallies
        self._metrics = metrics
        self._clock = clock

    def received(self, signal: str, size: int) -> None:
        """Count the bytes of one request."""
        self._metrics.received(signal, size)

    def items(self, signal: str, count: int) -> None:
        """Count metrics or log records."""
        self._metrics.items(signal, count)

    def traces(self, decoded: Decoded, adapted: AdaptedBatch, result: WriteResult) -> str:
        """Count one stored part; returns what its sender is told, "" when all went well.

        What was new is known for the part as a whole. When a part of several sources held duplicates,
        they are spread over those in proportion; all other counts are exact.
        """
        message = tell(decoded.rejects, decoded.warnings)
        spans, decided, resolved = _by_source(adapted)
        new = apportion(result.inserted, spans)
        decisions = apportion(result.decisions, decided)
        now = self._clock()
        sources = {*spans, *(source for source, _ in decoded.rejects)}
        for source in sources:
            counts = self._tallies.of(source)
            mapped = decisions.get(source, 0) + resolved.get(source, 0)
            counts.accepted += new.get(source, 0)
            counts.duplicated += spans.get(source, 0) - new.get(source, 0)
            counts.decisions += decisions.get(source, 0)
            counts.unmapped += max(0, new.get(source, 0) - mapped)
            counts.last_seen_unix_nano = now
            counts.message = message or counts.message
        for (source, reason), count in decoded.rejects.items():
            self._tallies.of(source).rejected[reason] += count
        for (source, reason), count in decoded.warnings.items():
            self._tallies.of(source).warned[reason] += count
        self._metrics.spans("accepted", result.inserted)
        self._metrics.spans("duplicated", result.duplicated)
        self._metrics.spans("rejected", decoded.rejected)
        self._metrics.decisions(result.decisions, sum(decoded.warnings.values()))
        return message


def tell(rejects: Counts, warnings: Counts) -> str:
    """One line that says which reasons cost spans, and which only cost a part of them."""
    said = []
    for heading, counts in (("rejected", rejects), ("kept with warnings", warnings)):
        by_reason: Counter[str] = Counter()
        for (_, reason), count in counts.items():
            by_reason[reason] += count
        if by_reason:
            listed = [f"{count} x {reason}" for reason, count in by_reason.most_common(REASONS_TOLD)]
            rest = len(by_reason) - len(listed)
            said.append(f"{heading}: " + ", ".join(listed) + (f" and {rest} more reasons" if rest else ""))
    return "; ".join(said)


def apportion(total: int, weights: Mapping[str, int]) -> dict[str, int]:
    """``total`` split in proportion to ``weights`` by largest remainder; sums to it unless all are 0."""
    whole = sum(weights.values())
    if whole == 0:
        return {}
    shares = {key: total * weight // whole for key, weight in weights.items()}
    remainders = sorted(weights, key=lambda key: -(total * weights[key] % whole))
    for key in remainders[: total - sum(shares.values())]:
        shares[key] += 1
    return shares


def _by_source(adapted: AdaptedBatch) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Spans, decisions and outcomes of each source."""
    batch = adapted.spans
    services = [resource.service for resource in batch.resources]
    of_span = batch.resource_index.tolist()
    spans = Counter(services[i] for i in of_span)
    decided = Counter(services[of_span[i]] for i in adapted.decisions.span_index)
    resolved = Counter(services[of_span[i]] for i in adapted.outcomes.span_index)
    return spans, decided, resolved
