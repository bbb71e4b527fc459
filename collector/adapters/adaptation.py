"""What adapters fill, and the protocol each of them keeps."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from storage.records import DecisionColumns, OutcomeColumns, SpanBatch


@dataclass(slots=True)
class Adaptation:
    """Decisions and outcomes found in one batch.

    ``claimed`` holds the spans some adapter recognised, broken ones included, so that no later adapter
    looks at them. ``warnings`` count by (source, reason): the span is kept, but something of it was not
    understood.
    """

    decisions: DecisionColumns = field(default_factory=DecisionColumns)
    outcomes: OutcomeColumns = field(default_factory=OutcomeColumns)
    claimed: set[int] = field(default_factory=set)
    warnings: Counter[tuple[str, str]] = field(default_factory=Counter)

    def warn(self, batch: SpanBatch, index: int, reason: str) -> None:
        """Count ``reason`` (one of few texts, never with values in it) for the source of span ``index``."""
        self.warnings[batch.resources[int(batch.resource_index[index])].service, reason] += 1


class Adapter(Protocol):
    """Turns the spans of one dialect into decisions and outcomes."""

    def adapt(self, batch: SpanBatch, into: Adaptation) -> None:
        """Add what this dialect finds in ``batch``; never raises for what a sender wrote.

        Spans in ``into.claimed`` are left alone; those recognised here are added to it.
        """
        ...
