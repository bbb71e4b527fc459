"""metrics.md is complete: what a running collector and a running dashboard expose stands in it."""

import re
from dataclasses import astuple, replace
from pathlib import Path

from fastapi import FastAPI
from fastapi.testclient import TestClient

from collector.config import CollectorConfig
from collector.pipeline import Collector
from dashboard.api import build_operations
from dashboard.live import LiveFigures
from storage.control import Control
from storage.database import Database
from storage.migrate import upgrade
from storage.queries import Reader
from storage.records import HealthView, IntakeTally, ProcessRow

DOCS = Path(__file__).parents[2] / "docs" / "metrics.md"
NOW = 1_764_600_000_000_000_000


class FullReader(Reader):
    """Says of an empty store what a full one says, since what is unknown is not exposed."""

    def health(self) -> HealthView:
        view = super().health()
        store = replace(view.store, limit_bytes=1, max_age_s=1.0, oldest_unix_nano=NOW, newest_unix_nano=NOW)
        assert None not in astuple(store), "a new figure needs a value here"
        return replace(view, store=store)


def _families(exposed: str) -> set[str]:
    names = set(re.findall(r"^# TYPE (weighbridge_\w+) ", exposed, re.MULTILINE))
    return {n for n in names if not n.endswith("_created") and "_figure_" not in n}


def _documented() -> set[str]:
    return set(re.findall(r"^\| `(weighbridge_\w+)`", DOCS.read_text(), re.MULTILINE))


def test_every_metric_is_documented_and_nothing_else(tmp_path: Path) -> None:
    """The table against both registries, each with a sample of everything."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    upgrade(url)
    database = Database(url)
    control = Control(database, lambda: NOW)
    tally = IntakeTally(
        "router", accepted=1, rejected={"bad id": 1}, warned={"NaN": 1}, last_seen_unix_nano=NOW
    )
    control.record_intake([tally])
    control.heartbeat(ProcessRow("collect", "host", "0", NOW, NOW, {"queue_spans": 1.0}))
    app = FastAPI(telemetry={"tracing": False, "metrics": False, "logs": False})
    app.include_router(build_operations(FullReader(database), version="0", feed=LiveFigures()))
    with TestClient(app) as client:
        web = _families(client.get("/metrics").text)
    collector = Collector(CollectorConfig(), lambda batches: [], lambda tallies: None, lambda figures: None)
    own = _families(collector.metrics.exposition().decode())
    database.dispose()
    assert web
    assert own
    assert web | own == _documented()
