"""A store in memory with the writer's contract: for trials of the intake without a database."""

from collections.abc import Sequence

from storage.records import AdaptedBatch, IntakeTally, WriteResult


class MemoryStore:
    """Keeps what it is given. Writing a span again counts as a duplicate, as in the real store."""

    def __init__(self) -> None:
        self.groups: list[tuple[AdaptedBatch, ...]] = []
        self.tallies: list[IntakeTally] = []
        self._seen: set[bytes] = set()
        self._decided: set[bytes] = set()

    @property
    def batches(self) -> list[AdaptedBatch]:
        """Every batch in the order it was written."""
        return [batch for group in self.groups for batch in group]

    @property
    def span_count(self) -> int:
        """Distinct spans written."""
        return len(self._seen)

    def write(self, batches: Sequence[AdaptedBatch]) -> list[WriteResult]:
        """Take ``batches`` as one write."""
        self.groups.append(tuple(batches))
        return [self._take(batch) for batch in batches]

    def record_intake(self, tallies: Sequence[IntakeTally]) -> None:
        """Keep ``tallies``."""
        self.tallies += tallies

    def _take(self, batch: AdaptedBatch) -> WriteResult:
        spans = batch.spans
        ids = [bytes(trace) + bytes(span) for trace, span in zip(spans.trace_id, spans.span_id, strict=True)]
        before, decided_before = len(self._seen), len(self._decided)
        self._decided.update(ids[i] for i in batch.decisions.span_index if ids[i] not in self._seen)
        self._seen.update(ids)
        inserted = len(self._seen) - before
        return WriteResult(inserted, len(ids) - inserted, len(self._decided) - decided_before)
