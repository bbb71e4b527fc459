"""The live page in a real Chromium, on a real store, fed through the real path."""

import asyncio
import base64
import importlib.util
import socket
import threading
import time
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
import uvicorn
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from playwright.sync_api import expect, sync_playwright

from collector.adapters.registry import adapt
from collector.decode import Encoding, decode_traces
from dashboard.api import Store, build_api
from dashboard.app import build_app
from dashboard.config import DashboardConfig
from dashboard.frames import FULL, Frame, encode
from dashboard.live import SERVER_OPTIONS, LiveHub, build_live_router
from storage.database import Database
from storage.migrate import upgrade
from storage.queries import Reader
from storage.records import AdaptedBatch
from storage.writer import Writer

pytestmark = pytest.mark.browser

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
NODES = tuple(f"gpu-{kind}-{k:02}" for kind in ("a10", "h100") for k in range(1, 5))
HOSTILE = "<img src=x onerror=\"document.body.dataset.owned='1'\">"


class Site:
    """The dashboard on a store of its own, served from a thread on a free port."""

    def __init__(self, folder):
        url = f"sqlite:///{folder / 'weighbridge.db'}"
        upgrade(url)
        self.database = Database(url)
        self.writer = Writer(self.database, time.time_ns)
        reader = Reader(self.database)
        self.hub = LiveHub(reader, time.time_ns)

        @asynccontextmanager
        async def lifespan(_app):
            self.loop = asyncio.get_running_loop()
            await self.hub.start()
            yield
            await self.hub.stop()

        api = build_api(reader, version="0", clock=time.time_ns, configuration={}, store=Store())
        app = build_app(
            DashboardConfig(),
            reader,
            clock=time.time_ns,
            version="0",
            routers=[api, build_live_router(self.hub)],
            lifespan=lifespan,
        )
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/ui/live"
        self.server = uvicorn.Server(uvicorn.Config(app, log_level="error", **SERVER_OPTIONS))
        self.thread = threading.Thread(
            target=self.server.run, kwargs={"sockets": [self.listener]}, daemon=True
        )
        self.thread.start()

    def decide(self, weights, policy="p", **scores):
        """One decision among ``weights`` (node to weight), sent as OTLP and stored."""
        names = list(weights)
        exporter = InMemorySpanExporter()
        provider = TracerProvider(resource=Resource({"service.name": "gateway"}))
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        attributes = {
            "decision.node": names[0],
            "weight": weights[names[0]],
            "decision.policy.name": policy,
            "decision.candidates": names,
            "decision.candidate.weights": list(weights.values()),
            "decision.candidate.scores": list(weights.values()),
            "decision.scorer.names": list(scores),
            "decision.scorer.weights": [1.0] * len(scores),
            "decision.scorer.scores": str([list(scores.values())] * len(names)),
        }
        provider.get_tracer("test").start_span(f"schedule {policy}", attributes=attributes).end()
        decoded = decode_traces(
            encode_spans(exporter.get_finished_spans()).SerializeToString(), Encoding.PROTOBUF
        )
        found = adapt(decoded.batch)
        self.writer.write([AdaptedBatch(decoded.batch, found.decisions, found.outcomes)])
        provider.shutdown()

    def feed(self, running):
        """Stop or start the hub while the server goes on."""
        act = self.hub.start if running else self.hub.stop
        asyncio.run_coroutine_threadsafe(act(), self.loop).result(5)

    def close(self):
        self.server.should_exit = True
        self.thread.join(10)
        self.listener.close()
        self.database.dispose()


@pytest.fixture(scope="module")
def chromium():
    where = Path(__file__).parents[1] / "browser" / "ensure_browser.py"
    spec = importlib.util.spec_from_file_location("ensure_browser", where)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.find_browser()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def site(tmp_path):
    made = Site(tmp_path)
    yield made
    made.close()


@pytest.fixture
def page(chromium):
    """A page that fails its test when anything is written to the console as an error."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    opened, faults = context.new_page(), []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda message: message.type == "error" and faults.append(message.text))
    opened.faults = faults
    yield opened
    context.close()


@pytest.fixture
def deciding(site):
    """Decisions among NODES ten times a second until the test ends or sets the event."""
    stop = threading.Event()

    def run():
        k = 0
        while not stop.wait(0.1):
            k += 1
            site.decide(
                {node: 0.1 + 0.1 * i for i, node in enumerate(NODES)}, queue=0.5, latency=(k % 10) / 10
            )

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield stop
    stop.set()
    thread.join(5)


def live(page, site, query=""):
    page.goto(site.url + query)
    page.wait_for_selector('[data-live-root][data-state="live"]', timeout=20_000)


def until(page, expression, patience_s=20):
    """Wait until an expression holds; asked from outside, since the page's policy forbids to evaluate text."""
    deadline = time.monotonic() + patience_s
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, f"never: {expression}"
        page.wait_for_timeout(100)


