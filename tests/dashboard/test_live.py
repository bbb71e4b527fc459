"""The live feed end to end: a hub, a real server, real WebSocket clients."""

import asyncio
import contextlib
import itertools
import json
import socket
import threading
import time

import pytest
import uvicorn
import websockets
from fastapi import FastAPI

from dashboard.frames import DELTA, FULL, decode
from dashboard.live import SERVER_OPTIONS, LiveConfig, LiveHub, build_live_router
from dashboard.live_socket import origin_allowed
from storage.errors import StoreUnavailableError
from storage.records import WeightPoint, WeightSample

SECOND = 1_000_000_000
FAST = LiveConfig(period_s=0.05)


class Weights:
    """A store in memory with the three questions the feed asks; safe to write from any thread."""

    def __init__(self):
        self._lock = threading.Lock()
        self._series = {}
        self._change = itertools.count(1)
        self.version = 0
        self.reads = 0
        self.fault = None
        self.gate = threading.Event()
        self.gate.set()

    def decide(self, node, weight, *, policy="p", service="gateway", at=None, **scores):
        with self._lock:
            sample = WeightSample(
                service,
                policy,
                node,
                weight,
                None,
                scores,
                dict.fromkeys(scores, 1.0),
                at or time.time_ns(),
                next(self._change),
            )
            self._series[service, policy, node] = sample
            self.version += 1

    def forget(self, node):
        with self._lock:
            self._series = {key: s for key, s in self._series.items() if key[2] != node}
            self.version += 1

    def weights(self, *, policy=None, service=None, changed_after=0):
        self.reads += 1
        self.gate.wait(10)
        if self.fault:
            raise self.fault
        with self._lock:
            return tuple(s for s in self._series.values() if s.change > changed_after)

    def weight_history(self, time, *, policy=None, service=None, node=None):
        with self._lock:
            return tuple(
                WeightPoint(
                    time.start_unix_nano // SECOND,
                    s.service,
                    s.policy,
                    s.node,
                    10,
                    100.0,
                    10,
                    0,
                    0,
                    0,
                    0,
                    None,
                )
                for s in self._series.values()
            )

    def data_version(self):
        if self.fault:
            raise self.fault
        return self.version


@contextlib.asynccontextmanager
async def serving(store, config=FAST):
    """A hub behind a real uvicorn on a free port; gives the hub and the address."""
    hub = LiveHub(store, time.time_ns, config)
    app = FastAPI()
    app.include_router(build_live_router(hub))
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", **SERVER_OPTIONS))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    await hub.start()
    try:
        while not server.started:  # noqa: ASYNC110  # uvicorn tells it by this flag only
            await asyncio.sleep(0.01)
        yield hub, f"ws://127.0.0.1:{listener.getsockname()[1]}/ws/weights"
    finally:
        await hub.stop()
        server.should_exit = True
        await task
        listener.close()


async def next_text(ws, kind):
    """The next text message of one kind, passing over everything else."""
    async with asyncio.timeout(5):
        while True:
            message = await ws.recv()
            if isinstance(message, str):
                message = json.loads(message)
                if message["type"] == kind:
                    return message


async def next_frame(ws, wanted=lambda frame: True):
    """The next binary frame for which ``wanted`` holds."""
    async with asyncio.timeout(5):
        while True:
            message = await ws.recv()
            if isinstance(message, bytes) and wanted(decode(message)):
                return decode(message)


async def ready_layout(ws):
    """The first layout made after the store was read."""
    while True:
        layout = await next_text(ws, "layout")
        if layout["ready"]:
            return layout


async def drain(ws):
    """Read until the server ends the connection, which raises."""
    async with asyncio.timeout(5):
        while True:
            await ws.recv()


async def until(condition):
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110  # counters of the hub carry no event
            await asyncio.sleep(0.01)


