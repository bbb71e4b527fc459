"""One decision's page from a real store: what it shows, where it leads, and what it says when it cannot."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from dash import Dash
from fastapi import FastAPI
from opentelemetry import trace as otel
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from collector.adapters.registry import adapt
from collector.decode import Encoding, decode_traces
from dashboard.page import Page, Visit
from dashboard.pages import decision
from dashboard.pages._decision_neighbours import find
from storage.database import Database
from storage.queries import Reader
from storage.records import AdaptedBatch, DecisionQuery, DecisionRow
from storage.writer import Writer

NOW = 1_800_000_000_000_000_000
SAID = {
    "decision.node": "gpu-2",
    "weight": 0.62,
    "confidence": 0.64,
    "decision.policy.name": "llm",
    "decision.strategy": "argmax",
    "decision.candidates": ["gpu-2", "gpu-9"],
    "decision.candidate.weights": [0.62, 0.61],
    "decision.candidate.scores": [0.69, 0.65],
    "decision.scorer.names": ["prefix_cache", "queue_depth"],
    "decision.scorer.weights": [0.5, 0.5],
    "decision.scorer.scores": "[[0.98, 0.40], [0.60, 0.70]]",
    "decision.filtered": ["gpu-3", "gpu-4"],
    "decision.filter.reasons": ["breaker_open", "no_memory"],
    "tenant.id": "northwind",
}

Send = Callable[..., None]
Text = Callable[[Any], str]


@pytest.fixture
def page(reader: Reader) -> Page:
    app = Dash("one", server=FastAPI(), requests_pathname_prefix="/ui/", routes_pathname_prefix="/ui/")
    return decision.register(app, reader)


def newest(reader: Reader) -> DecisionRow:
    return reader.decisions(DecisionQuery(), limit=1).items[0]


def visit(trace_id: str, span_id: str, **query: str) -> Visit:
    return Visit(NOW, {"trace_id": trace_id, "span_id": span_id}, query)


def drawn(tree: Any, kind: str) -> list[dict[str, Any]]:
    """The rows handed to the component ``kind`` of the tree."""
    for part in tree._traverse():
        if getattr(part, "_type", "") == kind:
            return part.rows
    return []


def links(tree: Any) -> list[str]:
    return [part.href for part in tree._traverse() if getattr(part, "href", None)]


def test_the_page_gives_the_reason_and_its_figures(
    page: Page, reader: Reader, send: Send, text: Text
) -> None:
    """The sentence, the tiles, the candidates, the funnel and the origin come from what the span said."""
    send(SAID)
    row = newest(reader)
    tree = page.layout(visit(row.trace_id, row.span_id))
    said = text(tree)
    assert "gpu-2 won by 0.040, on its prefix cache" in said
    assert "gpu-9 led on queue depth, by 0.150." in said
    assert "2 of 4 nodes scored" in said
    assert "breaker open" in said
    assert "Confidence 0.64" in said
    assert "Propensity unknown" in said
    assert "Outcome unknown none has arrived" in said
    first, second = drawn(tree, "Candidates")
    assert (first["tag"], second["tag"]) == ("chosen", "runner-up")
    assert (first["behind"], second["behind"]) == ("–", "−0.040")
    assert first["parts"][0][2] == "prefix cache: 0.490, from score 0.980 at weight 0.500"
    lit = [span for span in drawn(tree, "Spans") if span["lit"]]
    assert [span["words"] for span in lit] == ["1.0 µs, chose gpu-2"]


def test_ids_in_capitals_are_the_same_ids(page: Page, reader: Reader, send: Send, text: Text) -> None:
    """Hex digits in the address may be of either case."""
    send(SAID)
    row = newest(reader)
    assert "won by" in text(page.layout(visit(row.trace_id.upper(), row.span_id.upper())))


@pytest.mark.parametrize(
    "ids", [("xyz", "12"), ("a" * 31, "b" * 16), ("g" * 32, "b" * 16), ("", ""), ("\u202e" * 32, "b" * 16)]
)
def test_ids_that_are_none_get_an_explanation(page: Page, text: Text, ids: tuple[str, str]) -> None:
    """An address cut short says what an id looks like, and leads to the list."""
    tree = page.layout(visit(*ids))
    assert "This address names no decision" in text(tree)
    assert "/ui/decisions" in links(tree)


def test_an_unknown_decision_is_said_to_be_missing(page: Page, text: Text) -> None:
    """Well-formed ids of nothing lead to a search for the trace."""
    tree = page.layout(visit("a" * 32, "b" * 16))
    assert "This decision is not in the store" in text(tree)
    assert any("text=" + "a" * 32 in href for href in links(tree))


def test_a_span_without_a_decision_shows_its_trace(
    page: Page, reader: Reader, send: Send, text: Text
) -> None:
    """A plain span of a known trace, or an unknown one, still leads to what the trace holds."""
    send(SAID)
    row = newest(reader)
    tree = page.layout(visit(row.trace_id, "f" * 16))
    assert "The trace is here, this span is not" in text(tree)
    assert f"/ui/decisions/{row.trace_id}/{row.span_id}" in links(tree)
    assert drawn(tree, "Spans")


def test_the_whole_trace_is_drawn_with_the_outcome(
    page: Page, reader: Reader, database: Database, text: Text
) -> None:
    """Parents, the later outcome and other decisions of the trace are in the waterfall."""
    write_trace(database)
    row = next(r for r in reader.decisions(DecisionQuery(), limit=9).items if r.policy == "llm")
    tree = page.layout(visit(row.trace_id, row.span_id))
    said = text(tree)
    assert "Outcome ok" in said
    assert "Latency 180 ms" in said
    spans = drawn(tree, "Spans")
    assert [(span["name"], span["indent"]) for span in spans] == [
        ("gateway.request", 12),
        ("schedule model-router", 26),
        ("schedule llm", 26),
        ("upstream gpu-2", 26),
    ]
    assert [bool(span["href"]) for span in spans] == [False, True, False, False]


def test_hostile_text_reaches_the_page_as_text_only(page: Page, reader: Reader, send: Send) -> None:
    """Markup in every field that a sender fills is kept as characters, without marks that turn the line."""
    evil = "<script>alert(1)</script>\u202e"
    send(
        SAID
        | {
            "decision.node": evil,
            "decision.candidates": [evil, "gpu-9"],
            "decision.scorer.names": [evil, "[x](javascript:alert(1))"],
            "decision.filtered": [evil, evil],
            "decision.filter.reasons": [evil, ""],
            "decision.reason": evil * 100,
            "decision.strategy": evil,
            "decision.policy.name": evil,
            evil: evil * 500,
        },
        service=evil,
    )
    row = newest(reader)
    tree = page.layout(visit(row.trace_id, row.span_id))
    plain = json.dumps(tree.to_plotly_json(), default=lambda part: part.to_plotly_json())
    shown = [
        part
        for part in tree._traverse()
        if type(part).__name__ in {"Markdown", "DangerouslySetInnerHTML", "Iframe"}
    ]
    assert shown == []
    assert "dangerously" not in plain
    for key in ('"children": "', '"title": "', '"name": "', '"node": "'):
        for value in plain.split(key)[1:]:
            assert "\\u202e" not in value.split('"')[0]


def test_neighbours_go_along_the_list(reader: Reader, send: Send) -> None:
    """Before and after are the nearest of the same filters, at any distance in time."""
    for age, node in ((9_000, "a"), (60, "b"), (59.9999, "a"), (3, "b"), (1, "a")):
        send(SAID | {"decision.node": node}, age_s=age)
    rows = reader.decisions(DecisionQuery(), limit=9).items
    middle = rows[2]
    everything = find(reader, middle, DecisionQuery())
    assert (everything.before, everything.after) == (rows[3], rows[1])
    same = find(reader, middle, DecisionQuery(node="a"))
    assert (same.before, same.after) == (rows[4], rows[0])
    assert find(reader, rows[0], DecisionQuery()).after is None
    assert find(reader, rows[4], DecisionQuery()).before is None


def test_neighbours_of_the_same_instant_are_told_apart(reader: Reader, send: Send) -> None:
    """Decisions of one nanosecond are each visited once, in the list's order."""
    for _ in range(4):
        send(SAID, age_s=5)
    rows = reader.decisions(DecisionQuery(), limit=9).items
    walked, at = [rows[-1]], rows[-1]
    while (following := find(reader, at, DecisionQuery()).after) is not None:
        walked.append(following)
        at = following
    assert walked == list(reversed(rows))


