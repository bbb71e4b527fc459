"""What a sender may write into names and attributes is shown as text and runs nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Window
from playwright.sync_api import Page, expect
from running import Running, await_ready, end, launch
from senders import exporter, send_decision
from watching import part

pytestmark = pytest.mark.browser

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror="alert(2)">'
MIRRORED = "gpu-\u202eevil\u2066\u200f שלום"
EMOJI = "👩‍🚀🏴‍☠️ node"
LONG = "x" * 4_096
NODES = (SCRIPT, IMAGE, MIRRORED, EMOJI, LONG)


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, tuple[str, str]]]:
    """A program that got one hostile decision from the official exporter, and that decision's ids."""
    folder = tmp_path_factory.mktemp("attacked")
    running = await_ready(launch(folder), folder)
    attributes = {
        "decision.node": SCRIPT,
        "weight": 0.9,
        "confidence": 0.5,
        "decision.policy.name": IMAGE,
        "decision.reason": f"{IMAGE}{LONG}",
        "decision.strategy": SCRIPT,
        "decision.candidates": list(NODES),
        "decision.candidate.weights": [0.9, 0.8, 0.7, 0.6, 0.5],
        "decision.candidate.scores": [0.9, 0.8, 0.7, 0.6, 0.5],
        "decision.filtered": [IMAGE, MIRRORED],
        "decision.filter.reasons": [SCRIPT, EMOJI],
        "tenant.id": LONG,
        "feature_flag.key": SCRIPT,
        "feature_flag.result.variant": IMAGE,
        SCRIPT: IMAGE,
        LONG: MIRRORED,
    }
    ids = send_decision(
        exporter("grpc", running.grpc, running.http), f"{EMOJI}{SCRIPT}", attributes, name=f"{IMAGE}{LONG}"
    )
    yield running, ids
    end(running)


def harmless(page: Page) -> None:
    """Nothing of the sender's became an element, and nothing runs over the side."""
    assert page.locator("main img, main iframe, main script, [onerror]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_hostile_decision_is_readable(attacked: tuple[Running, tuple[str, str]], window: Window) -> None:
    """Names are letters on the page, long ones are cut, and the page keeps its width."""
    running, (trace_id, span_id) = attacked
    page = window.page
    page.goto(f"{running.web}/ui/decisions/{trace_id}/{span_id}")
    expect(page.locator(".hero h2")).to_contain_text(SCRIPT)
    expect(page.locator(".cand-list tr")).to_have_count(1 + len(NODES))
    expect(page.locator(".cand-list tr.win")).to_contain_text(SCRIPT)
    expect(page.locator(".wf .lit")).to_contain_text("<img src=x")
    expect(page.locator(".attrs")).to_contain_text(SCRIPT)
    assert page.locator(".hero").bounding_box()["height"] < 400
    assert "\u202e" not in page.locator(".cand-list").inner_text()
    harmless(page)
    window.shoot("hostile-decision")


@pytest.mark.parametrize("place", ["decisions", "live", "experiments", "health", "setup"])
def test_every_page_takes_hostile_names(
    attacked: tuple[Running, tuple[str, str]], window: Window, place: str
) -> None:
    """The same names in the list, on the map, among experiments and sources."""
    running, _ = attacked
    page = window.page
    page.goto(f"{running.web}/ui/{place}")
    tells = {
        "decisions": page.locator("#decisions-grid .ag-row [col-id=node]", has_text=SCRIPT),
        "live": part(page, "table").locator("th", has_text=SCRIPT),
        "experiments": page.locator(".exl li", has_text=SCRIPT),
        "health": page.locator("table.src th", has_text=SCRIPT),
        "setup": page.locator("#setup-listening", has_text=SCRIPT),
    }
    expect(tells[place]).to_have_count(1)
    assert "\u202e" not in page.locator("#main").inner_text()
    harmless(page)
    window.shoot(f"hostile-{place}")


def test_a_hostile_address_is_only_text(attacked: tuple[Running, tuple[str, str]], window: Window) -> None:
    """Markup in path and query is repeated as text, if at all."""
    running, _ = attacked
    page = window.page
    for address in (
        "/ui/<script>alert(1)</script>",
        "/ui/decisions?node=<img src=x onerror=alert(1)>&range=<b>&weight_min=NaN",
        "/ui/live?policy=<script>alert(1)</script>&service=<img src=x onerror=alert(1)>&sort=%00",
        "/ui/experiments?key=<img src=x onerror=alert(1)>&split=<b>",
        "/ui/alerts?alert=99999999999999999999&view=<b>",
    ):
        page.goto(running.web + address)
        expect(page.locator("#main h2").first).to_be_visible()
        harmless(page)


def test_a_hostile_name_leads_from_the_map_to_its_decisions(
    attacked: tuple[Running, tuple[str, str]], window: Window, tmp_path: Path
) -> None:
    """The link carries the name as it is, so the list finds the decision."""
    running, _ = attacked
    page = window.page
    page.goto(f"{running.web}/ui/live")
    row = part(page, "table").locator("tbody tr", has_text=SCRIPT)
    expect(row).to_have_count(1)
    page.evaluate("name => weighbridge.navigate('/ui/live?node=' + encodeURIComponent(name))", SCRIPT)
    expect(part(page, "node").locator("h2")).to_have_text(SCRIPT)
    part(page, "node").get_by_role("link", name="Decisions here").click()
    expect(page.locator("#decisions-grid .ag-row [col-id=node]")).to_have_text([SCRIPT])
