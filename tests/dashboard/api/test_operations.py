"""Probes, metrics, the reference, and what is answered when something is not there."""

import re

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from storage.control import Control
from storage.database import Database
from storage.migrate import downgrade
from storage.records import IntakeTally, ProcessRow

NANO = 1_000_000_000
NOW = 1_800_000_000 * NANO


def test_alive_and_ready(client: TestClient) -> None:
    """Both answer GET and HEAD."""
    for path in ("/healthz", "/readyz"):
        assert client.get(path).json()["version"] == "1.2.3"
        assert client.head(path).status_code == 200


def test_a_stale_schema_is_alive_but_not_ready(client: TestClient, database: Database) -> None:
    """And says which command helps."""
    downgrade(database.url, "base")
    assert client.get("/healthz").status_code == 200
    response = client.get("/readyz")
    assert response.status_code == 503
    assert "weighbridge migrate" in response.json()["detail"]


def test_a_store_that_is_gone_is_503_with_a_time_to_come_back(client: TestClient, database: Database) -> None:
    """Never 500, for every noun; metrics say that the store is down."""
    database.dispose()
    for name in ("", "-wal", "-shm"):
        database.path.with_name(database.path.name + name).unlink(missing_ok=True)
    for noun in ("decisions", "weights", "nodes", "experiments", "alerts", "health", f"traces/{'1' * 32}"):
        response = client.get(f"/api/v1/{noun}")
        assert response.status_code == 503, noun
        assert int(response.headers["retry-after"]) > 0
        assert response.json()["detail"]
    assert "weighbridge_store_up 0.0" in client.get("/metrics").text


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (s.name, tuple(sorted(s.labels.items()))): s.value
        for family in text_string_to_metric_families(text)
        for s in family.samples
    }


def test_metrics_are_prometheus_text_with_hostile_labels_escaped(
    client: TestClient, control: Control
) -> None:
    """A parser reads every label back as it was; counts by source and reason, gauges of processes, the store."""
    evil = 'a"} 1\nforged{x="\\'
    control.record_intake(
        [IntakeTally(evil, accepted=3, duplicated=1, rejected={evil: 2}, last_seen_unix_nano=NOW)]
    )
    control.heartbeat(ProcessRow("collect", "host", "1", NOW, NOW, {"queue-spans": 4.0, "odd": float("nan")}))
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = samples(response.text)
    assert found["weighbridge_intake_spans_total", (("result", "accepted"), ("source", evil))] == 3
    assert found["weighbridge_intake_rejected_spans_total", (("reason", evil), ("source", evil))] == 2
    assert found["weighbridge_figure_queue_spans", (("instance", "host"), ("role", "collect"))] == 4
    assert found["weighbridge_store_up", ()] == 1
    assert found["weighbridge_store_size_bytes", ()] > 0
    assert found["weighbridge_build_info", (("version", "1.2.3"),)] == 1
    assert any(name.startswith("process_") for name, _ in found)
    assert not any(name.startswith("forged") for name, _ in found)


@pytest.mark.parametrize(
    "path",
    [
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/nothing",
        "/api/v2/decisions",
        "/v1/traces",
        "/healthz/x",
        "/metrics/",
        "/nothing",
        "/uix",
        "/api/v1/decisions/",
    ],
)
def test_unknown_paths_are_404_json_beside_dash(with_dash: TestClient, path: str) -> None:
    """Dash would answer 200 HTML to all of them."""
    response = with_dash.get(path, follow_redirects=False)
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/json"
    assert response.json()["status"] == 404


def test_pages_are_left_to_dash(with_dash: TestClient) -> None:
    """Everything below /ui/ is its."""
    for path in ("/ui/", "/ui/decisions"):
        assert with_dash.get(path).headers["content-type"].startswith("text/html")


def test_a_wrong_method_is_405_with_the_right_ones(with_dash: TestClient) -> None:
    """The API only reads."""
    for method in ("POST", "DELETE"):
        response = with_dash.request(method, "/api/v1/decisions")
        assert (response.status_code, response.headers["allow"]) == (405, "GET")


def test_the_reference_fetches_nothing(client: TestClient) -> None:
    """One page: no script, no address of another host, every operation in it."""
    response = client.get("/api/docs")
    assert response.headers["content-type"].startswith("text/html")
    assert "<script" not in response.text
    assert re.findall(r"(?:src|href)=\"?(https?:)?//", response.text) == []
    document = client.get("/api/openapi.json").json()
    for path in document["paths"]:
        assert path in response.text
    for noun in ("decisions", "weights", "nodes", "experiments", "alerts", "health"):
        assert f"/api/v1/{noun}" in document["paths"]


def test_every_answer_fits_the_documented_schema_names(client: TestClient) -> None:
    """What the document names as the answer of the list is there, and its limits too."""
    document = client.get("/api/openapi.json").json()
    operation = document["paths"]["/api/v1/decisions"]["get"]
    reference = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
    assert set(document["components"]["schemas"][reference.rpartition("/")[2]]["properties"]) == {
        "items",
        "next",
    }
    limit = next(p for p in operation["parameters"] if p["name"] == "limit")
    assert (limit["schema"]["minimum"], limit["schema"]["maximum"]) == (1, 1000)
    assert {"from", "to", "cursor", "q"} <= {p["name"] for p in operation["parameters"]}


def test_no_other_origin_may_read(client: TestClient) -> None:
    """CORS is off."""
    response = client.get("/api/v1/weights", headers={"origin": "https://elsewhere.test"})
    assert not any(name.startswith("access-control") for name in response.headers)


def test_answers_are_not_cached(client: TestClient) -> None:
    """The next look must see what came since."""
    assert client.get("/api/v1/weights").headers["cache-control"] == "no-store"
