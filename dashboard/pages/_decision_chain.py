"""The trace of a decision as a waterfall of plain HTML, and the attributes of its span."""

import json
from collections.abc import Mapping
from typing import Any

from dash import html

from dashboard.components import attrs, copy_button
from dashboard.figures.quantities import brief, shown
from dashboard.format import count, plural
from dashboard.page import MOUNT
from dashboard.pages._decision_parts import Spans
from dashboard.waterfall import Waterfall, WaterfallRow, arrange, ticks
from storage.records import Trace

_DEEPEST = 8  # indents drawn; deeper spans stand at the same place
_INDENT_PX = 14
_INSIDE = 22.0  # per cent of the axis from which a bar holds its own label
_BEFORE = 72.0  # per cent of the axis from which a label goes to the left of its bar
_MOST_ATTRIBUTES = 200
_LONGEST_VALUE = 2_000
_ERROR = 2


def chain(trace: Trace | None, span_id: str | None, chose: str = "") -> Any:
    """The waterfall with the decision's row lit; ``chose`` is the node it went to."""
    if trace is None or not trace.spans:
        return _panel([], html.Div("The spans of this trace are not in the store.", className="pad dim"))
    made = arrange(trace, span_id)
    home = made.rows[0].span.service
    rows = [_row(row, home, chose if row.highlighted else "") for row in made.rows]
    meta = [
        html.Span("trace", className="hide-s"),
        html.Span(trace.trace_id, className="mono ell"),
        copy_button(trace.trace_id, "Copy the trace id"),
    ]
    marks = [[round(at, 3), words] for at, words in ticks(made.length_ns)]
    return _panel(meta, Spans(ticks=marks, rows=rows), _note(made, len(trace.spans)))


def _panel(meta: list[Any], *body: Any) -> Any:
    head = [html.H2("Decision chain"), *([html.Div(meta, className="meta row grow")] if meta else [])]
    return html.Section([html.Header(head), *body], className="panel")


def _row(row: WaterfallRow, home: str, chose: str) -> dict[str, Any]:
    span = row.span
    words = brief(max(0, span.end_unix_nano - span.start_unix_nano)) + (
        f", chose {shown(chose, 60)}" if chose else ""
    )
    bad = span.status_code == _ERROR
    error = f", error: {shown(span.status_message, 60)}" if span.status_message else ", error"
    elsewhere = span.is_decision and not row.highlighted
    return {
        "name": shown(span.name, 120) or "(no name)",
        "title": shown(span.name, 600),
        "service": shown(span.service, 80),
        "service_title": shown(span.service, 600),
        "kind": "dec" if span.is_decision else "own" if span.service == home else "far",
        "indent": 12 + _INDENT_PX * min(row.depth, _DEEPEST),
        "left": round(row.left, 3),
        "width": round(row.width, 3),
        "words": words,
        "error": error if bad else "",
        "notes": shown("; ".join(row.notes), 160),
        "place": _place(row, plain=not (chose or bad or row.notes)),
        "bad": bad,
        "lit": row.highlighted,
        "href": f"{MOUNT}/decisions/{span.trace_id}/{span.span_id}" if elsewhere else "",
    }


def _place(row: WaterfallRow, *, plain: bool) -> str:
    """Where a label stands so that it fits: in its bar, or to the side that has room."""
    end = row.left + row.width
    if (plain and row.width >= _INSIDE) or (end >= _BEFORE and row.left < 100 - _BEFORE):
        return "inside"
    return "left" if end >= _BEFORE else "right"


def _note(made: Waterfall, fetched: int) -> Any:
    said = []
    if made.total > len(made.rows):
        said.append(
            f"{count(len(made.rows))} of {plural(made.total, 'span')} are shown; "
            "the decision and the spans above it are always among them."
        )
    if made.total > fetched:
        said.append(f"The store gave the first {count(fetched)}.")
    if made.roots > 1:
        said.append(f"{plural(made.roots, 'span')} have no parent here.")
    return html.Div(" ".join(said), className="note") if said else None


def attribute_table(attributes: Mapping[str, Any]) -> Any:
    """What the span said, key by key, exactly as it came; long values scroll in their cell."""
    pairs = sorted(attributes.items())[:_MOST_ATTRIBUTES]
    rows = [
        html.Tr(
            [
                html.Th(shown(key, 200), scope="row", className="mono"),
                html.Td(html.Div(_value(value), className="val mono")),
            ]
        )
        for key, value in pairs
    ]
    head = [
        html.H2("Attributes"),
        html.Span(f"{plural(len(attributes), 'attribute')} of the decision's span", className="meta"),
    ]
    more = len(attributes) - len(pairs)
    body: Any = html.Table(
        html.Tbody(rows), className="t attrs", **attrs(aria_label="Attributes of the decision's span")
    )
    if not rows:
        body = html.Div("The span carries no attributes.", className="pad dim")
    note = html.Div(f"{count(more)} more are not shown.", className="note") if more > 0 else None
    return html.Section([html.Header(head), html.Div(body, className="scroll-x"), note], className="panel")


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return shown(text, _LONGEST_VALUE)
