"""A real store, filled on the real path, and the application on it."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from collector.adapters.registry import adapt
from collector.decode import Encoding, decode_traces
from dashboard.app import build_app
from dashboard.config import DashboardConfig
from storage.control import Control
from storage.database import Database
from storage.migrate import upgrade
from storage.queries import Reader
from storage.records import AdaptedBatch
from storage.writer import Writer

NOW = 1_800_000_000_000_000_000

Send = Callable[..., None]


def clock() -> int:
    return NOW


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store at the newest schema, to be copied: migrating once a test is slow."""
    file = tmp_path_factory.mktemp("migrated") / "weighbridge.db"
    upgrade(f"sqlite:///{file}")
    return file


@pytest.fixture
def database(migrated: Path, tmp_path: Path) -> Iterator[Database]:
    opened = Database(f"sqlite:///{shutil.copy(migrated, tmp_path)}")
    yield opened
    opened.dispose()


@pytest.fixture
def reader(database: Database) -> Reader:
    return Reader(database)


@pytest.fixture
def control(database: Database) -> Control:
    return Control(database, clock)


@pytest.fixture
def send(database: Database) -> Send:
    """Send one span the way a router does: SDK, official encoder, decoder, adapters, writer."""
    writer = Writer(database, clock)

    def send_one(attributes: Mapping[str, Any], *, service: str = "my-router", age_s: float = 1.0) -> None:
        exporter = InMemorySpanExporter()
        provider = TracerProvider(resource=Resource({"service.name": service}))
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        end = NOW - round(age_s * 1e9)
        span = provider.get_tracer("test").start_span(
            "schedule p", start_time=end - 1_000, attributes=attributes
        )
        span.end(end)
        decoded = decode_traces(
            encode_spans(exporter.get_finished_spans()).SerializeToString(), Encoding.PROTOBUF
        )
        found = adapt(decoded.batch)
        writer.write([AdaptedBatch(decoded.batch, found.decisions, found.outcomes)])
        provider.shutdown()

    return send_one


@pytest.fixture(scope="session")
def app(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """The application on an empty store; nobody writes to it, so one serves all tests."""
    database = Database(f"sqlite:///{shutil.copy(migrated, tmp_path_factory.mktemp('empty'))}")
    yield build_app(DashboardConfig(), Reader(database), clock=clock, version="1.2.3")
    database.dispose()


@pytest.fixture(scope="session")
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app) as opened:
        yield opened


@pytest.fixture
def text() -> Callable[[Any], str]:
    """All text of a component tree, children and attributes that people read."""
    return text_of


def text_of(component: Any) -> str:
    if component is None:
        return ""
    if isinstance(component, (list, tuple)):
        return " ".join(filter(None, (text_of(item) for item in component)))
    if isinstance(component, (str, int, float)):
        return str(component)
    return text_of(getattr(component, "children", None))