def test_a_decision_outside_its_list_still_has_neighbours(reader: Reader, send: Send) -> None:
    """When the filters do not fit the decision itself, the nearest that fit are taken."""
    for age, node in ((9, "a"), (5, "b"), (1, "a")):
        send(SAID | {"decision.node": node}, age_s=age)
    rows = reader.decisions(DecisionQuery(), limit=9).items
    around = find(reader, rows[1], DecisionQuery(node="a"))
    assert (around.before, around.after) == (rows[2], rows[0])


def write_trace(database: Database) -> None:
    """A request with two decisions and the outcome of the second, as a gateway sends it."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "gateway"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    root = tracer.start_span("gateway.request", start_time=NOW - 200_000_000)
    inside = otel.set_span_in_context(root)

    def child(name: str, start: int, end: int, attributes: Mapping[str, Any]) -> otel.Span:
        span = tracer.start_span(name, inside, start_time=NOW + start, attributes=dict(attributes))
        span.end(NOW + end)
        return span

    child(
        "schedule model-router",
        -199_000_000,
        -198_000_000,
        {"decision.node": "llama", "weight": 1.0, "decision.policy.name": "model-router"},
    )
    made = child("schedule llm", -197_000_000, -196_900_000, SAID).get_span_context()
    told = {
        "decision.id": f"{made.trace_id:032x}/{made.span_id:016x}",
        "decision.outcome": "ok",
        "decision.outcome.latency_ms": 180.0,
    }
    child("upstream gpu-2", -196_000_000, -1_000_000, told)
    root.end(NOW)
    decoded = decode_traces(
        encode_spans(exporter.get_finished_spans()).SerializeToString(), Encoding.PROTOBUF
    )
    found = adapt(decoded.batch)
    Writer(database, lambda: NOW).write([AdaptedBatch(decoded.batch, found.decisions, found.outcomes)])
    provider.shutdown()