async def test_a_newcomer_gets_layout_and_full_frame_then_deltas():
    """Names first, then every cell, then only what changes."""
    store = Weights()
    store.decide("a", 0.25, queue=0.5)
    store.decide("b", 0.75, queue=0.1)
    async with serving(store) as (_, url), websockets.connect(url + "?policy=p") as ws:
        layout = await ready_layout(ws)
        assert layout["nodes"] == ["a", "b"]
        assert layout["columns"] == ["weight", "queue"]
        assert layout["policies"] == ["p"]
        full = await next_frame(ws, lambda f: f.kind == FULL)
        assert (full.rows, full.cols) == (2, 2)
        assert full.value.round(3).tolist() == pytest.approx([0.25, 0.5, 0.75, 0.1], abs=1e-3)
        store.decide("b", 0.5, queue=0.2)
        delta = await next_frame(ws, lambda f: len(f.index))
        assert delta.kind == DELTA
        assert delta.index.tolist() == [2, 3]
        assert delta.age_ms.max() < 1_000


async def test_a_beat_without_news_is_still_sent():
    """An empty frame tells "nothing changed" from "nobody speaks"; sequences have no gap."""
    store = Weights()
    store.decide("a", 0.25)
    async with serving(store) as (_, url), websockets.connect(url) as ws:
        await ready_layout(ws)
        first = await next_frame(ws)
        following = [await next_frame(ws) for _ in range(5)]
        assert [f.sequence - first.sequence for f in following] == [1, 2, 3, 4, 5]
        assert all(len(f.index) == 0 for f in following)


async def test_the_store_is_asked_only_when_something_was_committed():
    """An idle store costs no query of the weights, and nobody watching costs nothing at all."""
    store = Weights()
    store.decide("a", 0.25)
    async with serving(store) as (hub, url):
        await asyncio.sleep(0.2)
        assert store.reads == 0
        async with websockets.connect(url) as ws:
            await ready_layout(ws)
            for _ in range(6):
                await next_frame(ws)
            assert store.reads == 1
            store.decide("a", 0.5)
            await next_frame(ws, lambda f: len(f.index))
            assert store.reads == 2
        await until(lambda: hub.figures.viewers == 0)
        store.decide("a", 0.75)
        await asyncio.sleep(0.2)
        assert store.reads == 2


async def test_a_new_node_announces_a_new_layout_before_its_frame():
    """A viewer never has to guess which node a row is."""
    store = Weights()
    store.decide("b", 0.25)
    async with serving(store) as (_, url), websockets.connect(url) as ws:
        before = await ready_layout(ws)
        store.decide("a", 0.5)
        after = await next_text(ws, "layout")
        assert after["version"] > before["version"]
        assert after["nodes"] == ["a", "b"]
        frame = await next_frame(ws)
        assert frame.kind == FULL
        assert frame.rows == 2


async def test_a_node_that_retention_removed_leaves_the_layout():
    """All series are read again now and then, so that what is gone goes."""
    store = Weights()
    store.decide("a", 0.25)
    store.decide("b", 0.25)
    config = LiveConfig(period_s=0.05, reload_s=0.2)
    async with serving(store, config) as (_, url), websockets.connect(url) as ws:
        assert (await ready_layout(ws))["nodes"] == ["a", "b"]
        store.forget("b")
        assert (await next_text(ws, "layout"))["nodes"] == ["a"]


async def test_a_viewer_without_a_policy_gets_the_first_one_when_it_appears():
    """The page may be open before the first decision was ever made."""
    store = Weights()
    async with serving(store) as (_, url), websockets.connect(url) as ws:
        assert (await ready_layout(ws))["nodes"] == []
        store.decide("a", 0.25, policy="canary")
        layout = await next_text(ws, "layout")
        assert layout["policy"] == "canary"
        assert layout["nodes"] == ["a"]


async def test_policy_and_service_choose_the_rows():
    """Each channel holds its own series only; the menu names them all."""
    store = Weights()
    store.decide("a", 0.1, policy="p", service="one")
    store.decide("b", 0.2, policy="p", service="two")
    store.decide("c", 0.3, policy="q", service="two")
    async with serving(store) as (_, url):
        for query, nodes in (
            ("?policy=p", ["a", "b"]),
            ("?policy=p&service=two", ["b"]),
            ("?policy=q", ["c"]),
        ):
            async with websockets.connect(url + query) as ws:
                layout = await ready_layout(ws)
                assert layout["nodes"] == nodes
                assert layout["policies"] == ["p", "q"]
                assert layout["services"] == ["one", "two"]


