"""The application around the pages: routes, headers, router, addresses."""

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from fastapi.testclient import TestClient

from dashboard.app import build_app
from dashboard.config import DashboardConfig
from dashboard.page import NavEntry, Page, Visit
from dashboard.shell.bar import address
from dashboard.shell.router import Site, firing_alerts, landing, parse_query, show
from dashboard.state import read
from storage.errors import StoreUnavailableError
from storage.queries import Reader

NOW = 1_800_000_000_000_000_000
PAGES = ("live", "decisions", "experiments", "alerts", "health", "setup")


def now() -> int:
    return NOW


def ask(client: TestClient, path: str, search: str = "") -> dict[str, Any]:
    """What the router's callback answers a browser at an address."""
    outputs = [("main", "children"), ("wb-bar", "children"), ("wb-rail", "children"), ("wb-page", "data")]
    body = {
        "output": "...".join(f"{i}.{p}" for i, p in outputs).join(("..", "..")),
        "outputs": [{"id": i, "property": p} for i, p in outputs],
        "inputs": [
            {"id": "wb-url", "property": "pathname", "value": path},
            {"id": "wb-url", "property": "search", "value": search},
        ],
        "changedPropIds": ["wb-url.pathname"],
    }
    answer = client.post("/ui/_dash-update-component", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["response"]


def test_the_root_leads_to_the_pages(client: TestClient) -> None:
    """``/`` and ``/ui`` redirect to ``/ui/``."""
    for path in ("/", "/ui"):
        answer = client.get(path, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (307, "/ui/")


def test_a_first_visit_to_any_page_gets_styles_and_scripts(reader: Reader) -> None:
    """The very first request may be a deep link; it must not come without assets."""
    with TestClient(build_app(DashboardConfig(), reader, clock=now, version="1")) as client:
        html = client.get("/ui/decisions/00/11").text
    for asset in ("tokens.css", "components.css", "shell.css", "shell.js", "parts.js", "theme.js"):
        assert f"/ui/assets/{asset}" in html
    assert html.index("theme.js") < html.index("tokens.css"), "the theme is set before the first paint"
    assert html.count("theme.js") == 1


def test_every_script_style_and_font_comes_from_here(client: TestClient) -> None:
    """No request leaves the machine: each address in the page is our own and answers."""
    html = client.get("/ui/").text
    addresses = re.findall(r'(?:src|href)="([^"]+)"', html)
    assert len(addresses) > 15
    for found in addresses:
        assert found.startswith("/ui/"), found
        assert client.get(found).status_code == 200, found
    assert client.get("/ui/assets/fonts/inter-latin-var.woff2").status_code == 200


def test_the_page_may_run_and_fetch_only_what_is_ours(client: TestClient) -> None:
    """The content policy allows no foreign address and no inline script but the hashed ones."""
    headers = client.get("/ui/health").headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert policy["connect-src"] == "'self'"
    assert "unsafe" not in policy["script-src"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_larger_than_any_page_sends_is_not_taken_in(client: TestClient, declared: bool) -> None:
    """Told by its length or only by what comes; a callback would hold all of it in memory."""
    body = b"x" * (5 * 2**20)
    content = body if declared else (body[k : k + 2**16] for k in range(0, len(body), 2**16))
    answer = client.post("/ui/_dash-update-component", content=content)
    assert answer.status_code == 413
    assert answer.json()["title"] == "Too large"


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/v1/traces", "/favicon.ico", "/uix"])
def test_an_unknown_path_outside_the_pages_answers_json(client: TestClient, path: str) -> None:
    """Dash would answer 200 HTML to anything."""
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json()["status"] == 404


def test_two_applications_live_in_one_process(reader: Reader) -> None:
    """Nothing is kept at module level, so each application serves its own pages."""
    apps = [build_app(DashboardConfig(), reader, clock=now, version=v) for v in ("1.0.0", "2.0.0")]
    for app, version in zip(apps, ("1.0.0", "2.0.0"), strict=True):
        with TestClient(app) as client:
            assert f"theme.js?v={version}" in client.get("/ui/health").text


@pytest.mark.parametrize("name", PAGES)
def test_each_page_opens_on_an_empty_store(client: TestClient, name: str) -> None:
    """An empty store is the first thing everybody sees."""
    answer = ask(client, f"/ui/{name}")
    assert answer["wb-page"]["data"]["name"] == name
    assert "failed to draw" not in str(answer["main"])
    assert "cannot be shown" not in str(answer["main"])


@pytest.mark.parametrize(
    "search",
    [
        "?range=%00&from=NaN&to=1e999&service=%ff%fe&weight_min=abc&node=%3Cscript%3E",
        "?" + "x=1&" * 3_000,
        "?view=../../etc&alert=-1e400&lang=%E0%A4%A&cursor=zzz",
        "?from=2027-01-01&to=2026-01-01&service=" + "s" * 9_000,
    ],
)
@pytest.mark.parametrize("name", PAGES)
def test_a_hand_edited_address_never_breaks_a_page(client: TestClient, name: str, search: str) -> None:
    """Garbage in the query falls back to the defaults."""
    answer = ask(client, f"/ui/{name}", search)
    assert answer["wb-page"]["data"]["name"] == name
    assert "failed to draw" not in str(answer["main"])


def test_an_unknown_page_says_so_and_leads_home(client: TestClient) -> None:
    """The shell stays, so that one can go on."""
    answer = ask(client, "/ui/no/such/page")
    assert "There is no page here" in str(answer["main"])
    assert "/ui/no/such/page" in str(answer["main"])
    assert answer["wb-page"]["data"]["name"] is None


def test_the_scope_is_carried_to_every_page(client: TestClient) -> None:
    """A rail link keeps the service one looks at."""
    rail = str(ask(client, "/ui/decisions", "?service=gw-eu&node=x")["wb-rail"])
    assert "/ui/health?service=gw-eu" in rail
    assert "node=x" not in rail


async def test_an_empty_store_opens_set_up_and_a_filled_one_live(
    reader: Reader, send: Callable[..., None]
) -> None:
    """The first page answers the first question: is anything there."""
    site = Site((page_of("live"), page_of("setup")), reader, now)
    assert await landing(site) == "/setup"
    send({"decision.node": "a", "weight": 0.5})
    assert await landing(site) == "/live"


def page_of(name: str, layout: Callable[[Visit], Any] = lambda _: "drawn") -> Page:
    return Page(name, f"/{name}", name.capitalize(), layout, NavEntry(name, "live"))


async def test_a_store_that_is_away_becomes_an_error_with_a_retry(reader: Reader) -> None:
    """The person reads what failed, what still works and can try again; the rail still works."""

    def away(_visit: Visit) -> Any:
        raise StoreUnavailableError("database is locked")

    main, _, rail, _ = await show(Site((page_of("live", away),), reader, now), "/ui/live", "?range=1h")
    shown = str(main.to_plotly_json())
    assert "Live cannot be shown." in shown
    assert "database is locked" in str(main)
    assert "/ui/live?range=1h" in str(main)
    assert rail


async def test_a_page_that_fails_costs_only_itself(reader: Reader, caplog: pytest.LogCaptureFixture) -> None:
    """Its cause is in the log, not on the screen."""

    def broken(_visit: Visit) -> Any:
        raise RuntimeError("a secret detail")

    main, *_ = await show(Site((page_of("live", broken),), reader, now), "/ui/live", "")
    assert "failed to draw" in str(main)
    assert "a secret detail" not in str(main)
    assert "a secret detail" in caplog.text


async def test_a_read_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for ever, and the event loop is free meanwhile."""
    gate = asyncio.Event()
    loop = asyncio.get_running_loop()
    monkeypatch.setattr("dashboard.state.READ_LIMIT_S", 0.05)

    def slow() -> None:
        asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(10)

    with pytest.raises(StoreUnavailableError, match="did not answer"):
        await read(slow)
    gate.set()


async def test_no_alert_fires_in_an_empty_store(reader: Reader) -> None:
    """The badge of the rail is empty."""
    assert await firing_alerts(reader) == 0


def test_a_path_is_matched_with_its_named_parts() -> None:
    """Named parts hold anything but a slash; a missing one is no match."""
    page = Page("decision", "/decisions/{trace_id}/{span_id}", "Decision", lambda _: "")
    assert page.match("/decisions/aa/bb") == {"trace_id": "aa", "span_id": "bb"}
    assert page.match("/decisions/aa") is None
    assert page.match("/decisions//bb") is None
    assert page.match("/alerts/aa/bb") is None


@pytest.mark.parametrize(
    ("query", "seconds", "name"),
    [
        ({}, 900, "15m"),
        ({"range": "1h"}, 3_600, "1h"),
        ({"range": "eternity"}, 900, "15m"),
        ({"from": "2027-01-15T07:00:00Z", "to": "2027-01-15T08:00:00Z"}, 3_600, None),
        ({"from": "2027-01-15T08:00:00Z", "to": "2027-01-15T07:00:00Z"}, 900, "15m"),
        ({"from": "NaN", "to": "1e999", "range": "6h"}, 21_600, "6h"),
    ],
)
def test_the_time_range_is_relative_absolute_or_the_default(
    query: Mapping[str, str], seconds: int, name: str | None
) -> None:
    """An absolute range wins when it is one; all else falls back."""
    visit = Visit(NOW, query=query)
    assert visit.time.end_unix_nano - visit.time.start_unix_nano == seconds * 10**9
    assert visit.range_name == name


def test_values_of_an_address_are_made_safe() -> None:
    """Control characters, overlong text, numbers that are none or out of range are as if absent."""
    visit = Visit(NOW, query={"a": " x ", "b": "\x00", "c": "y" * 300, "n": "nan", "m": "7", "k": "0.5"})
    assert [visit.text(k) for k in "abcz"] == ["x", None, None, None]
    assert [visit.number(k, 0, 1) for k in "anmkz"] == [None, None, None, 0.5, None]
    assert visit.choice("a", ("p", "q"), "p") == "p"


def test_the_last_value_of_a_key_counts_and_garbage_is_left_out() -> None:
    """A query is never an error."""
    assert parse_query("?a=1&a=2&b=&%ff=x") == {"a": "2", "\ufffd": "x"}
    assert parse_query(None) == {}


def test_an_address_keeps_what_it_is_not_told_to_change() -> None:
    """Links of the bar change one thing at a time."""
    assert address("/live", {"a": "1", "range": "1h"}, range=None) == "/ui/live?a=1"
    assert address("/live", {"a": "1"}, a="x y&z") == "/ui/live?a=x+y%26z"
