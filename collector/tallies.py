"""Counts of the intake by source, between two flushes to the store."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from storage.records import IntakeTally

OTHER_SOURCES = "(other sources)"
"""Takes the counts of sources beyond the bound; the store calls its own overflow the same."""


@dataclass(slots=True)
class SourceCounts:
    """Counts of one source that is still counted into; fields as in IntakeTally."""

    accepted: int = 0
    duplicated: int = 0
    decisions: int = 0
    unmapped: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    warned: Counter[str] = field(default_factory=Counter)
    message: str = ""
    last_seen_unix_nano: int = 0


class Tallies:
    """Counts by source; more than ``max_sources`` of them between two flushes are counted together."""

    def __init__(self, max_sources: int = 256) -> None:
        self._max_sources = max_sources
        self._sources: dict[str, SourceCounts] = {}

    def of(self, source: str) -> SourceCounts:
        """The counts of ``source``, to be added to."""
        counts = self._sources.get(source)
        if counts is None:
            if len(self._sources) >= self._max_sources and source != OTHER_SOURCES:
                return self.of(OTHER_SOURCES)
            counts = self._sources[source] = SourceCounts()
        return counts

    def drain(self) -> list[IntakeTally]:
        """What was counted since the last call; counting begins anew."""
        sources, self._sources = self._sources, {}
        return [
            IntakeTally(
                source=source,
                accepted=counts.accepted,
                duplicated=counts.duplicated,
                decisions=counts.decisions,
                unmapped=counts.unmapped,
                rejected=dict(counts.rejected),
                warned=dict(counts.warned),
                message=counts.message,
                last_seen_unix_nano=counts.last_seen_unix_nano,
            )
            for source, counts in sources.items()
        ]

    def restore(self, tallies: Sequence[IntakeTally]) -> None:
        """Put back what could not be flushed."""
        for tally in tallies:
            counts = self.of(tally.source)
            counts.accepted += tally.accepted
            counts.duplicated += tally.duplicated
            counts.decisions += tally.decisions
            counts.unmapped += tally.unmapped
            counts.rejected.update(tally.rejected)
            counts.warned.update(tally.warned)
            counts.message = counts.message or tally.message
            counts.last_seen_unix_nano = max(counts.last_seen_unix_nano, tally.last_seen_unix_nano)
