"""A real store, weights to fill it with, and a receiver that listens on loopback."""

import json
import shutil
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from storage.control import Control
from storage.database import Database
from storage.migrate import upgrade
from storage.records import (
    AdaptedBatch,
    DecisionColumns,
    OutcomeColumns,
    Resource,
    Scope,
    SpanBatch,
    Strings,
    WeightPoint,
)
from storage.writer import Writer

NANO = 1_000_000_000
START_S = 1_800_000_000


@dataclass
class ManualClock:
    """Nanoseconds that pass only when told to."""

    now: int = START_S * NANO

    def __call__(self) -> int:
        return self.now

    def pass_s(self, seconds: float) -> None:
        self.now += round(seconds * NANO)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated store to copy: a migration for each test would cost more than the tests."""
    path = tmp_path_factory.mktemp("empty") / "store.db"
    upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def database(tmp_path: Path, empty_store: Path) -> Iterator[Database]:
    path = shutil.copy(empty_store, tmp_path / "store.db")
    opened = Database(f"sqlite:///{path}", synchronous="NORMAL")
    yield opened
    opened.dispose()


@pytest.fixture
def control(database: Database, clock: ManualClock) -> Control:
    return Control(database, clock)


def point_at(
    second: int, weight: float, node: str = "gpu-1", policy: str = "p", service: str = "s"
) -> WeightPoint:
    """One second of one series in which the node was mentioned ten times."""
    return WeightPoint(second, service, policy, node, 1, 1.0, 10, weight, weight, weight, weight, None)


@pytest.fixture
def point() -> Callable[..., WeightPoint]:
    return point_at


class NoAttributes:
    """The attributes of spans that have none."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def find(self, key: str) -> list[Any]:
        return [None] * self._count

    def row(self, index: int) -> Mapping[str, Any]:
        return {}

    def encoded(self, without: frozenset[str] = frozenset()) -> list[bytes]:
        return [b"{}"] * self._count


def decisions_at(seconds: Sequence[int], weights: Sequence[float], node: str) -> AdaptedBatch:
    """One decision for ``node`` a second, as the adapters hand it over."""
    n = len(seconds)
    ids = np.array([[s, zlib.crc32(node.encode())] for s in seconds], ">u8")
    ends = np.array(seconds, np.int64) * NANO + NANO // 2
    zeros = np.zeros(n, np.int32)
    spans = SpanBatch(
        trace_id=ids.view(np.uint8).reshape(n, 16),
        span_id=ids.view(np.uint8).reshape(n, 16)[:, :8].copy(),
        parent_span_id=np.zeros((n, 8), np.uint8),
        name=Strings.of(["schedule p"] * n),
        kind=np.ones(n, np.int32),
        start_unix_nano=ends - 1000,
        end_unix_nano=ends,
        status_code=zeros,
        status_message=Strings.of([""] * n),
        trace_state=Strings.of([""] * n),
        events=Strings.of([b""] * n),
        links=Strings.of([b""] * n),
        resource_index=zeros,
        scope_index=zeros,
        resources=(Resource("router", "router-0"),),
        scopes=(Scope("test"),),
        attributes=NoAttributes(n),
        adjusted_count=np.ones(n),
        flagged=np.zeros(n, np.bool_),
    )
    columns = DecisionColumns()
    for i in range(n):
        values = {
            "span_index": i,
            "decision_key": spans.trace_id[i].tobytes() + spans.span_id[i].tobytes(),
            "policy": "p",
            "node": node,
            "weight": weights[i],
            "inferred": False,
        }
        for name in DecisionColumns.__dataclass_fields__:
            getattr(columns, name).append(values.get(name))
    return AdaptedBatch(spans, columns, OutcomeColumns())


@pytest.fixture
def weigh(database: Database, clock: ManualClock) -> Callable[[Sequence[int], Sequence[float], str], None]:
    """Stores one decision a second for a node through the real writer."""
    writer = Writer(database, clock)

    def store(seconds: Sequence[int], weights: Sequence[float], node: str = "gpu-1") -> None:
        writer.write([decisions_at(seconds, weights, node)])

    return store


@dataclass
class Receiver:
    """A webhook receiver; ``answers`` are given in turn, the last one from there on."""

    url: str = ""
    answers: list[tuple[int, Mapping[str, str]]] = field(default_factory=lambda: [(200, {})])
    got: list[tuple[Mapping[str, str], bytes]] = field(default_factory=list)
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    go_on: threading.Event = field(default_factory=threading.Event)  # cleared: every answer waits

    def wait(self) -> tuple[Mapping[str, str], Any]:
        """The next message; fails when none comes."""
        assert self.arrived.acquire(timeout=10), "no message came"
        headers, body = self.got[-1]
        return headers, json.loads(body)


@pytest.fixture
def receivers() -> Iterator[Callable[..., Receiver]]:
    """Starts receivers on free loopback ports."""
    started: list[tuple[Receiver, ThreadingHTTPServer]] = []

    def start(*answers: tuple[int, Mapping[str, str]]) -> Receiver:
        receiver = Receiver()
        receiver.go_on.set()
        if answers:
            receiver.answers = list(answers)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.got.append(({k.lower(): v for k, v in self.headers.items()}, body))
                receiver.arrived.release()
                receiver.go_on.wait(10)
                status, headers = receiver.answers[min(len(receiver.got), len(receiver.answers)) - 1]
                self.send_response(status)
                for name, value in {"content-length": "0", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Says nothing: the tests' output is pytest's."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
        started.append((receiver, server))
        return receiver

    yield start
    for receiver, server in started:
        receiver.go_on.set()
        server.shutdown()
        server.server_close()
