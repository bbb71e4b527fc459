"""List, decision and experiments in a real Chromium, on a real store: what a person does and sees."""

import importlib.util
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from playwright.sync_api import Page, expect, sync_playwright

from collector.adapters.registry import adapt
from collector.decode import Encoding, decode_traces
from dashboard.app import build_app
from dashboard.config import DashboardConfig
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
    "--disable-sync",
    "--no-first-run",
)
HOSTILE = "<img src=x onerror=\"document.body.dataset.owned='1'\">"
PATIENCE_MS = 20_000


def said(k: int, **more: Any) -> Mapping[str, Any]:
    node, rival = f"gpu-{k % 7}", f"gpu-{(k + 1) % 7}"
    return {
        "decision.node": node,
        "weight": 0.1 + (k % 9) / 10,
        "confidence": (k % 10) / 10,
        "decision.policy.name": "slow" if k % 3 else "fast",
        "decision.strategy": "argmax",
        "decision.candidates": [node, rival],
        "decision.candidate.weights": [0.5, 0.4],
        "decision.candidate.scores": [0.7, 0.6],
        "decision.scorer.names": ["prefix_cache", "queue_depth"],
        "decision.scorer.weights": [0.5, 0.5],
        "decision.scorer.scores": "[[0.9, 0.5], [0.5, 0.7]]",
        "decision.outcome": "error" if k % 50 == 0 else "ok",
        "decision.outcome.latency_ms": 200.0 + k % 20 - (40.0 if k % 2 else 0.0),
        "feature_flag.key": "cache-05",
        "feature_flag.result.variant": "treatment" if k % 2 else "control",
    } | more


