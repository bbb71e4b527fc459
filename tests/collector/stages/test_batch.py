"""Group commit: an idle store is written at once, a busy one gathers, each caller learns of its own batch."""

import asyncio

import pytest

from collector.adapters.registry import adapt
from collector.decode import Encoding, decode_traces
from collector.errors import BusyError, InternalError
from collector.memory import MemoryStore
from collector.stages.batch import GroupCommit
from storage.records import AdaptedBatch


class GatedSink:
    """A sink that writes to memory once its gate is open; ``failures`` are raised first."""

    def __init__(self):
        self.store = MemoryStore()
        self.gate = asyncio.Event()
        self.failures = []
        self.poison = None

    async def write(self, batches):
        await self.gate.wait()
        if self.failures:
            raise self.failures.pop(0)
        if any(batch is self.poison for batch in batches):
            raise InternalError("poison")
        return self.store.write(batches)


@pytest.fixture
async def running():
    sink = GatedSink()
    stage = GroupCommit(sink, max_spans=10)
    task = asyncio.create_task(stage.run())
    yield sink, stage
    sink.gate.set()
    stage.close()
    await task


@pytest.fixture
def batch(make_request):
    def make(spans, first):
        decoded = decode_traces(make_request(spans, first=first).SerializeToString(), Encoding.PROTOBUF)
        found = adapt(decoded.batch)
        return AdaptedBatch(decoded.batch, found.decisions, found.outcomes)

    return make


async def queued(stage, spans):
    while stage.queue_spans < spans:  # noqa: ASYNC110 (a turn of the loop, not a wait)
        await asyncio.sleep(0)


async def test_many_callers_share_one_commit(running, batch):
    """What arrives during a write goes together into the next one."""
    sink, stage = running
    calls = [asyncio.create_task(stage.consume(batch(1, i))) for i in range(1, 9)]
    await queued(stage, 8)
    sink.gate.set()
    results = await asyncio.gather(*calls)
    assert [r.inserted for r in results] == [1] * 8
    assert sum(len(group) for group in sink.store.groups) == 8
    assert len(sink.store.groups) <= 2
    assert stage.queue_spans == 0


async def test_groups_are_bounded_by_spans(running, batch):
    """A group holds at most the limit, and a single larger batch alone."""
    sink, stage = running
    calls = [
        asyncio.create_task(stage.consume(batch(n, first)))
        for n, first in ((6, 1), (6, 10), (4, 20), (30, 100))
    ]
    await queued(stage, 46)
    sink.gate.set()
    await asyncio.gather(*calls)
    assert [sum(len(b.spans) for b in group) for group in sink.store.groups] == [6, 10, 30]


async def test_an_empty_batch_needs_no_write(running, batch):
    """Zero spans succeed although the store is stuck."""
    sink, stage = running
    assert (await stage.consume(batch(0, 1))).inserted == 0
    assert sink.store.groups == []


async def test_a_busy_store_is_told_to_every_caller_of_the_group(running, batch):
    """Nobody of a failed group is told success; the next group works."""
    sink, stage = running
    sink.failures = [BusyError("locked")]
    sink.gate.set()
    with pytest.raises(BusyError):
        await stage.consume(batch(1, 1))
    assert (await stage.consume(batch(1, 1))).inserted == 1


async def test_one_poisonous_batch_does_not_cost_the_others(running, batch):
    """After an internal error the group is written one by one."""
    sink, stage = running
    good, bad = batch(1, 1), batch(1, 2)
    sink.poison = bad
    calls = [asyncio.create_task(stage.consume(b)) for b in (good, bad)]
    await queued(stage, 2)
    sink.gate.set()
    kept, failed = await asyncio.gather(*calls, return_exceptions=True)
    assert kept.inserted == 1
    assert isinstance(failed, InternalError)


async def test_a_sink_that_raises_anything_else_does_not_end_the_writer(running, batch):
    """The caller is told; the next batch is written."""
    sink, stage = running
    sink.failures = [ValueError("surprise")]
    sink.gate.set()
    with pytest.raises(InternalError):
        await stage.consume(batch(1, 1))
    assert (await stage.consume(batch(1, 1))).inserted == 1


async def test_a_caller_that_gives_up_does_not_stop_the_group(running, batch):
    """A cancelled caller's batch is still written; the others are answered."""
    sink, stage = running
    calls = [asyncio.create_task(stage.consume(batch(1, i))) for i in (1, 2)]
    await queued(stage, 2)
    calls[0].cancel()
    sink.gate.set()
    assert (await calls[1]).inserted == 1
    assert sink.store.span_count == 2


async def test_after_close_nothing_is_taken(running, batch):
    """A stage that is closing refuses with a retry."""
    _, stage = running
    stage.close()
    with pytest.raises(BusyError):
        await stage.consume(batch(1, 1))
