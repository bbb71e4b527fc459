"""A real Chromium for tests: how to launch it, and a window that notes what must never happen in it."""

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Playwright

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
PATIENCE_MS = 20_000
SHOTS = Path(__file__).parents[2] / "artifacts" / "browser"


def launch_chromium(playwright: Playwright) -> Browser:
    """The Chromium that tests/browser/ensure_browser.py finds or brings."""
    where = Path(__file__).parents[1] / "browser" / "ensure_browser.py"
    spec = importlib.util.spec_from_file_location("ensure_browser", where)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return playwright.chromium.launch(executable_path=module.find_browser(), args=FLAGS)


@dataclass
class Window:
    """One browser window and what it noted: console errors and warnings, and every address asked for."""

    page: Page
    faults: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def shoot(self, name: str) -> None:
        """Keep a picture of what a person sees under artifacts/browser/."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png")

    def hosts(self) -> set[str]:
        """Hosts with ports that were asked for something, pictures written into the page not counted."""
        addresses = [urlsplit(url) for url in self.asked]
        return {address.netloc for address in addresses if address.scheme not in ("data", "blob")}


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """A dark window of 1440 by 900 without motion, unless ``options`` say otherwise."""
    settings = {
        "viewport": {"width": 1440, "height": 900},
        "reduced_motion": "reduce",
        "color_scheme": "dark",
        **options,
    }
    return browser.new_context(**settings)


def open_window(context: BrowserContext) -> Window:
    """A new page that notes its faults and whom it asks."""
    window = Window(context.new_page())

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            window.faults.append(f"{message.type}: {message.text} at {message.location.get('url')}")

    def alerted(dialog: Dialog) -> None:
        window.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page = window.page
    page.set_default_timeout(PATIENCE_MS)
    page.on("console", note)
    page.on("dialog", alerted)
    page.on("pageerror", lambda error: window.faults.append(f"exception: {error}"))
    page.on("request", lambda request: window.asked.append(request.url))
    page.on("websocket", lambda socket: window.asked.append(socket.url))
    return window
