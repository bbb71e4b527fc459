"""The list of decisions answers from a real store: rows, counts, empty and failing states."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from dash import Dash, html
from fastapi import FastAPI
from fastapi.testclient import TestClient

from dashboard.filters import Filters, parse
from dashboard.page import Page, Visit
from dashboard.pages import decisions
from dashboard.pages._decisions_empty import draw, explain
from storage.database import Database
from storage.queries import Reader

NOW = 1_800_000_000_000_000_000
HOSTILE = "<img src=x onerror=alert(1)>\u202e" + "x" * 4_000

Ask = Callable[..., dict[str, Any]]


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def now() -> Clock:
    return Clock()


@pytest.fixture
def ask(reader: Reader, now: Clock) -> Iterator[Ask]:
    """Call a callback of the page over HTTP as the browser does; answers its response by component id."""
    server = FastAPI()
    app = Dash(
        "list",
        server=server,
        requests_pathname_prefix="/ui/",
        routes_pathname_prefix="/ui/",
        suppress_callback_exceptions=True,
    )
    app.layout = html.Div()
    decisions.register(app, reader, clock=now)
    with TestClient(server) as client:

        def call(output: str, *inputs: tuple[str, Any]) -> dict[str, Any]:
            known = next(spec for spec in app._callback_list if output in spec["output"])
            values = dict(inputs)
            ids = [dict(item) for item in known["inputs"] + known["state"]]
            for item in ids:
                item["value"] = values.get(item["id"] + "." + item["property"])
            body = {
                "output": known["output"],
                "outputs": [
                    {"id": part.split(".")[0], "property": part.split(".")[1]}
                    for part in known["output"].strip(".").split("...")
                ],
                "inputs": ids[: len(known["inputs"])],
                "state": ids[len(known["inputs"]) :],
                "changedPropIds": [f"{ids[0]['id']}.{ids[0]['property']}"],
            }
            answer = client.post("/ui/_dash-update-component", json=body)
            assert answer.status_code == 200, answer.text
            return answer.json()["response"]

        yield call


def show(ask: Ask, search: str = "") -> dict[str, Any]:
    return ask(
        "decisions-count.children", ("decisions-address.data", search), ("decisions-refresh.n_clicks", 0)
    )


def block(ask: Ask, pin: Any, start: int = 0, end: int = 100, search: str = "") -> list[dict[str, Any]]:
    answer = ask(
        "decisions-grid.getRowsResponse",
        ("decisions-grid.getRowsRequest", {"startRow": start, "endRow": end}),
        ("decisions-address.data", search),
        ("decisions-pin.data", pin),
    )
    return answer["decisions-grid"]["getRowsResponse"]["rowData"]


def decide(send: Any, node: str = "gpu-1", weight: float = 0.5, age_s: float = 1.0, **more: Any) -> None:
    send({"decision.node": node, "weight": weight, "decision.policy.name": "p", **more}, age_s=age_s)


def test_rows_come_newest_first_with_ready_text(ask: Ask, send: Any) -> None:
    """Each row holds what the grid shows, and the address of its decision with the list's own filters."""
    decide(send, "old", 0.25, age_s=9)
    decide(
        send,
        "new",
        0.75,
        age_s=2,
        confidence=0.5,
        **{"decision.outcome": "ok", "decision.outcome.latency_ms": 212.0},
    )
    search = "?range=1h&policy=p"
    shown = show(ask, search)
    assert shown["decisions-count"]["children"] == "2 decisions in the last hour"
    rows = block(ask, shown["decisions-pin"]["data"], search=search)
    assert [row["node"] for row in rows] == ["new", "old"]
    assert (rows[0]["weight"], rows[0]["confidence"], rows[0]["outcome"], rows[0]["latency"]) == (
        "0.750",
        "0.50",
        "ok",
        "212 ms",
    )
    assert rows[1]["confidence"] == rows[1]["latency"] == rows[1]["margin"] == "unknown"
    assert rows[0]["href"] == f"/ui/decisions/{rows[0]['id']}?range=1h&policy=p"
    assert rows[0]["ms"] == (NOW - 2_000_000_000) / 1e6