async def test_a_clock_that_runs_ahead_does_not_look_fresh_for_longer():
    """A sample from the future ages from the moment it was first seen, also after a reload."""
    store = Weights()
    store.decide("a", 0.5, at=time.time_ns() + 3_600 * SECOND)
    config = LiveConfig(period_s=0.05, reload_s=0.1)
    async with serving(store, config) as (_, url), websockets.connect(url) as ws:
        await ready_layout(ws)
        await asyncio.sleep(0.4)
        await ws.send(json.dumps({"type": "full"}))
        full = await next_frame(ws, lambda f: f.kind == FULL and f.age_ms.max(initial=0) > 300)
        assert full.age_ms[0] < 5_000


async def test_a_ping_is_echoed():
    """Half the round trip is what a browser adds to an age; no clocks are compared."""
    async with serving(Weights()) as (_, url), websockets.connect(url) as ws:
        await ready_layout(ws)
        await ws.send(json.dumps({"type": "ping", "t": 12.5}))
        assert (await next_text(ws, "pong"))["t"] == 12.5


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"type":"ping"}', '{"type":"ping","t":"x"}', '{"type":"drop"}', "x" * 5_000]
)
async def test_anything_else_from_a_browser_ends_the_connection(text):
    """The feed takes two messages; a client that speaks otherwise is told so and let go."""
    async with serving(Weights()) as (hub, url), websockets.connect(url) as ws:
        await ready_layout(ws)
        await ws.send(text)
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await drain(ws)
        assert closed.value.rcvd.code == 1008
        await until(lambda: hub.figures.viewers == 0)


async def test_binary_and_floods_end_the_connection_alone():
    """One bad client costs only itself."""
    store = Weights()
    store.decide("a", 0.5)
    async with serving(store) as (hub, url), websockets.connect(url) as good:
        await ready_layout(good)
        async with websockets.connect(url) as bad:
            await bad.send(b"\x00\x01")
            await bad.wait_closed()
        async with websockets.connect(url) as bad:
            with contextlib.suppress(websockets.ConnectionClosed):
                for k in range(200):
                    await bad.send(json.dumps({"type": "ping", "t": k}))
            await bad.wait_closed()
        await until(lambda: hub.figures.viewers == 1)
        await next_frame(good)


async def test_stats_come_once_a_second():
    """Rates are counted by the roll-ups; lag is what the server saw."""
    store = Weights()
    store.decide("a", 0.5)
    async with serving(store) as (_, url), websockets.connect(url) as ws:
        await ready_layout(ws)
        store.decide("a", 0.6)
        stats = await next_text(ws, "stats")
        while stats["lag_p95_ms"] is None:
            stats = await next_text(ws, "stats")
        assert stats["decisions_per_s"] == 2.0
        assert stats["unsampled_per_s"] == 20.0
        assert 0 <= stats["lag_p95_ms"] < 1_000
        assert stats["viewers"] == 1
        assert stats["oldest_ms"] >= 0


async def test_a_store_in_trouble_is_told_and_the_feed_recovers():
    """The connection stays, frames go on, and the end of the trouble is told too."""
    store = Weights()
    store.decide("a", 0.5)
    async with serving(store) as (hub, url), websockets.connect(url) as ws:
        await ready_layout(ws)
        store.fault = StoreUnavailableError("disk full")
        assert "store" in (await next_text(ws, "trouble"))["message"]
        await next_frame(ws)
        async with websockets.connect(url) as late:
            await next_text(late, "trouble")
        store.fault = None
        await next_text(ws, "recovered")
        store.decide("a", 0.9)
        assert (await next_frame(ws, lambda f: len(f.index))).value[0] == pytest.approx(0.9)
        assert hub.figures.failed_reads > 0


async def test_a_store_that_hangs_does_not_stop_the_beat():
    """A read that takes long is awaited beside the beat, and nothing it brought is lost."""
    store = Weights()
    store.decide("a", 0.5)
    async with serving(store) as (_, url), websockets.connect(url) as ws:
        await ready_layout(ws)
        store.gate.clear()
        store.decide("a", 0.9)
        beats = [await next_frame(ws) for _ in range(6)]
        assert all(len(f.index) == 0 for f in beats[1:])
        store.gate.set()
        assert (await next_frame(ws, lambda f: len(f.index))).value[0] == pytest.approx(0.9)


