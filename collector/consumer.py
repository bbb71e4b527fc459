"""The one method between stages."""

from typing import Protocol

from storage.records import AdaptedBatch, WriteResult


class Consumer(Protocol):
    """Takes a batch and returns once it is durable."""

    async def consume(self, batch: AdaptedBatch) -> WriteResult:
        """Store ``batch`` durably, then return what was new.

        The batch is not changed by the caller afterwards. An empty batch succeeds at once. Raises
        ``BusyError`` when it cannot be taken now; then nothing of it was acknowledged, though parts
        may be stored, which a resend finds and counts as duplicates.
        """
        ...
