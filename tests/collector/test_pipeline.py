"""The collector as a whole: starting, stopping, counting."""

import asyncio
import socket

import pytest

from collector.config import CollectorConfig
from collector.errors import AddressInUseError
from collector.memory import MemoryStore
from collector.pipeline import Collector


async def test_a_span_sent_over_each_transport_is_stored_before_the_answer(start, make_request):
    """Success means it has reached the store."""
    running = await start()
    await running.send_grpc(make_request(3).SerializeToString())
    assert running.store.span_count == 3
    response = await running.send_http(make_request(2, first=10).SerializeToString())
    assert response.status_code == 200
    assert running.store.span_count == 5


@pytest.mark.parametrize("taken", ["grpc_port", "http_port"])
async def test_a_taken_port_is_one_clear_error(taken):
    """Either port being taken raises AddressInUseError that names it, and frees the other."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        store = MemoryStore()
        config = CollectorConfig(**({"grpc_port": 0, "http_port": 0} | {taken: port}))
        collector = Collector(config, store.write, store.record_intake, lambda _: None)
        with pytest.raises(AddressInUseError, match=f"127.0.0.1:{port} is already in use"):
            await collector.start()
        await collector.stop()


async def test_tallies_and_heartbeats_reach_the_store(start, make_request):
    """Counts by source are flushed with figures of the process."""
    running = await start()
    await running.send_grpc(make_request(2, decision__node="a", weight=0.5).SerializeToString())
    await running.send_grpc(make_request(2).SerializeToString())
    await running.collector.stop()
    (tally,) = _summed(running.store.tallies)
    assert (tally["source"], tally["accepted"], tally["duplicated"], tally["decisions"]) == ("shop", 2, 2, 2)
    assert {"queue_spans", "inflight_bytes", "rss_bytes", "write_ms"} <= set(running.beats[-1])
    assert sum(beat["written_spans"] for beat in running.beats) == 4


async def test_stop_waits_for_a_write_that_is_running(start, make_request):
    """A request in flight at the stop is stored and answered."""

    class Slow(MemoryStore):
        entered = asyncio.Event()
        loop = asyncio.get_running_loop()

        def write(self, batches):
            self.loop.call_soon_threadsafe(self.entered.set)
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0.2), self.loop).result()
            return super().write(batches)

    running = await start(Slow())
    sending = asyncio.create_task(running.send_grpc(make_request(1).SerializeToString()))
    await Slow.entered.wait()
    await asyncio.gather(running.collector.stop(), running.collector.stop())
    await sending
    assert running.store.span_count == 1


async def test_stop_is_bounded_when_the_store_hangs(start, make_request):
    """A store that never answers does not keep the process up."""
    release = asyncio.Event()
    loop = asyncio.get_running_loop()
    entered = asyncio.Event()

    class Hanging(MemoryStore):
        def write(self, batches):
            loop.call_soon_threadsafe(entered.set)
            asyncio.run_coroutine_threadsafe(release.wait(), loop).result()
            return super().write(batches)

    running = await start(Hanging())
    sending = asyncio.create_task(running.send_http(make_request(1).SerializeToString()))
    await entered.wait()
    began = loop.time()
    await running.collector.stop(0.6)
    assert loop.time() - began < 2.0
    release.set()
    await asyncio.gather(sending, return_exceptions=True)


def _summed(tallies):
    by_source = {}
    for tally in tallies:
        row = by_source.setdefault(
            tally.source, {"source": tally.source, "accepted": 0, "duplicated": 0, "decisions": 0}
        )
        for key in ("accepted", "duplicated", "decisions"):
            row[key] += getattr(tally, key)
    return list(by_source.values())
