"""What tests of the live page look at: its parts, its state, the colours on its canvas."""

import time
from typing import Any

from chromium import PATIENCE_MS
from playwright.sync_api import Locator, Page

COLOURS = """() => {
  const map = document.querySelector('[data-live=map]');
  const copy = new OffscreenCanvas(map.width, map.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(map, 0, 0);
  const { data } = copy.getImageData(0, 0, map.width, map.height);
  const seen = new Set();
  for (let k = 0; k < data.length; k += 4 * 37) if (data[k + 3]) seen.add(data[k] << 16 | data[k + 1] << 8 | data[k + 2]);
  return [...seen];
}"""
"""Distinct opaque colours among every 37th pixel of the heat map."""


def part(page: Page, name: str) -> Locator:
    """A part of the live page by its name."""
    return page.locator(f'[data-live="{name}"]')


def until(page: Page, expression: str, patience_s: float = PATIENCE_MS / 1e3) -> Any:
    """The first truthy value; asked from outside, since the page's policy forbids to evaluate text."""
    deadline = time.monotonic() + patience_s
    while not (value := page.evaluate(expression)):
        assert time.monotonic() < deadline, f"never: {expression}"
        page.wait_for_timeout(50)
    return value


def open_live(page: Page, web: str, query: str = "", frames: int = 10) -> None:
    """Open the live page and wait until so many frames were painted."""
    page.goto(f"{web}/ui/live{query}")
    page.wait_for_selector('[data-live-root][data-state="live"]')
    until(page, f"window.__weighbridgeLive.frames >= {frames}")
