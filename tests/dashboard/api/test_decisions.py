"""The list of decisions and one decision whole."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from fastapi.testclient import TestClient

from storage.records import CandidateDetail

NANO = 1_000_000_000
NOW = 1_800_000_000 * NANO
LIST = "/api/v1/decisions"
Tell = Callable[..., None]


def nodes(client: TestClient, **parameters: Any) -> list[str]:
    response = client.get(LIST, params=parameters)
    assert response.status_code == 200, response.text
    return [item["node"] for item in response.json()["items"]]


def test_an_empty_store_gives_an_empty_page(client: TestClient) -> None:
    """No items and nowhere to go on."""
    assert client.get(LIST).json() == {"items": [], "next": None}


def test_items_are_newest_first_with_their_fields(client: TestClient, tell: Tell, told: Any) -> None:
    """At least what was promised, times exact and readable."""
    tell(told(1, 9.0, "old"), told(2, 1.5, "new", service="edge"))
    items = client.get(LIST).json()["items"]
    assert [i["node"] for i in items] == ["new", "old"]
    expected = {
        "trace_id": told(2).trace_id,
        "span_id": told(2).span_id,
        "time_unix_nano": NOW - 1_500_000_000,
        "time": "2027-01-15T07:59:58.500000000Z",
        "service": "edge",
        "policy": "p",
        "node": "new",
        "weight": 0.6,
        "confidence": 0.5,
    }
    assert {k: items[0][k] for k in expected} == expected


def test_pages_follow_the_cursor_to_the_end(client: TestClient, tell: Tell, told: Any) -> None:
    """Every decision once, in order."""
    tell(*(told(n, float(n)) for n in range(1, 8)))
    seen, cursor = [], None
    while True:
        page = client.get(LIST, params={"limit": 3} | ({"cursor": cursor} if cursor else {})).json()
        seen += [int(i["span_id"], 16) for i in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"service": "edge"}, ["b"]),
        ({"policy": "q"}, ["c"]),
        ({"node": "a"}, ["a"]),
        ({"weight_min": 0.5}, ["b", "c"]),
        ({"weight_max": 0.5}, ["a"]),
        ({"confidence_min": 0.8, "confidence_max": 0.95}, ["b"]),
        ({"outcome": "error"}, ["c"]),
        ({"experiment": "e", "variant": "v2"}, ["b"]),
        ({"from": "-15s"}, ["a"]),
        ({"to": "-15s"}, ["b", "c"]),
        ({"from": "-25s", "to": "-15s"}, ["b"]),
        ({"from": str(NOW - 25 * NANO), "to": "now"}, ["a", "b"]),
        ({"from": datetime.fromtimestamp(1_800_000_000 - 15, UTC).isoformat()}, ["a"]),
        ({"from": "2027-01-15T08:59:45 01:00"}, ["a"]),
        ({"q": "c"}, ["c"]),
        ({"node": "nobody"}, []),
    ],
)
def test_every_filter_narrows(
    client: TestClient, tell: Tell, told: Any, parameters: dict[str, Any], expected: list[str]
) -> None:
    """Each filter alone, and the forms a time may have; a plus sign lost in the address is put back."""
    tell(
        told(1, 10.0, "a", weight=0.2, confidence=0.7),
        told(
            2,
            20.0,
            "b",
            service="edge",
            weight=0.7,
            confidence=0.9,
            more={"experiment": "e", "variant": "v2"},
        ),
        told(3, 30.0, "c", policy="q", weight=0.9, confidence=1.0, more={"outcome": "error"}),
    )
    assert nodes(client, **parameters) == expected


def test_a_trace_id_is_found_as_text(client: TestClient, tell: Tell, told: Any) -> None:
    """q takes a whole trace id."""
    tell(told(1, 1.0, "a"), told(2, 2.0, "b"))
    assert nodes(client, q=told(2).trace_id) == ["b"]


@pytest.mark.parametrize(
    ("parameters", "wrong", "hint"),
    [
        ({"limit": "0"}, "limit", "greater than or equal to 1"),
        ({"limit": "1001"}, "limit", "less than or equal to 1000"),
        ({"limit": "many"}, "limit", "valid integer"),
        ({"weight_min": "nan"}, "weight_min", "finite"),
        ({"confidence_max": "x"}, "confidence_max", "valid number"),
        ({"outcome": "fine"}, "outcome", "'ok', 'error' or 'dropped'"),
        ({"from": "yesterday"}, "from", "RFC 3339"),
        ({"from": "2026-12-01T10:00:00"}, "from", "add Z"),
        ({"from": "1764600000"}, "from", "nanoseconds"),
        ({"from": "9" * 40}, "from", "nanoseconds"),
        ({"to": "-15 parsecs"}, "to", "RFC 3339"),
        ({"from": "9999-01-01T00:00:00Z"}, "from", "1970 and 2262"),
        ({"from": "0001-01-01T00:00:00+14:00"}, "from", "1970 and 2262"),
        ({"from": "-1m", "to": "-1h"}, "from", "swap"),
        ({"servce": "x"}, "servce", "did you mean service?"),
        ({"service": "x" * 2000}, "service", "at most 1024"),
    ],
)
def test_a_bad_parameter_is_named_with_what_to_do(
    client: TestClient, parameters: dict[str, str], wrong: str, hint: str
) -> None:
    """422, which one, and how it should look."""
    response = client.get(LIST, params=parameters)
    assert response.status_code == 422
    body = response.json()
    assert [e["parameter"] for e in body["errors"]] == [wrong]
    assert hint in body["errors"][0]["message"]
    assert hint in body["detail"]


@pytest.mark.parametrize("cursor", ["x", "\u00e9", "AAAA", "1.2", "'; drop table span"])
def test_a_cursor_of_somebody_else_is_refused(client: TestClient, cursor: str) -> None:
    """400, and start again without it."""
    response = client.get(LIST, params={"cursor": cursor})
    assert response.status_code == 400
    assert "without it" in response.json()["detail"]


def test_one_decision_shows_why(client: TestClient, tell: Tell, told: Any) -> None:
    """Candidates with their scores, the chosen one marked, what was filtered, the attributes."""
    detail = CandidateDetail(
        candidates=("gpu-1", "gpu-2"),
        weights=(0.6, 0.4),
        scores=(0.9, 0.8),
        scorer_names=("queue", "latency"),
        scorer_weights=(2.0, 1.0),
        scorer_scores=((1.0, 0.7), (0.9, 0.6)),
        filtered=("gpu-3",),
        filter_reasons=("drained",),
    )
    tell(told(7, detail=detail, attributes={"gen_ai.request.model": "m"}))
    found = client.get(f"{LIST}/{told(7).trace_id.upper()}/{told(7).span_id}").json()
    assert found["candidates"] == [
        {
            "node": "gpu-1",
            "weight": 0.6,
            "score": 0.9,
            "scorers": {"queue": 1.0, "latency": 0.7},
            "chosen": True,
        },
        {
            "node": "gpu-2",
            "weight": 0.4,
            "score": 0.8,
            "scorers": {"queue": 0.9, "latency": 0.6},
            "chosen": False,
        },
    ]
    assert found["scorer_weights"] == {"queue": 2.0, "latency": 1.0}
    assert found["filtered"] == [{"node": "gpu-3", "reason": "drained"}]
    assert found["attributes"]["gen_ai.request.model"] == "m"
    assert (found["node"], found["decision_id"]) == ("gpu-1", f"{told(7).trace_id}/{told(7).span_id}")


def test_an_unknown_decision_is_404_and_a_wrong_id_422(client: TestClient) -> None:
    """Not there is not the same as not an id."""
    assert client.get(f"{LIST}/{'0' * 31}1/{'0' * 15}1").status_code == 404
    for path in ("zz/11", f"{'g' * 32}/{'0' * 16}", f"{'0' * 32}/{'0' * 15}", "\u0663" * 32 + "/" + "0" * 16):
        assert client.get(f"{LIST}/{path}").status_code == 422, path


HOSTILE = [
    "<script>alert(1)</script>",
    "'; drop table span; --",
    "\x00\x1b[31m",
    "\u202egnp.exe",
    "{{7*7}}",
    "é" * 500,
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_come_through_as_data(client: TestClient, tell: Tell, told: Any, name: str) -> None:
    """Unchanged in the JSON, never HTML."""
    tell(told(1, node=name, policy=name, service=name, attributes={name: name}))
    response = client.get(LIST)
    item = response.json()["items"][0]
    assert (item["node"], item["policy"], item["service"]) == (name, name, name)
    assert response.headers["content-type"] == "application/json"
    whole = client.get(f"{LIST}/{item['trace_id']}/{item['span_id']}").json()
    assert whole["attributes"][name] == name
    assert nodes(client, node=name) == [name]


def test_no_answer_holds_nan_or_infinity(client: TestClient, tell: Tell, told: Any) -> None:
    """Strict JSON whatever senders wrote."""
    attributes = {"a": "NaN", "deep": {"list": [float("nan"), float("-inf"), 1.5]}}
    tell(told(1, confidence=None, attributes=attributes, more={"margin": float("inf")}))

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    for path in (LIST, f"{LIST}/{told(1).trace_id}/{told(1).span_id}", f"/api/v1/traces/{told(1).trace_id}"):
        response = client.get(path)
        assert response.status_code == 200, response.text
        json.loads(response.text, parse_constant=refuse)