def hook(page, name):
    return page.locator(f'[data-live="{name}"]')


def test_weights_are_painted_and_told(page, site, deciding):
    """Frames arrive, lag is measured to the pixel, and the values are there for those who cannot see them."""
    live(page, site)
    until(page, "window.__weighbridgeLive.lagMs.length > 20")
    hooks = page.evaluate("window.__weighbridgeLive")
    assert hooks["frames"] > 1
    assert 0 < min(hooks["lagMs"]) < 5_000
    table = hook(page, "table")
    expect(table.locator("tbody tr")).to_have_count(len(NODES))
    expect(table.locator("tbody tr").nth(1)).to_contain_text("gpu-a10-02")
    expect(table.locator("tbody tr").nth(1)).to_contain_text("0.200")
    expect(hook(page, "nodes-note")).to_contain_text("of 8")
    expect(hook(page, "rate")).not_to_have_text("–", timeout=10_000)
    assert page.faults == []


def test_a_silent_feed_looks_stale_and_comes_back(page, site, deciding):
    """Without a frame the cells fade by the browser's own clock, figures go blank, and the bar says since when."""
    live(page, site)
    until(page, "window.__weighbridgeLive.frames > 8")
    site.feed(running=False)
    expect(hook(page, "banner")).to_contain_text("Stale since", timeout=10_000)
    expect(page.locator("#wb-live .word")).to_contain_text("Stale")
    expect(hook(page, "lag")).to_contain_text("–")
    expect(hook(page, "lag-note")).to_contain_text("was")
    expect(page.locator("[data-live-root]")).to_have_attribute("data-state", "stale")
    page.get_by_role("button", name="Retry now").click()
    expect(page.locator("[data-live-root]")).to_have_attribute("data-state", "stale")
    site.feed(running=True)
    expect(page.locator("[data-live-root]")).to_have_attribute("data-state", "live", timeout=15_000)
    expect(page.locator("#wb-live .word")).to_have_text("Live")
    expect(hook(page, "frames-note")).not_to_have_text("0 missed in 10 min")


def test_cells_fade_when_decisions_stop(page, site, deciding):
    """The feed beats on, yet a weight that nobody decided about does not look fresh."""
    live(page, site)
    until(page, "window.__weighbridgeLive.lagMs.length > 20")
    deciding.set()
    expect(hook(page, "banner")).to_contain_text("8 of 8 nodes stale since", timeout=10_000)
    expect(page.locator("[data-live-root]")).to_have_attribute("data-state", "live")
    expect(hook(page, "oldest-note")).to_have_text("not decided about since")
    expect(hook(page, "findings")).to_contain_text("8 nodes are stale")
    drawn = "(() => { const c = document.querySelector('[data-live=map]'); return c.toDataURL(); })()"
    before = page.evaluate(drawn)
    page.wait_for_timeout(500)  # the picture must have moved on by itself meanwhile
    assert page.evaluate(drawn) != before


def test_a_click_on_a_row_leads_to_its_decisions(page, site, deciding):
    """The row under the pointer is told in full, and a click opens what was decided there."""
    live(page, site)
    until(page, "window.__weighbridgeLive.frames > 8")
    hook(page, "over").hover(position={"x": 300, "y": 30})
    tip = page.locator(".tip", has_text="weight")
    expect(tip).to_contain_text("UTC")
    name = tip.locator(".mono").text_content()
    hook(page, "over").click(position={"x": 300, "y": 30})
    page.wait_for_url(lambda url: "/ui/decisions" in url)
    assert f"node={name}" in page.url
    assert "policy=p" in page.url
    page.go_back()
    page.wait_for_selector('[data-live-root][data-state="live"]')
    assert page.faults == []


def test_everything_works_from_the_keyboard(page, site, deciding):
    """Down chooses a node, Space freezes and thaws, arrows step, Enter opens."""
    live(page, site)
    until(page, "window.__weighbridgeLive.frames > 15")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert "node=gpu-" in page.url
    page.keyboard.press("Space")
    banner = hook(page, "banner")
    expect(banner).to_contain_text("Frozen at")
    before = banner.locator("b").text_content()
    page.keyboard.press("ArrowLeft")
    expect(banner.locator("b")).not_to_have_text(before)
    frames = page.evaluate("window.__weighbridgeLive.frames")
    until(page, f"window.__weighbridgeLive.frames > {frames + 5}")
    expect(banner).to_contain_text("frames ahead of this one")
    page.keyboard.press("Space")
    expect(banner).not_to_contain_text("Frozen")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/ui/decisions" in url and "node=gpu-" in url)


