"""A fresh store for each test, and small batches to fill it with."""

import base64
import json
import math
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from storage.database import Database
from storage.migrate import upgrade
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
START = 1_800_000_000 * NANO


class Attributes:
    """Attributes as plain dictionaries: the simplest AttributeColumn."""

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
            json.dumps({k: _plain(v) for k, v in r.items() if k not in without}).encode("utf-8", "replace")
            for r in self._rows
        ]


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"bytesValue": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value


@dataclass(frozen=True)
class Said:
    """One span to send; with ``node`` a decision, with ``about`` the outcome of another span's decision."""

    trace: int = 1
    span: int = 1
    parent: int = 0
    name: str = "schedule p"
    end: int = START
    duration: int = 1_000
    service: str = "router"
    policy: str = "p"
    node: str | None = None
    weight: float | None = 1.0
    confidence: float | None = None
    detail: CandidateDetail | None = None
    outcome: str | None = None
    latency_ms: float | None = None
    experiment: str | None = None
    variant: str | None = None
    about: tuple[int, int] | None = None
    adjusted: float = 1.0
    attributes: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)  # further decision columns


def trace_hex(trace: int) -> str:
    return trace.to_bytes(16, "big").hex()


def span_hex(span: int) -> str:
    return span.to_bytes(8, "big").hex()


def key_of(trace: int, span: int) -> bytes:
    return trace.to_bytes(16, "big") + span.to_bytes(8, "big")


def batch_of(said: Sequence[Said]) -> AdaptedBatch:
    """What the adapters would hand over for these spans."""
    services = list(dict.fromkeys(s.service for s in said))
    spans = SpanBatch(
        trace_id=_ids([s.trace for s in said], 16),
        span_id=_ids([s.span for s in said], 8),
        parent_span_id=_ids([s.parent for s in said], 8),
        name=Strings.of(s.name for s in said),
        kind=np.ones(len(said), np.int32),
        start_unix_nano=np.array([s.end - s.duration for s in said], np.int64),
        end_unix_nano=np.array([s.end for s in said], np.int64),
        status_code=np.zeros(len(said), np.int32),
        status_message=Strings.of("" for _ in said),
        trace_state=Strings.of("" for _ in said),
        events=Strings.of(b"" for _ in said),
        links=Strings.of(b"" for _ in said),
        resource_index=np.array([services.index(s.service) for s in said], np.int32),
        scope_index=np.zeros(len(said), np.int32),
        resources=tuple(
            Resource(s, f"{s}-0", json.dumps({"service.name": s}).encode("utf-8", "replace"))
            for s in services
        ),
        scopes=(Scope("test", "1"),) if said else (),
        attributes=Attributes([s.attributes for s in said]),
        adjusted_count=np.array([s.adjusted for s in said], np.float64),
        flagged=np.zeros(len(said), np.bool_),
    )
    return AdaptedBatch(spans, _decisions(said), _outcomes(said))


def _ids(values: Sequence[int], size: int) -> Any:
    return np.frombuffer(b"".join(v.to_bytes(size, "big") for v in values), np.uint8).reshape(
        len(values), size
    )


def _decisions(said: Sequence[Said]) -> DecisionColumns:
    columns = DecisionColumns()
    for i, s in enumerate(said):
        if s.node is None:
            continue
        values: dict[str, Any] = {
            "span_index": i,
            "decision_key": key_of(s.trace, s.span),
            "policy": s.policy,
            "node": s.node,
            "weight": s.weight,
            "confidence": s.confidence,
            "outcome": s.outcome,
            "outcome_latency_ms": s.latency_ms,
            "experiment": s.experiment,
            "variant": s.variant,
            "inferred": False,
            "detail": s.detail,
        } | dict(s.more)
        for name in DecisionColumns.__dataclass_fields__:
            getattr(columns, name).append(values.get(name))
    return columns


def _outcomes(said: Sequence[Said]) -> OutcomeColumns:
    columns = OutcomeColumns()
    for i, s in enumerate(said):
        if s.about is None:
            continue
        columns.span_index.append(i)
        columns.decision_key.append(key_of(*s.about))
        columns.outcome.append(s.outcome)
        columns.outcome_latency_ms.append(s.latency_ms)
        columns.experiment.append(s.experiment)
        columns.variant.append(s.variant)
    return columns


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


@pytest.fixture(scope="session")
def kit() -> SimpleNamespace:
    """The builders of this file, since test modules cannot import a conftest."""
    return SimpleNamespace(
        NANO=NANO,
        START=START,
        Said=Said,
        Clock=Clock,
        batch_of=batch_of,
        key_of=key_of,
        trace_hex=trace_hex,
        span_hex=span_hex,
        Attributes=Attributes,
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An up-to-date empty store to copy, made once: migrating for every test would dominate."""
    path = tmp_path_factory.mktemp("store") / "empty.db"
    upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def database(tmp_path: Path, empty_store: Path) -> Iterator[Database]:
    path = tmp_path / "weighbridge.db"
    shutil.copy(empty_store, path)
    opened = Database(f"sqlite:///{path}")
    yield opened
    opened.dispose()


@pytest.fixture
def writer(database: Database, clock: Clock) -> Writer:
    return Writer(database, clock)


@pytest.fixture
def reader(database: Database, clock: Clock) -> Iterator[Reader]:
    opened = Reader(database, clock)
    yield opened
    opened.close()