def test_blocks_follow_each_other_without_gap_or_repeat(ask: Ask, send: Any) -> None:
    """The second block begins where the first one ended."""
    for k in range(5):
        decide(send, f"n{k}", age_s=10 - k)
    pin = show(ask)["decisions-pin"]["data"]
    rows = block(ask, pin, 0, 2) + block(ask, pin, 2, 4) + block(ask, pin, 4, 6)
    assert [row["node"] for row in rows] == ["n4", "n3", "n2", "n1", "n0"]


def test_later_decisions_wait_behind_a_button(ask: Ask, send: Any, now: Clock) -> None:
    """What arrives after the list was shown does not move it; it is counted until the list is refreshed."""
    decide(send, "first", age_s=5)
    pin = show(ask)["decisions-pin"]["data"]
    decide(send, "second", age_s=1)
    now.now += 2_000_000_000
    assert [row["node"] for row in block(ask, pin)] == ["first"]
    told = ask(
        "decisions-pulse.answered",
        ("decisions-pulse.n", 3),
        ("decisions-pin.data", pin),
        ("decisions-address.data", ""),
    )
    assert told["decisions-refresh"] == {"children": "1 new decision", "hidden": False}
    assert told["decisions-pulse"] == {"answered": 3}
    assert show(ask)["decisions-count"]["children"] == "2 decisions in the last 15 min"


def test_a_custom_range_has_no_later_decisions(ask: Ask, send: Any) -> None:
    """A range with a fixed end does not offer what lies after it."""
    decide(send, age_s=60)
    search = "?from=2027-01-15T07:55:00Z&to=2027-01-15T07:59:30Z"
    pin = show(ask, search)["decisions-pin"]["data"]
    told = ask(
        "decisions-pulse.answered",
        ("decisions-pulse.n", 1),
        ("decisions-pin.data", pin),
        ("decisions-address.data", search),
    )
    assert told["decisions-refresh"]["hidden"] is True


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("?node=a", ["a"]),
        ("?weight_min=0.6", ["b"]),
        ("?weight_max=0.6", ["a"]),
        ("?confidence_min=0.5", ["b"]),
        ("?outcome=error", ["b"]),
        ("?text=A", ["a"]),
        ("?service=my-router", ["b", "a"]),
        ("?policy=other", []),
    ],
)
def test_every_filter_of_the_address_is_asked(ask: Ask, send: Any, search: str, found: list[str]) -> None:
    """Each key of the address narrows the rows."""
    decide(send, "a", 0.5, age_s=3, confidence=0.2, **{"decision.outcome": "ok"})
    decide(send, "b", 0.9, age_s=2, confidence=0.8, **{"decision.outcome": "error"})
    pin = show(ask, search)["decisions-pin"]["data"]
    assert [row["node"] for row in block(ask, pin, search=search)] == found


