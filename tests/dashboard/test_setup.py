"""The set-up page: its snippets work, its checklist tells what arrived."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

from collector.adapters.registry import adapt
from collector.decode import Encoding, decode_traces
from dashboard.config import DashboardConfig
from dashboard.page import Visit
from dashboard.pages.setup import Arrived, draw, lead, look, steps
from dashboard.pages.snippets import LANGUAGES, coloured, snippet
from storage.queries import Reader

NOW = 1_800_000_000_000_000_000
Text = Callable[[Any], str]


class Receiving(trace_service_pb2_grpc.TraceServiceServicer):
    """An OTLP receiver that keeps what it got."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    def Export(self, request: Any, context: Any) -> Any:  # noqa: N802  # the name is the protocol's
        self.bodies.append(request.SerializeToString())
        return trace_service_pb2.ExportTraceServiceResponse()


@pytest.fixture
def receiver() -> Iterator[tuple[str, Receiving]]:
    server = grpc.server(futures.ThreadPoolExecutor(2))
    receiving = Receiving()
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(receiving, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}", receiving
    server.stop(None)


def test_the_python_snippet_sends_a_decision_when_pasted(receiver: tuple[str, Receiving]) -> None:
    """A stranger pastes it into a file and runs it; it becomes a whole decision."""
    address, receiving = receiver
    code = snippet("python", otlp_grpc=address, otlp_http="127.0.0.1:1")
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    decoded = decode_traces(receiving.bodies[0], Encoding.PROTOBUF)
    found = adapt(decoded.batch)
    assert found.decisions.node == ["gpu-a100-05"]
    assert found.decisions.weight == [0.62]
    assert decoded.batch.resources[0].service == "my-router"
    assert not found.warnings


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_snippet_names_this_installation(language: str) -> None:
    """The addresses are the ones in force, not the defaults; none is left as a placeholder."""
    text = snippet(language, otlp_grpc="10.1.2.3:14317", otlp_http="10.1.2.3:14318")
    assert "10.1.2.3:1431" in text
    assert "GRPC" not in text
    assert "//HTTP" not in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_colouring_changes_no_character_of_a_snippet(language: str, text: Text) -> None:
    """What is copied by hand is what the button copies."""
    plain = snippet(language, otlp_grpc="127.0.0.1:4317", otlp_http="127.0.0.1:4318")
    block = coloured(plain, "snippet")
    joined = "".join(_strings(block))
    assert joined.rstrip("\n") == plain.rstrip("\n")


def _strings(component: Any) -> Iterator[str]:
    if isinstance(component, str):
        yield component
    elif isinstance(component, list):
        for item in component:
            yield from _strings(item)
    elif getattr(component, "children", None) is not None:
        yield from _strings(component.children)


def test_an_empty_store_says_that_nothing_arrived(reader: Reader, text: Text) -> None:
    """The headline, four open steps, and the command that makes something to see."""
    arrived = look(reader)
    assert (arrived.spans, arrived.decisions) == (0, 0)
    shown = text(draw(arrived, DashboardConfig(), Visit(NOW)))
    assert "No decisions yet" in shown
    assert "waiting for the first span" in shown
    assert "weighbridge demo" in shown


def test_the_checklist_counts_what_arrived(reader: Reader, send: Callable[..., None], text: Text) -> None:
    """A plain span, a bare decision and an explained one are told apart."""
    send({"http.method": "GET"})
    send({"decision.node": "a", "weight": 0.5})
    send(
        {
            "decision.node": "a",
            "weight": 0.5,
            "decision.candidates": ["a", "b"],
            "decision.candidate.weights": [0.5, 0.4],
        }
    )
    arrived = look(reader)
    assert (arrived.spans, arrived.decisions, arrived.looked_at, arrived.explained) == (3, 2, 2, 1)
    assert "Receiving" in text(lead(arrived, NOW))
    assert "1 of 2" in text(steps(arrived))


def test_a_sender_that_fell_silent_is_not_called_receiving(text: Text) -> None:
    """Never fresh by accident."""
    silent = Arrived(9, 9, 9, 9, 9, ("gw",), NOW - 3_600 * 10**9)
    assert "Nothing arrives now" in text(lead(silent, NOW))
    assert "1 h ago" in text(lead(silent, NOW))


def test_without_the_store_the_snippets_are_still_there(text: Text) -> None:
    """What to paste does not depend on the store."""
    shown = text(draw(None, DashboardConfig(), Visit(NOW, query={"lang": "collector"})))
    assert "The store cannot be read" in shown
    assert "otlp/weighbridge" in shown


def test_a_language_nobody_knows_shows_python(reader: Reader, text: Text) -> None:
    """A hand-edited address falls back."""
    shown = text(draw(look(reader), DashboardConfig(), Visit(NOW, query={"lang": "<script>"})))
    assert "TracerProvider" in shown


def test_the_page_can_be_sent_to_a_browser(reader: Reader) -> None:
    """Every component serialises."""
    from plotly.utils import PlotlyJSONEncoder  # noqa: PLC0415  # only this test needs it

    assert json.loads(json.dumps(draw(look(reader), DashboardConfig(), Visit(NOW)), cls=PlotlyJSONEncoder))
