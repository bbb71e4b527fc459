"""The real program under a real Chromium: one demo with data, one empty program, windows that note faults."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from chromium import PATIENCE_MS, Window, launch_chromium, new_context, open_window
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright
from running import Running, await_ready, end, launch

SENSITIVE = """
[[alerts.rules]]
name = "weight-drift"
delta = 0.0
threshold = 1.0
min_samples = 10
min_change = 0.0

[[alerts.destinations]]
name = "on-call"
url = "http://127.0.0.1:{port}/hook"
allow_private = true
"""


class Hook(BaseHTTPRequestHandler):
    """A webhook receiver that takes everything."""

    def do_POST(self) -> None:  # the name http.server calls
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="session")
def hook() -> Iterator[int]:
    """Port of a webhook receiver."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Hook) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join(5)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory, hook: int) -> Iterator[Running]:
    """A demo of 16 nodes with a rule so sensitive that it soon fires; shared, so nobody disturbs it."""
    folder = tmp_path_factory.mktemp("demo")
    config = SENSITIVE.format(port=hook)
    running = launch(folder, "demo", "--nodes", "16", "--rate", "40", config=config)
    yield await_ready(running, folder)
    end(running)


# A module at a time: two synchronous Playwrights cannot live in one thread, and other folders have theirs.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        yield browser
        browser.close()
    expect.set_options(timeout=5_000)


@pytest.fixture(scope="module")
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """One profile for the windows of a module, so that scripts are fetched and compiled once."""
    made = new_context(chromium)
    made.grant_permissions(["clipboard-read", "clipboard-write"])
    yield made
    made.close()


@pytest.fixture
def careless(context: BrowserContext) -> Iterator[Window]:
    """A window for tests that expect faults, such as of a server that is gone."""
    opened = open_window(context)
    yield opened
    opened.page.close()


@pytest.fixture
def window(context: BrowserContext) -> Iterator[Window]:
    """A window in which nothing may reach the console, and nobody but the program may be asked."""
    opened = open_window(context)
    yield opened
    opened.page.close()
    assert opened.faults == []
    assert len(opened.hosts()) == 1, opened.hosts()


@pytest.fixture(scope="module")
def small_context(chromium: Browser) -> Iterator[BrowserContext]:
    made = new_context(chromium, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    yield made
    made.close()


@pytest.fixture
def phone(small_context: BrowserContext) -> Iterator[Window]:
    """The same on a phone of 390 px."""
    opened = open_window(small_context)
    yield opened
    opened.page.close()
    assert opened.faults == []
    assert len(opened.hosts()) == 1, opened.hosts()
