"""Traces, weights, nodes, experiments, alerts and health."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from storage.control import Control, NewAlert, NewDelivery
from storage.records import IntakeTally, ProcessRow

NANO = 1_000_000_000
NOW = 1_800_000_000 * NANO
Tell = Callable[..., None]


def test_a_trace_lists_its_spans(client: TestClient, tell: Tell, told: Any) -> None:
    """With their attributes and whether they decided."""
    tell(told(5, attributes={"k": [1, "x"]}))
    found = client.get(f"/api/v1/traces/{told(5).trace_id}").json()
    assert (found["total"], len(found["spans"])) == (1, 1)
    span = found["spans"][0]
    assert (span["name"], span["is_decision"], span["parent_span_id"]) == ("schedule p", True, None)
    assert span["attributes"]["k"] == [1, "x"]
    assert client.get(f"/api/v1/traces/{'f' * 32}").status_code == 404


def test_weights_are_the_newest_of_each_series(client: TestClient, tell: Tell, told: Any) -> None:
    """One item for each service, policy and node."""
    tell(told(1, 5.0, weight=0.3), told(2, 1.0, weight=0.7), told(3, 2.0, "gpu-2", weight=0.1))
    items = client.get("/api/v1/weights").json()["items"]
    assert {(i["node"], i["weight"]) for i in items} == {("gpu-1", 0.7), ("gpu-2", 0.1)}
    assert items[0]["time"].endswith("Z")


def test_a_window_gives_the_history_in_columns(client: TestClient, tell: Tell, told: Any) -> None:
    """Evenly spaced seconds up to now, one row a node, null where nobody spoke; services are averaged."""
    tell(
        told(1, 2.5, weight=0.4),
        told(2, 2.5, weight=0.6, service="edge"),
        told(3, 0.5, "gpu-2", weight=0.2),
        told(4, 1.0, "gpu-9", policy="other", weight=0.9),
        told(5, 500.0, "gpu-0", weight=0.9),
    )
    body = client.get("/api/v1/weights", params={"window": "5s", "policy": "p"}).json()
    second = NOW // NANO
    assert body["history"] == {
        "policy": "p",
        "seconds": [second - 4, second - 3, second - 2, second - 1, second],
        "nodes": ["gpu-1", "gpu-2"],
        "weight": [[None, 0.5, None, None, None], [None, None, None, 0.2, None]],
    }
    assert len(body["items"]) == 4


def test_a_window_needs_a_policy_when_there_are_several(client: TestClient, tell: Tell, told: Any) -> None:
    """Weights of different policies are not one series."""
    tell(told(1), told(2, policy="q"))
    response = client.get("/api/v1/weights", params={"window": "60s"})
    assert response.status_code == 422
    assert "p, q" in response.json()["detail"]
    assert client.get("/api/v1/weights", params={"window": "60s", "policy": "q"}).json()["history"][
        "nodes"
    ] == ["gpu-1"]


def test_an_empty_store_has_an_empty_history(client: TestClient) -> None:
    """Columns are there, rows are not."""
    history = client.get("/api/v1/weights", params={"window": "60s"}).json()["history"]
    assert (len(history["seconds"]), history["nodes"], history["weight"], history["policy"]) == (
        60,
        [],
        [],
        None,
    )


@pytest.mark.parametrize("window", ["601s", "0s", "1x", "-5s", "", "999999999w"])
def test_a_window_out_of_range_is_refused(client: TestClient, window: str) -> None:
    """So that one request cannot read a week."""
    assert client.get("/api/v1/weights", params={"window": window}).status_code == 422


def test_nodes_tell_stated_and_realised_shares(client: TestClient, tell: Tell, told: Any) -> None:
    """Of the last five minutes, or of the range asked for."""
    tell(told(1, 5.0, "a"), told(2, 5.0, "a"), told(3, 5.0, "b"), told(4, 900.0, "old"))
    items = client.get("/api/v1/nodes").json()["items"]
    assert {i["node"]: i["decisions"] for i in items} == {"a": 2, "b": 1}
    assert {i["node"]: i["realised_share"] for i in items}["a"] == pytest.approx(2 / 3)
    assert "old" in {i["node"] for i in client.get("/api/v1/nodes", params={"from": "-1h"}).json()["items"]}


def arms(told: Any) -> list[Any]:
    """Two arms, the treatment ten milliseconds quicker."""
    made = []
    for n in range(1, 601):
        arm = "treatment" if n % 2 else "control"
        latency = (40.0 if n % 2 else 50.0) + n % 7
        more = {"experiment": "flag", "variant": arm, "outcome": "ok", "outcome_latency_ms": latency}
        made.append(told(n, 600.0 - n, more=more))
    return made


def test_experiments_compare_each_arm_with_the_control(client: TestClient, tell: Tell, told: Any) -> None:
    """Difference, interval, p value and verdict by statistics that stay valid while watched."""
    tell(*arms(told))
    (found,) = client.get("/api/v1/experiments").json()["items"]
    assert (found["key"], found["control"]) == ("flag", "control")
    assert [(a["variant"], a["outcomes"]) for a in found["arms"]] == [("control", 300), ("treatment", 300)]
    latency = next(c for c in found["comparisons"] if c["metric"] == "latency_ms")
    assert latency["variant"] == "treatment"
    assert latency["difference"] == pytest.approx(-10.0, abs=0.5)
    assert latency["low"] < latency["difference"] < latency["high"] < 0
    assert latency["p_value"] < 0.05
    assert (latency["verdict"], latency["method"]) == ("better", "confidence sequence")
    turned = client.get("/api/v1/experiments", params={"control": "treatment"}).json()["items"][0]
    assert next(c for c in turned["comparisons"] if c["metric"] == "latency_ms")["verdict"] == "worse"


def test_an_experiment_without_outcomes_is_settling_and_has_no_infinities(
    client: TestClient, tell: Tell, told: Any
) -> None:
    """Unknown bounds are null."""
    tell(*(told(n, more={"experiment": "e", "variant": f"v{n}"}) for n in (1, 2)))
    (found,) = client.get("/api/v1/experiments").json()["items"]
    (errors,) = found["comparisons"]
    assert (errors["metric"], errors["verdict"], errors["low"], errors["high"]) == (
        "error_rate",
        "settling",
        None,
        None,
    )


@pytest.mark.parametrize("alpha", ["0", "1", "nan", "-1"])
def test_an_alpha_outside_its_range_is_refused(client: TestClient, alpha: str) -> None:
    """Strictly between 0 and 1."""
    assert client.get("/api/v1/experiments", params={"alpha": alpha}).status_code == 422


def test_alerts_come_with_their_deliveries(client: TestClient, control: Control) -> None:
    """Open and past, and whether the page went out."""
    new = NewAlert("ab" * 8, "drift", {"node": "n"}, {"summary": "it fell"}, 0.3, NOW - NANO)
    row = control.open_alert(new, [NewDelivery("msg_1", "ops", b"{}")])
    control.mark_retry("msg_1", next_attempt_unix_nano=NOW + NANO, status=500, error="HTTP 500")
    (item,) = client.get("/api/v1/alerts", params={"state": "firing"}).json()["items"]
    assert (item["rule"], item["labels"], item["ends"]) == ("drift", {"node": "n"}, None)
    assert item["starts"] == "2027-01-15T07:59:59.000000000Z"
    (delivery,) = item["deliveries"]
    assert (delivery["state"], delivery["attempts"], delivery["last_error"]) == ("pending", 1, "HTTP 500")
    control.resolve_alert(row.alert_id, ends_unix_nano=NOW)
    assert client.get("/api/v1/alerts", params={"state": "firing"}).json()["items"] == []
    assert client.get("/api/v1/alerts").json()["items"][0]["state"] == "resolved"
    assert client.get("/api/v1/alerts", params={"state": "on fire"}).status_code == 422


def test_health_tells_sources_processes_and_store(
    client: TestClient, control: Control, tell: Tell, told: Any
) -> None:
    """With rejects by reason, and the settings in force without any password."""
    tell(told(1))
    control.record_intake(
        [
            IntakeTally(
                "shop", accepted=3, rejected={"bad id": 2}, message="2 rejected", last_seen_unix_nano=NOW
            )
        ]
    )
    control.heartbeat(ProcessRow("collect", "host", "1", NOW, NOW, {"queue_spans": 4.0, "odd": float("nan")}))
    body = client.get("/api/v1/health").json()
    (source,) = body["sources"]
    assert (source["source"], source["accepted"], source["rejected"]) == ("shop", 3, {"bad id": 2})
    assert body["processes"][0]["figures"] == {"queue_spans": 4.0, "odd": None}
    assert body["store"]["decisions"] == 1
    assert body["version"] == "1.2.3"
    assert "hidden" not in str(body)
    assert body["configuration"]["token"] == "**********"


def test_lists_that_grow_with_senders_names_are_bounded(
    client: TestClient, tell: Tell, told: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sender that makes up names gets a short answer that says so, and shares stay those of all."""
    tell(*(told(k, 10.0 - k, f"gpu-{k}", weight=0.5) for k in range(1, 6)), told(6, 1.0, "gpu-2", weight=0.5))
    monkeypatch.setattr("dashboard.api.weights.MOST", 2)
    monkeypatch.setattr("dashboard.api.nodes.MOST", 2)
    weights = client.get("/api/v1/weights", params={"window": "60s"}).json()
    assert (weights["more"], len(weights["items"]), len(weights["history"]["nodes"])) == (True, 2, 2)
    nodes = client.get("/api/v1/nodes").json()
    assert (nodes["more"], len(nodes["items"])) == (True, 2)
    assert {n["node"]: n["realised_share"] for n in nodes["items"]}["gpu-2"] == pytest.approx(2 / 6)
    monkeypatch.setattr("dashboard.api.weights.MOST", 5)
    assert client.get("/api/v1/weights").json()["more"] is False


def test_a_long_history_of_many_nodes_is_cut_to_those_that_changed_last(
    client: TestClient, tell: Tell, told: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten minutes of thousands of nodes would be a hundred megabytes."""
    tell(
        told(1, 9.0, "gpu-1", weight=0.5),
        told(2, 8.0, "gpu-2", weight=0.5),
        told(3, 7.0, "gpu-3", weight=0.5),
    )
    monkeypatch.setattr("dashboard.api.weights.MOST_CELLS", 1_200)
    history = client.get("/api/v1/weights", params={"window": "600s"}).json()["history"]
    assert (len(history["nodes"]), len(history["seconds"])) == (2, 600)