def test_view_is_in_the_address(page, site, deciding):
    """Order, palette and node survive a reload; a link shows what was seen."""
    live(page, site, "?sort=weight&palette=safe&node=gpu-h100-02")
    expect(hook(page, "sort")).to_have_value("weight")
    expect(page.locator('[data-palette="safe"]')).to_have_attribute("aria-pressed", "true")
    expect(hook(page, "node").locator("h2")).to_have_text("gpu-h100-02")
    expect(hook(page, "table").locator("tbody tr").first).to_contain_text("gpu-h100-04")
    page.locator('[data-palette="heat"]').click()
    hook(page, "sort").select_option("name")
    assert "sort=" not in page.url
    assert "palette=" not in page.url


def test_names_from_senders_stay_text(page, site):
    """A node whose name is markup is shown as it is and runs nothing."""
    site.decide({HOSTILE: 0.5, "b": 0.2}, **{"<b>scorer</b>": 0.5})
    live(page, site)
    expect(hook(page, "table")).to_contain_text("<img src=x")
    hook(page, "over").hover(position={"x": 300, "y": 5})
    expect(page.locator(".tip", has_text="<img src=x")).to_be_visible()
    assert page.evaluate("document.body.dataset.owned") is None
    assert page.locator(".live-view img").count() == 0
    assert page.faults == []


def test_a_thousand_nodes_scroll(page, site):
    """Rows keep their least height, the box scrolls, and only what is in view is drawn."""
    for start in range(0, 1_000, 50):
        site.decide({f"node-{k:04}": 0.5 for k in range(start, start + 50)}, queue=0.5)
    live(page, site)
    until(page, "document.querySelector('[data-live=spacer]').clientHeight > 8000")
    height, drawn = page.evaluate(
        "(() => { const s = document.querySelector('[data-live=scroller]'), m = document.querySelector('[data-live=map]');"
        " return [s.clientHeight, m.clientHeight]; })()"
    )
    assert drawn <= height + 1 < 900
    for key in ("ArrowDown", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    assert "node=node-0000" in page.url
    hook(page, "scroller").evaluate("box => box.scrollTo(0, 1e9)")
    until(page, "document.querySelector('[data-live=scroller]').scrollTop > 7000")
    expect(hook(page, "table").locator("caption")).to_contain_text("of 1000")
    assert page.faults == []


def test_an_empty_store_says_what_to_do_and_fills_by_itself(page, site):
    """Before the first decision the page leads to the set-up; after it, the map is there without a reload."""
    page.goto(site.url)
    expect(page.get_by_text("No decisions yet")).to_be_visible(timeout=20_000)
    expect(page.get_by_role("link", name="Set up a sender")).to_have_attribute("href", "/ui/setup")
    site.decide({"a": 0.5, "b": 0.25}, queue=0.5)
    page.wait_for_selector('[data-live-root][data-state="live"]', timeout=10_000)
    expect(page.get_by_text("No decisions yet")).to_be_hidden()


def test_the_browser_reads_what_the_server_writes(page, site):
    """Both versions of the frame decode to the same numbers on both sides."""
    site.decide({"a": 0.5}, queue=0.5)
    live(page, site)
    for rows, cols, count in ((3, 3, 4), (3, 3, 5), (7_000, 10, 70_000)):
        index = np.arange(count, dtype=np.uint32)
        frame = Frame(
            FULL,
            rows,
            cols,
            2**32 - 1,
            1234.5,
            index,
            (index % 65_536).astype(np.uint16),
            (index / count).astype(np.float32),
        )
        read = page.evaluate(
            "text => { const raw = Uint8Array.from(atob(text), c => c.charCodeAt(0));"
            " const f = weighbridgeLive.decode(raw.buffer);"
            " return [f.full, f.rows, f.cols, f.sequence, f.serverMs, f.index.length, f.index.at(-1), f.age.at(-1), f.value.at(-1)]; }",
            base64.b64encode(encode(frame)).decode(),
        )
        assert read[:6] == [True, rows, cols, 2**32 - 1, 1234.5, count]
        assert read[6:8] == [count - 1, (count - 1) % 65_536]
        assert read[8] == pytest.approx((count - 1) / count)


def test_a_phone_gets_everything_in_one_column(chromium, site, deciding):
    """At 390 px nothing runs over the side; a first tap chooses, a second one opens."""
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    phone = context.new_page()
    live(phone, site)
    until(phone, "window.__weighbridgeLive.frames > 8")
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
    hook(phone, "over").tap(position={"x": 200, "y": 20})
    until(phone, "location.search.includes('node=')")
    hook(phone, "over").tap(position={"x": 200, "y": 20})
    phone.wait_for_url(lambda url: "/ui/decisions" in url)
    context.close()
