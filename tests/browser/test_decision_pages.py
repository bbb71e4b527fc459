"""The list of decisions and one decision, on what a running demo sends."""

import re

import pytest
from chromium import Window
from playwright.sync_api import Locator, Page, expect
from running import Running

pytestmark = pytest.mark.browser

NODE = re.compile(r"gpu-\w+-\d\d")


def cell(page: Page, index: int, column: str = "node") -> Locator:
    return page.locator(f"#decisions-grid .ag-row[row-index='{index}'] [col-id={column}]")


def test_the_list_shows_what_was_decided_and_says_when_more_came(demo: Running, window: Window) -> None:
    """Rows carry node, policy, weight and service; later decisions wait for the button."""
    page = window.page
    page.goto(f"{demo.web}/ui/decisions")
    expect(cell(page, 0)).to_have_text(NODE)
    expect(cell(page, 0, "weight")).to_have_text(re.compile(r"0\.\d+|1"))
    expect(cell(page, 0, "service")).to_have_text("llm-gateway")
    expect(page.locator("#decisions-count")).to_contain_text("decisions in the last 15 min")
    before = cell(page, 0, "trace").inner_text()
    button = page.locator("#decisions-refresh")
    expect(button).to_contain_text("new decision")
    assert cell(page, 0, "trace").inner_text() == before
    window.shoot("decisions")
    button.click()
    expect(cell(page, 0, "trace")).not_to_have_text(before)


def test_a_node_chosen_in_the_panel_goes_into_the_address_and_comes_back_from_it(
    demo: Running, window: Window
) -> None:
    """The filter holds for every row, a fresh visit of the address shows the same, the cross drops it."""
    page = window.page
    page.goto(f"{demo.web}/ui/decisions")
    expect(cell(page, 0)).to_have_text(NODE)
    name = cell(page, 0).inner_text()
    page.locator("#decisions-node").click()
    page.get_by_role("option", name=name, exact=True).click()
    page.wait_for_url(f"**/decisions?node={name}")
    expect(page.locator(".chip")).to_contain_text([name])
    expect(cell(page, 0)).to_have_text(name)
    shown = page.locator("#decisions-grid .ag-center-cols-container [col-id=node]").all_inner_texts()
    assert set(filter(None, shown)) == {name}
    page.reload()
    expect(page.locator("#decisions-node")).to_have_value(name)
    expect(cell(page, 0)).to_have_text(name)
    page.locator(".chip .drop").click()
    page.wait_for_url("**/decisions")
    expect(page.locator(".chip")).to_have_count(0)


def test_scrolling_fetches_the_next_rows(demo: Running, window: Window) -> None:
    """Rows beyond the first hundred come as they are scrolled to."""
    page = window.page
    page.goto(f"{demo.web}/ui/decisions")
    expect(cell(page, 0)).to_have_text(NODE)
    page.locator("#decisions-grid .ag-center-cols-viewport").hover()
    while not page.evaluate("window.dash_ag_grid.getApi('decisions-grid').getFirstDisplayedRowIndex() > 110"):
        page.mouse.wheel(0, 800)
        page.wait_for_timeout(30)
    first = page.evaluate("window.dash_ag_grid.getApi('decisions-grid').getFirstDisplayedRowIndex()")
    expect(cell(page, first + 3)).to_have_text(NODE)


def test_a_filter_that_fits_nothing_offers_to_be_dropped(demo: Running, window: Window) -> None:
    """The empty list names the filter that empties it and how many decisions come back without it."""
    page = window.page
    page.goto(f"{demo.web}/ui/decisions?policy=llm-cost-aware&node=gpu-nowhere")
    expect(page.locator(".state h2")).to_have_text("The filter on node removes every decision")
    window.shoot("decisions-none")
    way = page.get_by_role("link", name=re.compile(r"^Drop node gpu-nowhere"))
    expect(way).to_contain_text("leaves")
    way.click()
    page.wait_for_url("**/decisions?policy=llm-cost-aware")
    expect(cell(page, 0)).to_have_text(NODE)


def test_a_decision_explains_itself(demo: Running, window: Window) -> None:
    """Verdict, the candidates best first, the funnel, and the trace with the decision's own row lit."""
    page = window.page
    page.goto(f"{demo.web}/ui/decisions?outcome=ok")
    expect(cell(page, 2)).to_have_text(NODE)
    name = cell(page, 2).inner_text()
    cell(page, 2).click()
    page.wait_for_url(re.compile(r"/decisions/[0-9a-f]{32}/[0-9a-f]{16}\?outcome=ok$"))
    expect(page.locator(".hero h2")).to_contain_text(name)
    expect(page.locator(".hero h2")).to_contain_text(re.compile("won by|was picked|was the only"))
    candidates = page.locator(".cand-list tbody tr")
    assert candidates.count() >= 5
    expect(page.locator(".cand-list tr.win")).to_contain_text(name)
    scores = [float(text) for text in candidates.locator("td:nth-child(4)").all_inner_texts()]
    assert scores == sorted(scores, reverse=True)
    expect(page.locator(".wf .lit")).to_contain_text(f"chose {name}")
    spans = page.locator(".wf .r:not(.ax)")
    assert spans.count() >= 3
    expect(spans.filter(has_text=f"upstream {name}")).to_have_count(1)
    expect(page.locator(".tiles.facts")).to_contain_text("Outcome")
    window.shoot("decision")
    page.locator("#decision-list").click()
    page.wait_for_url("**/decisions?outcome=ok")


def test_an_address_that_names_no_decision_says_so(demo: Running, window: Window) -> None:
    """A cut link and an unknown id each have their sentence and a way on."""
    page = window.page
    page.goto(f"{demo.web}/ui/decisions/abc/def")
    expect(page.locator(".state h2")).to_have_text("This address names no decision")
    page.goto(f"{demo.web}/ui/decisions/{'ab' * 16}/{'cd' * 8}")
    expect(page.locator(".state h2")).to_have_text("This decision is not in the store")
    window.shoot("decision-unknown")
