"""The live page of a running demo: what is painted, what moves, what pointer and keys do."""

import re

import pytest
from chromium import Window
from playwright.sync_api import expect
from running import Running, wait_until
from watching import COLOURS, open_live, part, until

pytestmark = pytest.mark.browser

NODES = re.compile(r"of 1[456]\b")  # one or two may be down from the start


def figure(page, name):
    """The number in a tile, None while it shows a dash."""
    found = re.match(r"[\d,.]+", part(page, name).inner_text())
    return float(found[0].replace(",", "")) if found else None


def test_weights_are_painted_and_go_on_changing(demo: Running, window: Window) -> None:
    """The canvas has many colours, the pixels and the table move on, five frames come a second."""
    page = window.page
    open_live(page, demo.web, frames=30)
    rows = part(page, "table").locator("tbody tr")
    expect(rows.first).to_contain_text(re.compile(r"gpu-\w+-\d\d"))
    assert len(page.evaluate(COLOURS)) > 20
    text, pixels = rows.all_inner_texts(), part(page, "map").evaluate("c => c.toDataURL()")
    until(page, f"document.querySelector('[data-live=table] tbody').innerText !== {chr(10).join(text)!r}", 10)
    assert part(page, "map").evaluate("c => c.toDataURL()") != pixels
    expect(part(page, "rate-note")).to_contain_text("none sampled away")
    expect(part(page, "nodes-note")).to_contain_text(NODES)
    assert rows.count() in (14, 15, 16)
    until(page, "parseFloat(document.querySelector('[data-live=frames]').innerText) >= 4.4")
    assert 4.4 <= figure(page, "frames") <= 5.6
    until(page, "parseFloat(document.querySelector('[data-live=rate]').innerText) > 1")
    assert figure(page, "lag") > 0
    window.shoot("live")


def test_the_first_second_shows_no_figure_that_is_not_one(demo: Running, window: Window) -> None:
    """Frames a second are about five from the first time they are told, never a count of too few."""
    page = window.page
    page.goto(f"{demo.web}/ui/live")
    page.wait_for_selector('[data-live-root][data-state="live"]')
    until(page, "/\\d/.test(document.querySelector('[data-live=frames]').innerText)")
    assert 3 <= figure(page, "frames") <= 8


def test_the_row_under_the_pointer_is_told_and_a_click_opens_its_decisions(
    demo: Running, window: Window
) -> None:
    """The hint names node, weight and age; the list that opens holds that node alone."""
    page = window.page
    open_live(page, demo.web, "?policy=llm-cost-aware")
    decided = wait_until(lambda: demo.get("/api/v1/decisions", policy="llm-cost-aware", limit=1)["items"])
    name = decided[0]["node"]
    tip = page.locator(".tip", has_text="weight")
    for y in range(6, part(page, "map").evaluate("c => c.clientHeight"), 10):
        spot = {"x": 670, "y": y}  # about a second ago
        part(page, "over").hover(position=spot)
        if name in tip.inner_text():
            break
    expect(tip).to_contain_text(re.compile(r"weight\s*0\.\d{3}"))
    expect(tip).to_contain_text("age")
    expect(part(page, "node").locator("h2")).to_have_text(name)
    window.shoot("live-hover")
    part(page, "over").click(position=spot)
    page.wait_for_url(lambda url: "/ui/decisions?" in url and f"node={name}" in url)
    expect(page.locator(".chip", has_text=name)).to_be_visible()
    first = page.locator("#decisions-grid .ag-row[row-index='0'] [col-id=node]")
    expect(first).to_have_text(name)
    assert page.locator(".tip:visible").count() == 0


def test_space_freezes_while_recording_goes_on(demo: Running, window: Window) -> None:
    """Frozen, the picture stands still and says for how long; Space thaws it."""
    page = window.page
    open_live(page, demo.web)
    page.keyboard.press("Space")
    banner = part(page, "banner")
    expect(banner).to_contain_text("Frozen at")
    expect(page.locator("#wb-freeze")).to_have_attribute("aria-pressed", "true")
    drawn = part(page, "map").evaluate("c => c.toDataURL()")
    seen = page.evaluate("window.__weighbridgeLive.frames")
    until(page, f"window.__weighbridgeLive.frames > {seen + 5}")
    assert part(page, "map").evaluate("c => c.toDataURL()") == drawn
    expect(banner).to_contain_text("frames ahead of this one")
    window.shoot("live-frozen")
    page.keyboard.press("Space")
    expect(banner).not_to_contain_text("Frozen")
    until(page, f"window.__weighbridgeLive.frames > {seen + 8}")
    assert part(page, "map").evaluate("c => c.toDataURL()") != drawn


def test_the_palette_changes_the_colours_and_stays_in_the_address(demo: Running, window: Window) -> None:
    """The colour-blind safe palette is painted at once and survives a reload."""
    page = window.page
    open_live(page, demo.web)
    standard = set(page.evaluate(COLOURS))
    page.get_by_role("button", name="Colour-blind safe").click()
    page.wait_for_url(lambda url: "palette=safe" in url)
    until(page, f"({COLOURS})().filter(c => !{sorted(standard)}.includes(c)).length > 10")
    window.shoot("live-safe")
    page.reload()
    page.wait_for_selector('[data-live-root][data-state="live"]')
    expect(page.get_by_role("button", name="Colour-blind safe")).to_have_attribute("aria-pressed", "true")


def test_another_policy_is_shown_from_the_menu(demo: Running, window: Window) -> None:
    """The demo runs two policies; choosing the other one asks the feed for it."""
    page = window.page
    open_live(page, demo.web)
    menu = part(page, "policy")
    policies = menu.locator("option").evaluate_all("options => options.map(o => o.value).filter(Boolean)")
    assert len(policies) == 2
    other = next(name for name in policies if name != menu.input_value())
    menu.select_option(other)
    page.wait_for_url(lambda url: f"policy={other}" in url)
    page.wait_for_selector('[data-live-root][data-state="live"]')
    expect(part(page, "nodes-note")).to_contain_text(NODES)
