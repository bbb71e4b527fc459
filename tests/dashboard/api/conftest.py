"""The API on a real store that the real writer filled."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dash import Dash, html
from fastapi import FastAPI
from fastapi.testclient import TestClient

from dashboard.api import build_api, build_operations, build_reference, register_not_found
from storage.control import Control
from storage.database import Database
from storage.migrate import require_current, upgrade
from storage.queries import Reader
from storage.records import (
    AdaptedBatch,
    CandidateDetail,
    DecisionColumns,
    OutcomeColumns,
    Resource,
    Scope,
    SpanBatch,
    Strings,
)
from storage.writer import Writer

NANO = 1_000_000_000
NOW = 1_800_000_000 * NANO


class Rows:
    """Attributes as dictionaries, JSON as the decoders write it."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, key: str) -> list[Any]:
        return [row.get(key) for row in self._rows]

    def row(self, index: int) -> Mapping[str, Any]:
        return self._rows[index]

    def encoded(self, without: frozenset[str] = frozenset()) -> list[bytes]:
        return [
            json.dumps({k: v for k, v in row.items() if k not in without}).encode("utf-8", "replace")
            for row in self._rows
        ]


@dataclass(frozen=True)
class Told:
    """One decision as a test tells it; ``age_s`` before now."""

    number: int
    age_s: float = 1.0
    node: str = "gpu-1"
    policy: str = "p"
    service: str = "router"
    weight: float | None = 0.6
    confidence: float | None = 0.5
    attributes: Mapping[str, Any] = field(default_factory=dict)
    detail: CandidateDetail | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def trace_id(self) -> str:
        return self.number.to_bytes(16, "big").hex()

    @property
    def span_id(self) -> str:
        return self.number.to_bytes(8, "big").hex()


def batch_of(told: Sequence[Told]) -> AdaptedBatch:
    n = len(told)
    services = sorted({t.service for t in told})
    ends = np.array([NOW - round(t.age_s * NANO) for t in told], np.int64)
    raw = [
        np.frombuffer(b"".join(t.number.to_bytes(size, "big") for t in told), np.uint8) for size in (16, 8)
    ]
    spans = SpanBatch(
        trace_id=raw[0].reshape(n, 16),
        span_id=raw[1].reshape(n, 8),
        parent_span_id=np.zeros((n, 8), np.uint8),
        name=Strings.of(f"schedule {t.policy}" for t in told),
        kind=np.ones(n, np.int32),
        start_unix_nano=ends - 1_000,
        end_unix_nano=ends,
        status_code=np.zeros(n, np.int32),
        status_message=Strings.of("" for _ in told),
        trace_state=Strings.of("" for _ in told),
        events=Strings.of(b"" for _ in told),
        links=Strings.of(b"" for _ in told),
        resource_index=np.array([services.index(t.service) for t in told], np.int32),
        scope_index=np.zeros(n, np.int32),
        resources=tuple(Resource(s, f"{s}-0") for s in services),
        scopes=(Scope("test"),),
        attributes=Rows([t.attributes for t in told]),
        adjusted_count=np.ones(n),
        flagged=np.zeros(n, np.bool_),
    )
    columns = DecisionColumns()
    for i, t in enumerate(told):
        values = {
            "span_index": i,
            "decision_key": bytes.fromhex(t.trace_id + t.span_id),
            "policy": t.policy,
            "node": t.node,
            "weight": t.weight,
            "confidence": t.confidence,
            "inferred": False,
            "detail": t.detail,
        } | dict(t.more)
        for name in DecisionColumns.__dataclass_fields__:
            getattr(columns, name).append(values.get(name))
    return AdaptedBatch(spans, columns, OutcomeColumns())


Tell = Callable[..., None]


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
def tell(database: Database) -> Tell:
    """Stores decisions through the real writer."""
    writer = Writer(database, lambda: NOW)

    def store(*told: Told) -> None:
        writer.write([batch_of(told)])

    return store


@pytest.fixture
def told() -> type[Told]:
    return Told


@pytest.fixture
def control(database: Database) -> Control:
    return Control(database, lambda: NOW)


class Current:
    """The reader of the test that runs: building the application costs more than a test."""

    database: Database

    def __getattr__(self, name: str) -> Any:
        return getattr(Reader(self.database, lambda: NOW), name)


def build(current: Current) -> FastAPI:
    made = FastAPI(
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    settings = {"web": "127.0.0.1:8050", "database": "postgresql://me:hidden@db/x", "token": "**********"}
    api = build_api(current, version="1.2.3", clock=lambda: NOW, configuration=settings)  # type: ignore[arg-type]
    operations = build_operations(
        current,  # type: ignore[arg-type]
        version="1.2.3",
        check=lambda: require_current(current.database),
    )
    for router in (api, operations, build_reference([api, operations], version="1.2.3")):
        made.include_router(router)
    register_not_found(made)
    return made


@pytest.fixture(scope="session")
def current() -> Current:
    return Current()


@pytest.fixture(scope="session")
def app(current: Current) -> FastAPI:
    return build(current)


@pytest.fixture
def client(app: FastAPI, current: Current, database: Database) -> Iterator[TestClient]:
    current.database = database
    with TestClient(app, raise_server_exceptions=False) as made:
        yield made


@pytest.fixture(scope="session")
def with_dash(current: Current) -> Iterator[TestClient]:
    """The same application with real Dash pages on it."""
    made = build(current)
    dash = Dash("pages", server=made, routes_pathname_prefix="/ui/", requests_pathname_prefix="/ui/")  # type: ignore[arg-type]
    dash.layout = html.Div("pages")
    with TestClient(made) as client:
        yield client
