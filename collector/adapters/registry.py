"""The one list of dialects, asked in this order; the first that recognises a span has it."""

from collections.abc import Sequence

from storage.records import SpanBatch

from .adaptation import Adaptation, Adapter
from .native import NativeAdapter

ADAPTERS: tuple[Adapter, ...] = (NativeAdapter(),)
"""Every dialect this program knows."""


def adapt(batch: SpanBatch, adapters: Sequence[Adapter] = ADAPTERS) -> Adaptation:
    """What ``adapters`` find in ``batch``."""
    adaptation = Adaptation()
    for adapter in adapters:
        adapter.adapt(batch, adaptation)
    return adaptation
