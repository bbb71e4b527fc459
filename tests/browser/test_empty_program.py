"""What a program says before anything has arrived, and how the first decision changes it."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from chromium import Window
from playwright.sync_api import expect
from running import Running, await_ready, end, launch

pytestmark = pytest.mark.browser

EMPTY = {
    "live": "No decisions yet",
    "decisions": "No decision has arrived yet",
    "experiments": "No experiment yet",
    "alerts": "Nothing has drifted",
    "health": "No source has sent a span yet",
    "setup": "No decisions yet",
}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A program that nobody sends anything, until the last test of this file does."""
    folder = tmp_path_factory.mktemp("empty")
    running = launch(folder)
    yield await_ready(running, folder)
    end(running)


@pytest.mark.parametrize("place", EMPTY)
def test_every_page_has_its_way_of_being_empty(empty: Running, window: Window, place: str) -> None:
    """No page of an empty program is blank: each says what is missing."""
    page = window.page
    page.goto(f"{empty.web}/ui/{place}")
    expect(page.get_by_role("heading", name=EMPTY[place])).to_be_visible()
    window.shoot(f"empty-{place}")


def test_the_front_door_of_an_empty_program_is_the_set_up(empty: Running, window: Window) -> None:
    """Who opens the address for the first time sees what to do."""
    page = window.page
    page.goto(empty.web)
    expect(page.locator(".rail a[aria-current=page]")).to_have_text("Set up")
    expect(page.locator("#setup-listening")).to_contain_text("waiting for the first span")


def test_every_sender_has_a_snippet_with_the_real_address(empty: Running, window: Window) -> None:
    """Each tab shows text that names this program's own port."""
    page = window.page
    page.goto(f"{empty.web}/ui/setup")
    tabs = page.get_by_role("navigation", name="Sender").get_by_role("link")
    expect(tabs).to_have_count(5)
    ports = "|".join(empty.addresses[name].rpartition(":")[2] for name in ("otlp-grpc", "otlp-http"))
    for name in tabs.all_inner_texts():
        page.get_by_role("navigation", name="Sender").get_by_role("link", name=name).click()
        expect(page.get_by_role("navigation", name="Sender").locator("[aria-current=page]")).to_have_text(
            name
        )
        expect(page.locator("pre.code-block")).to_contain_text(re.compile(f":({ports})"))


def test_the_pasted_snippet_makes_the_first_decision_appear(empty: Running, window: Window) -> None:
    """Copied by its button and run as it is, the snippet reaches the program; the page says so by itself."""
    page = window.page
    page.goto(f"{empty.web}/ui/setup")
    expect(page.locator("pre.code-block")).to_contain_text(empty.addresses["otlp-grpc"])
    page.get_by_role("button", name="Copy the Python snippet").click()
    expect(page.locator("#wb-toast")).to_have_text("Copied")
    code = page.evaluate("navigator.clipboard.readText()")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env=environment)
    expect(page.locator("#setup-lead h2")).to_have_text("Receiving")
    expect(page.locator("#setup-steps .step").nth(1)).to_contain_text("1")
    expect(page.locator("#setup-listening")).to_contain_text("my-router")
    window.shoot("setup-received")
    page.get_by_role("link", name="Open the live view").click()
    page.wait_for_selector('[data-live-root][data-state="live"]')
    expect(page.locator('[data-live="table"] tbody tr')).to_have_count(2)
    page.goto(f"{empty.web}/ui/decisions")
    expect(page.locator("#decisions-grid .ag-row [col-id=node]")).to_have_text(["gpu-a100-05"])