def test_a_long_list_says_where_it_ends(ask: Ask, send: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the cap the count says over, and a note tells how to reach older rows."""
    monkeypatch.setattr(decisions, "MOST", 2)
    for k in range(3):
        decide(send, f"n{k}", age_s=5 - k)
    shown = show(ask)
    assert shown["decisions-count"]["children"] == "Over 2 decisions in the last 15 min"
    assert "reaches down to the newest 2" in json.dumps(shown["decisions-body"])


def test_hostile_names_stay_plain_cut_text(ask: Ask, send: Any) -> None:
    """A name with markup and a bidirectional mark arrives as text, with the mark made visible."""
    decide(send, HOSTILE, **{"decision.strategy": "<b>x</b>"})
    row = block(ask, show(ask)["decisions-pin"]["data"])[0]
    assert row["node"].startswith("<img src=x onerror=alert(1)>\N{REPLACEMENT CHARACTER}xxx")
    assert len(row["node"]) <= 600
    assert "\u202e" not in json.dumps(row)


def test_requests_out_of_order_are_answered_with_nothing(ask: Ask) -> None:
    """A request before the list is pinned, as on a quick change of filters, leaves the grid as it is."""
    answer = ask(
        "decisions-grid.getRowsResponse", ("decisions-grid.getRowsRequest", {"startRow": 0, "endRow": 9})
    )
    assert answer == {}


def test_the_menus_offer_what_the_range_holds(ask: Ask, send: Any) -> None:
    """Policies and nodes come from the store; the value in the address stays even when the range lacks it."""
    decide(send, "gpu-7")
    menus = ask("decisions-policy.data", ("decisions-address.data", "?node=gone"))
    assert [item["value"] for item in menus["decisions-policy"]["data"]] == ["p"]
    assert [item["value"] for item in menus["decisions-node"]["data"]] == ["gone", "gpu-7"]


def told(reader: Reader, search: str, text: Callable[[Any], str]) -> str:
    filters = parse(search)
    return text(draw(filters, explain(reader, filters, NOW)))


def test_an_empty_store_points_to_the_set_up(reader: Reader, text: Callable[[Any], str]) -> None:
    """Before anything has arrived no filter is to blame."""
    said = told(reader, "?node=a", text)
    assert "No decision has arrived yet" in said
    assert "Set up a source" in said


def test_the_filter_that_removes_everything_is_named(
    reader: Reader, send: Any, text: Callable[[Any], str]
) -> None:
    """Of several filters the guilty one is named, with what dropping it leaves."""
    decide(send, "a", 0.9)
    said = told(reader, "?node=a&weight_max=0.1", text)
    assert "The filter on weight removes every decision" in said
    assert "Drop weight ≤ 0.1 leaves 1" in said
    assert "Drop node" not in said


def test_filters_that_only_together_remove_everything_are_dropped_together(
    reader: Reader, send: Any, text: Callable[[Any], str]
) -> None:
    """When no single filter is to blame, all of them are offered to be dropped."""
    decide(send, "a", 0.9)
    said = told(reader, "?node=b&weight_max=0.1", text)
    assert "The filters together leave no decision" in said
    assert "Drop all filters leaves 1" in said


def test_a_range_too_short_offers_the_one_that_reaches(
    reader: Reader, send: Any, text: Callable[[Any], str]
) -> None:
    """When the decisions are older than the range, the shortest range that reaches them is offered."""
    decide(send, "a", age_s=2 * 3_600)
    said = told(reader, "", text)
    assert "No decisions in the last 15 min" in said
    assert "The newest one that fits is from 2027-01-15 06:00:00 UTC." in said
    assert "Show the last 6 h" in said


def test_a_store_that_cannot_answer_says_what_still_works(ask: Ask, send: Any, database: Database) -> None:
    """A failing read becomes the error state with a retry and a narrower question, not a broken page."""
    decide(send)
    pin = show(ask)["decisions-pin"]["data"]
    with sqlite3.connect(database.path) as raw:
        raw.execute("ALTER TABLE decision RENAME TO lost")
    shown = show(ask, "?range=6h")
    said = json.dumps(shown["decisions-body"])
    assert "The list of decisions could not be read" in said
    assert "Narrow to 15 min" in said
    assert shown["decisions-pin"]["data"] is None
    rows = ask(
        "decisions-grid.getRowsResponse",
        ("decisions-grid.getRowsRequest", {"startRow": 0, "endRow": 9}),
        ("decisions-address.data", ""),
        ("decisions-pin.data", pin),
    )
    assert "could not be read" in json.dumps(rows["decisions-body"])


def test_the_layout_shows_the_filters_of_the_address(reader: Reader, text: Callable[[Any], str]) -> None:
    """Chips and inputs stand as the address says, so that a link shows what was seen."""
    page = _page(reader)
    tree = page.layout(Visit(NOW, {}, {"policy": "p", "confidence_max": "0.7", "junk": "1"}))
    said = text(tree)
    assert "policy = p" in said
    assert "confidence ≤ 0.7" in said
    assert "Clear all" in said
    assert "junk" not in said
    assert "Clear all" not in text(page.layout(Visit(NOW, {}, {})))


def _page(reader: Reader) -> Page:
    app = Dash("layout", server=FastAPI(), requests_pathname_prefix="/ui/", routes_pathname_prefix="/ui/")
    return decisions.register(app, reader)


def test_no_callback_blocks_the_event_loop(reader: Reader) -> None:
    """Every server callback of the page is a coroutine, so that the live feed goes on meanwhile."""
    app = Dash("async", server=FastAPI(), requests_pathname_prefix="/ui/", routes_pathname_prefix="/ui/")
    decisions.register(app, reader)
    kept = [spec["callback"] for spec in app.callback_map.values() if "callback" in spec]
    assert kept
    assert all(asyncio.iscoroutinefunction(function) for function in kept)


def test_a_default_filter_is_an_empty_address() -> None:
    """The plain list has a plain address."""
    assert decisions.panel.address(Filters()) == "/ui/decisions"