async def test_slow_questions_of_pages_do_not_hold_up_the_feed():
    """With every thread that pages share waiting for the store, weights still arrive."""
    store, gate = Weights(), threading.Event()
    store.decide("a", 0.5)
    async with serving(store) as (_, url), websockets.connect(url) as ws:
        await ready_layout(ws)
        stuck = [asyncio.create_task(asyncio.to_thread(gate.wait, 30)) for _ in range(64)]
        await next_frame(ws)
        store.decide("a", 0.9)
        try:
            assert (await next_frame(ws, lambda f: len(f.index))).value[0] == pytest.approx(0.9)
        finally:
            gate.set()
            await asyncio.gather(*stuck)


async def test_twenty_viewers_miss_no_frame_beside_a_stuck_one():
    """A viewer that never reads is dropped to a full frame; the other twenty get every frame."""
    store = Weights()
    names = [f"node-{k:04}" for k in range(2_000)]
    for name in names:
        store.decide(name, 0.5, queue=0.5, latency=0.5)

    async def writer():
        for k in itertools.count():
            for name in names:
                store.decide(name, (k % 100) / 100, queue=0.1, latency=0.2)
            await asyncio.sleep(0.1)

    async def watch(url):
        async with websockets.connect(url) as ws:
            frames = [await next_frame(ws, lambda f: f.rows == len(names))]
            while len(frames) < 25:
                frames.append(await next_frame(ws))
            return frames

    config = LiveConfig(period_s=0.1, stuck_s=1.5)
    async with serving(store, config) as (hub, url):
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
        raw.connect(("127.0.0.1", int(url.split(":")[2].split("/")[0])))
        stuck = await websockets.connect(url, sock=raw)
        stuck.transport.pause_reading()
        task = asyncio.create_task(writer())
        seen = await asyncio.gather(*(watch(url) for _ in range(20)))
        task.cancel()
        for frames in seen:
            steps = [b.sequence - a.sequence for a, b in itertools.pairwise(frames)]
            assert steps == [1] * 24
        await until(lambda: hub.figures.dropped > 0)
        await until(lambda: hub.figures.evicted == 1)
        stuck.transport.abort()


async def test_too_many_viewers_are_turned_away_and_counted():
    """The limit protects those who are in; the one outside is told to come back."""
    async with serving(Weights(), LiveConfig(period_s=0.05, max_viewers=1)) as (hub, url):
        async with websockets.connect(url) as ws:
            await ready_layout(ws)
            async with websockets.connect(url) as other:
                with pytest.raises(websockets.ConnectionClosed) as closed:
                    await other.recv()
                assert closed.value.rcvd.code == 1013
            assert hub.figures.refused == 1
        await until(lambda: hub.figures.viewers == 0)
        async with websockets.connect(url) as ws:
            await ready_layout(ws)


async def test_a_page_of_another_origin_cannot_read_the_feed():
    """The same-origin rule is kept by the server, since browsers do not keep it for sockets."""
    config = LiveConfig(period_s=0.05, allowed_origins=("https://front.example",))
    async with serving(Weights(), config) as (hub, url):
        for origin in ("https://evil.example", "null"):
            with pytest.raises(websockets.InvalidStatus) as refused:
                await websockets.connect(url, origin=origin)
            assert refused.value.response.status_code == 403
        assert hub.figures.refused == 2
        host = url.split("/")[2]
        for origin in (f"http://{host}", "https://front.example"):
            async with websockets.connect(url, origin=origin) as ws:
                await ready_layout(ws)
                assert not ws.protocol.extensions


def test_origins_are_compared_as_hosts():
    """Case does not matter, ports do, and what cannot be read is foreign."""
    assert origin_allowed(None, "a:1", ())
    assert origin_allowed("http://A:1", "a:1", ())
    assert not origin_allowed("http://a:2", "a:1", ())
    assert not origin_allowed("file://a:1", "a:1", ())
    assert not origin_allowed("http://[", "a:1", ())
    assert not origin_allowed("http://", None, ())


async def test_stop_ends_connections_and_may_be_called_twice():
    """A server that goes away says so, and a hub never started stops as well."""
    store = Weights()
    async with serving(store) as (hub, url), websockets.connect(url) as ws:
        await ready_layout(ws)
        await hub.stop()
        await hub.stop()
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await drain(ws)
        assert closed.value.rcvd.code == 1001
    await LiveHub(store, time.time_ns).stop()