class Site:
    """The dashboard on a store of its own, served from a thread on a free port."""

    def __init__(self, folder: Path) -> None:
        url = f"sqlite:///{folder / 'weighbridge.db'}"
        upgrade(url)
        self.database = Database(url, synchronous="NORMAL")
        self.writer = Writer(self.database, time.time_ns)
        app = build_app(DashboardConfig(), Reader(self.database), clock=time.time_ns, version="0")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/ui"
        self.server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        self.thread = threading.Thread(
            target=self.server.run, kwargs={"sockets": [self.listener]}, daemon=True
        )
        self.thread.start()

    def send(self, attributes: Sequence[Mapping[str, Any]], age_s: float = 1.0) -> None:
        """Store one decision for each, a millisecond apart, the last one ``age_s`` ago."""
        exporter = InMemorySpanExporter()
        provider = TracerProvider(resource=Resource({"service.name": "gateway"}))
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        tracer = provider.get_tracer("test")
        first = time.time_ns() - int(age_s * 1e9) - len(attributes) * 1_000_000
        for k, one in enumerate(attributes):
            end = first + k * 1_000_000
            tracer.start_span("schedule p", start_time=end - 61_000, attributes=one).end(end)
        decoded = decode_traces(
            encode_spans(exporter.get_finished_spans()).SerializeToString(), Encoding.PROTOBUF
        )
        found = adapt(decoded.batch)
        self.writer.write([AdaptedBatch(decoded.batch, found.decisions, found.outcomes)])
        provider.shutdown()

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join(10)
        self.listener.close()
        self.database.dispose()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = Site(tmp_path_factory.mktemp("site"))
    made.send([said(k) for k in range(600)], age_s=20)
    yield made
    made.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    where = Path(__file__).parents[1] / "browser" / "ensure_browser.py"
    spec = importlib.util.spec_from_file_location("ensure_browser", where)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=module.find_browser(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Page]:
    """A page that fails its test when the console shows an error or a warning."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    opened, faults = context.new_page(), []
    opened.set_default_timeout(PATIENCE_MS)
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda line: faults.append(line.text) if line.type in {"error", "warning"} else None)
    yield opened
    context.close()
    assert faults == []


def row(page: Page, index: int) -> Any:
    return page.locator(f"#decisions-grid .ag-center-cols-container .ag-row[row-index='{index}']")


def test_a_list_is_filtered_walked_and_left_again(site: Site, page: Page) -> None:
    """A filter changes address and rows, keys move and open, Escape and Back restore what was seen."""
    page.goto(f"{site.url}/decisions")
    expect(page.locator("#decisions-count")).to_have_text(
        "600 decisions in the last 15 min", timeout=PATIENCE_MS
    )
    expect(row(page, 0)).to_contain_text("gateway", timeout=PATIENCE_MS)
    page.locator("#decisions-policy").click()
    page.get_by_role("option", name="fast").click()
    page.wait_for_url("**/decisions?policy=fast")
    expect(page.locator("#decisions-count")).to_have_text(
        "200 decisions in the last 15 min", timeout=PATIENCE_MS
    )
    expect(page.locator(".chip")).to_have_text(["policy= fast"])
    expect(row(page, 0)).to_contain_text("fast", timeout=PATIENCE_MS)
    page.locator("h1").click()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#decisions-grid .ag-row-focus")).to_have_attribute("row-index", "1")
    page.keyboard.press("Enter")
    page.wait_for_url("**/decisions/*/*?policy=fast")
    expect(page.locator(".hero h2")).to_contain_text("won by 0.100, on its prefix cache", timeout=PATIENCE_MS)
    first = page.url
    page.locator("a#decision-before").click()
    page.wait_for_url(lambda url: url != first and "policy=fast" in url)
    second = page.url.split("?")[0].split("/decisions/")[1]
    expect(page.locator(f'.decision[data-at="{second}"] a#decision-after')).to_be_visible(timeout=PATIENCE_MS)
    page.keyboard.press("k")
    page.wait_for_url(first)
    page.keyboard.press("Escape")
    page.wait_for_url("**/decisions?policy=fast")
    page.locator(".chip .drop").click()
    page.wait_for_url("**/decisions")
    page.go_back()
    page.wait_for_url("**/decisions?policy=fast")
    expect(page.locator("#decisions-policy")).to_have_value("fast", timeout=PATIENCE_MS)


def test_far_rows_are_fetched_as_they_are_scrolled_to(site: Site, page: Page) -> None:
    """The grid asks for the block that comes into view."""
    page.goto(f"{site.url}/decisions?range=1h")
    expect(row(page, 0)).to_contain_text("gateway", timeout=PATIENCE_MS)
    page.evaluate("window.dash_ag_grid.getApi('decisions-grid').ensureIndexVisible(455)")
    expect(row(page, 455)).to_contain_text("gateway", timeout=PATIENCE_MS)
    row(page, 455).locator("[col-id=node]").click()
    page.wait_for_url("**/decisions/*/*?range=1h")


def test_new_decisions_wait_for_the_button(site: Site, page: Page) -> None:
    """Rows stay where they are until the reader asks for the new ones; a hostile name is only text."""
    page.goto(f"{site.url}/decisions?policy=evil")
    expect(page.locator(".state h2")).to_have_text(
        "The filter on policy removes every decision", timeout=PATIENCE_MS
    )
    evil = said(
        1, **{"decision.policy.name": "evil", "decision.node": HOSTILE, "decision.candidates": [HOSTILE, "b"]}
    )
    site.send([evil], age_s=0)
    button = page.locator("#decisions-refresh")
    expect(button).to_have_text("1 new decision", timeout=PATIENCE_MS)
    button.click()
    expect(row(page, 0)).to_contain_text("<img src=x", timeout=PATIENCE_MS)
    row(page, 0).locator("[col-id=node]").click()
    expect(page.locator(".hero h2")).to_contain_text("<img src=x", timeout=PATIENCE_MS)
    expect(page.locator(".wf .lit")).to_contain_text("61 µs, chose <img")
    assert page.evaluate("document.body.dataset.owned") is None
    assert page.locator("main img").count() == 0


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_nothing_spills_on_a_phone(site: Site, page: Page, theme: str) -> None:
    """At 390 px no page scrolls sideways, and the filters open and close."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{site.url}/decisions?policy=slow&theme={theme}")
    expect(row(page, 0)).to_contain_text("gpu", timeout=PATIENCE_MS)
    expect(page.locator("#decisions-filters")).to_be_hidden()
    page.locator("#decisions-filter-toggle").click()
    expect(page.locator("#decisions-node")).to_be_visible()
    for address in ("/decisions", f"/experiments?key=cache-05&theme={theme}"):
        page.goto(site.url + address)
        page.wait_for_selector("#decisions-grid .ag-row, .fr .r")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_experiment_is_read_and_its_split_stated(site: Site, page: Page) -> None:
    """The verdict stands in a sentence, and a stated split goes into the address."""
    page.goto(f"{site.url}/experiments?key=cache-05")
    expect(page.locator(".eh p")).to_contain_text("treatment is better", timeout=PATIENCE_MS)
    expect(page.locator(".fr .r").nth(1)).to_contain_text("better")
    page.locator("#experiments-split").fill("90:10")
    page.keyboard.press("Enter")
    page.wait_for_url("**split=90*10")
    expect(page.locator(".eh")).to_contain_text("split is off", timeout=PATIENCE_MS)
