"""What stands around every page: themes, narrow screens, keys, addresses that lead nowhere."""

import re
import time

import pytest
from chromium import Window
from playwright.sync_api import Page, expect
from running import Running, wait_until
from watching import open_live

pytestmark = pytest.mark.browser

READY = {
    "live": '[data-live-root][data-state="live"]',
    "decisions": "#decisions-grid .ag-row[row-index='0'] [col-id=node]:not(:empty)",
    "experiments": ".fr .r",
    "alerts": ".tabs",
    "health": "table.src tbody tr",
    "setup": "pre.code-block",
}


def brightness(page: Page, selector: str, what: str) -> float:
    """Mean of red, green and blue of a colour, 0 to 255."""
    colour = page.locator(selector).first.evaluate(f"e => getComputedStyle(e).{what}")
    return sum(float(part) for part in re.findall(r"[\d.]+", colour)[:3]) / 3


def shows(page: Page, theme: str) -> bool:
    """Whether ground and ink have the theme's brightness; a page changes over within moments."""
    ground, ink = brightness(page, "body", "backgroundColor"), brightness(page, "h1", "color")
    return ground < 60 < 180 < ink if theme == "dark" else ink < 60 < 180 < ground


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_both_themes_reach_every_page(demo: Running, window: Window, theme: str) -> None:
    """The asked theme holds on the first page and stays while one walks on."""
    page = window.page
    page.goto(f"{demo.web}/ui/live?theme={theme}")
    for place, ready in READY.items():
        page.locator(f'.rail a[href^="/ui/{place}"]').click()
        page.wait_for_selector(ready)
        wait_until(lambda: shows(page, theme), what=f"{theme} colours on {place}")
        window.shoot(f"{theme}-{place}")


def test_the_theme_button_switches_and_is_remembered(demo: Running, window: Window) -> None:
    """One press turns the page over, a reload keeps it."""
    page = window.page
    page.goto(f"{demo.web}/ui/health?theme=dark")
    page.locator("#wb-theme").click()
    assert brightness(page, "body", "backgroundColor") > 180
    page.goto(f"{demo.web}/ui/setup")
    page.wait_for_selector(READY["setup"])
    assert brightness(page, "body", "backgroundColor") > 180


@pytest.mark.parametrize("place", READY)
def test_no_page_scrolls_sideways_on_a_phone(demo: Running, phone: Window, place: str) -> None:
    """At 390 px everything that must scroll does so in its own box."""
    page = phone.page
    page.goto(f"{demo.web}/ui/{place}")
    page.wait_for_selector(READY[place])
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    phone.shoot(f"phone-{place}")
    if place == "decisions":
        page.locator("#decisions-grid .ag-row[row-index='0'] [col-id=node]").tap()
        page.wait_for_selector(".wf .lit")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        phone.shoot("phone-decision")


def test_an_address_without_a_page_says_so(demo: Running, window: Window) -> None:
    """The path is repeated, and a button leads to what there is."""
    page = window.page
    page.goto(f"{demo.web}/ui/nowhere/at-all")
    expect(page.get_by_role("heading", name="There is no page here")).to_be_visible()
    expect(page.locator("main")).to_contain_text("/ui/nowhere/at-all")
    expect(page.locator("h1")).to_have_text("Not found")
    window.shoot("not-found")
    page.get_by_role("link", name="Open the dashboard").click()
    page.wait_for_selector('[data-live-root][data-state="live"]')


def test_keys_lead_to_every_page(demo: Running, window: Window) -> None:
    """G and a letter, from anywhere, without loading the page anew."""
    page = window.page
    open_live(page, demo.web)
    page.evaluate("window.sameDocument = true")
    for key, place in (("d", "decisions"), ("e", "experiments"), ("a", "alerts"), ("h", "health")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(f"**/ui/{place}*")
        page.wait_for_selector(READY[place])
        expect(page.locator(".rail a[aria-current=page]")).to_have_attribute("data-key", key)
        assert page.title().endswith("Weighbridge")
    page.go_back()
    page.wait_for_selector(READY["alerts"])
    assert page.evaluate("window.sameDocument")


def test_leaving_live_closes_its_feed(demo: Running, window: Window) -> None:
    """Five visits leave no feed behind."""
    page = window.page
    open_live(page, demo.web)
    sockets = []
    page.on("websocket", lambda socket: sockets.append(socket))  # noqa: PLW0108  # a built-in method cannot be wrapped
    for _ in range(5):
        page.locator('.rail a[data-key="h"]').click()
        page.wait_for_selector(READY["health"])
        page.locator('.rail a[data-key="l"]').click()
        page.wait_for_selector(READY["live"])
    page.locator('.rail a[data-key="h"]').click()
    page.wait_for_selector(READY["health"])
    assert len(sockets) == 5
    deadline = time.monotonic() + 10
    while not all(socket.is_closed() for socket in sockets):
        assert time.monotonic() < deadline
        page.wait_for_timeout(50)


def test_a_link_that_was_copied_pins_the_range(demo: Running, window: Window) -> None:
    """S copies an address that shows the same decisions tomorrow."""
    page = window.page
    page.goto(f"{demo.web}/ui/decisions?policy=llm-cost-aware")
    page.wait_for_selector(READY["decisions"])
    page.locator("h1").click()
    page.keyboard.press("s")
    expect(page.locator("#wb-toast")).to_contain_text("copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert "policy=llm-cost-aware" in link
    assert "from=" in link
    assert "to=" in link
    page.goto(link)
    page.wait_for_selector(READY["decisions"])
