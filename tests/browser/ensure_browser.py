"""Brings a Chromium for the browser tests when there is none, or says plainly what to install.

Run by `make test`. Order: the one named by the variable CHROMIUM, one on the PATH, Debian's package (as root),
Playwright's own download.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HELP = """No Chromium was found and none could be brought. Install one, then run `make test` again:
  Debian, Ubuntu:  apt-get install chromium
  Fedora:          dnf install chromium
  macOS:           brew install --cask chromium
  elsewhere:       .venv/bin/python -m playwright install chromium
or name one: make test CHROMIUM=/path/to/chromium"""


def find_browser() -> str | None:
    """Path of a Chromium that is installed, or None."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named if Path(named).exists() else None
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or _playwrights_own()


def _playwrights_own() -> str | None:
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def main() -> int:
    """0 when a browser is there at the end, else 1 with what to do."""
    if find_browser():
        return 0
    if shutil.which("apt-get") and os.geteuid() == 0:
        subprocess.run(["apt-get", "update", "-q"], check=False)
        subprocess.run(["apt-get", "install", "-y", "-q", "--no-install-recommends", "chromium"], check=False)
    if not find_browser():
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    if not find_browser():
        sys.stderr.write(HELP + "\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
