"""What a viewer sees when senders hang, the dashboard crashes, or the whole program is gone."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Window
from playwright.sync_api import expect
from running import Running, await_ready, end, launch
from watching import open_live, part

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def doomed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A demo that is harmed more in every test; the last one leaves nothing of it."""
    folder = tmp_path_factory.mktemp("doomed")
    running = launch(folder, "demo", "--nodes", "8", "--rate", "30")
    yield await_ready(running, folder)
    for pid in running.children() if running.process.poll() is None else ():
        os.kill(pid, signal.SIGCONT)
    end(running)


def child(running: Running, command: str) -> int:
    """Process id of the child that runs a command."""
    lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") for pid in running.children()}
    return next(pid for pid, line in lines.items() if command.encode() in line)


def test_a_sender_that_hangs_turns_every_node_stale_and_back(doomed: Running, window: Window) -> None:
    """The feed goes on and says since when no decision came; decisions bring the view back."""
    page = window.page
    open_live(page, doomed.web)
    sender = child(doomed, "simulate-cluster")
    os.kill(sender, signal.SIGSTOP)
    banner = part(page, "banner")
    expect(banner).to_contain_text("nodes stale since")
    expect(banner).to_contain_text("no node is fresh, though the feed works")
    expect(part(page, "findings")).to_contain_text("nodes are stale")
    window.shoot("live-nodes-stale")
    os.kill(sender, signal.SIGCONT)
    expect(banner).not_to_contain_text("no node is fresh")


def test_a_killed_dashboard_looks_stale_and_comes_back(doomed: Running, careless: Window) -> None:
    """SIGKILL to the server: the open page says so at once and is live again without a reload."""
    page = careless.page
    open_live(page, doomed.web)
    page.evaluate("window.sameDocument = true")
    os.kill(child(doomed, "serve"), signal.SIGKILL)
    root = page.locator("[data-live-root]")
    expect(root).to_have_attribute("data-state", "stale")
    expect(part(page, "banner")).to_contain_text("Stale since")
    expect(root).to_have_attribute("data-state", "live", timeout=60_000)
    expect(part(page, "frames-note")).not_to_have_text("0 missed in 10 min")
    assert page.evaluate("window.sameDocument")
    expect(page.locator("#wb-gone")).to_be_hidden()


def test_a_page_asked_for_while_the_dashboard_is_away_comes_when_it_is_back(
    doomed: Running, careless: Window
) -> None:
    """The click is not lost: the page says that nothing answers, and shows the list once something does."""
    page = careless.page
    page.goto(f"{doomed.web}/ui/health")
    page.wait_for_selector("table.src tbody tr")
    server = child(doomed, "serve")
    os.kill(server, signal.SIGKILL)
    page.locator('.rail a[data-key="d"]').click()
    expect(page.locator("#wb-gone")).to_contain_text("The dashboard does not answer")
    expect(page.locator("#decisions-grid .ag-row[row-index='0'] [col-id=node]")).to_contain_text(
        "gpu-", timeout=60_000
    )
    expect(page.locator("#wb-gone")).to_be_hidden()


def test_a_dead_program_is_not_shown_as_if_it_lived(doomed: Running, careless: Window) -> None:
    """SIGKILL to everything: no figure passes for new, and other pages say that nothing answers."""
    page = careless.page
    open_live(page, doomed.web)
    drawn = part(page, "map").evaluate("c => c.toDataURL()")
    doomed.kill_all()
    banner = part(page, "banner")
    expect(banner).to_contain_text("Stale since")
    expect(banner).to_contain_text("No frame from the server")
    expect(page.locator("#wb-live .word")).to_contain_text("Stale")
    for tile in ("rate", "lag", "nodes", "oldest"):
        expect(part(page, tile)).to_have_text("–")
        expect(part(page, f"{tile}-note")).to_contain_text("was")
    expect(part(page, "frames")).to_contain_text("0.0")
    assert part(page, "map").evaluate("c => c.toDataURL()") != drawn
    careless.shoot("live-dead")
    page.locator('.rail a[data-key="d"]').click()
    gone = page.locator("#wb-gone")
    expect(gone).to_contain_text("The dashboard does not answer")
    careless.shoot("dead-decisions")
