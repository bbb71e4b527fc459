"""The trace of a decision as a waterfall of plain HTML, and the attributes of its span."""

import json
from collections.abc import Mapping
from typing import Any

from dash import dcc, html

from dashboard.components import attrs, copy_button, icon
from dashboard.figures.quantities import brief, shown
from dashboard.format import count, plural
from dashboard.page import MOUNT
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
    body = html.Div(
        [_axis(made), *rows], className="wf", role="list", **attrs(aria_label="Spans of the trace")
    )
    return _panel(meta, body, _note(made, len(trace.spans)))


def _panel(meta: list[Any], *body: Any) -> Any:
    head = [html.H2("Decision chain"), *([html.Div(meta, className="meta row grow")] if meta else [])]
    return html.Section([html.Header(head), *body], className="panel")


def _axis(made: Waterfall) -> Any:
    marks = [
        html.Span(
            words, style={"left": f"{at:.3f}%"}, className="first" if at == 0 else "last" if at > 95 else None
        )
        for at, words in ticks(made.length_ns)
    ]
    return html.Div(
        [html.Div(className="n"), html.Div(marks, className="tk")],
        className="r ax",
        **attrs(aria_hidden="true"),
    )


def _row(row: WaterfallRow, home: str, chose: str) -> Any:
    span = row.span
    name: Any = html.Span(
        shown(span.name, 120) or "(no name)", className="ell nm", title=shown(span.name, 600)
    )
    if span.is_decision and not row.highlighted:
        name = dcc.Link(name, href=f"{MOUNT}/decisions/{span.trace_id}/{span.span_id}", className="link ell")
    kind = "dec" if span.is_decision else "own" if span.service == home else "far"
    return html.Div(
        [
            html.Div(
                [
                    html.I(className=kind),
                    name,
                    html.Span(shown(span.service, 80), className="svc ell", title=shown(span.service, 600)),
                ],
                className="n",
                style={"paddingLeft": f"{12 + _INDENT_PX * min(row.depth, _DEEPEST)}px"},
            ),
            html.Div(
                [
                    html.Div(
                        className=f"b {kind}" + (" bad" if span.status_code == _ERROR else ""),
                        style={"left": f"min({row.left:.3f}%, 100% - 3px)", "width": f"{row.width:.3f}%"},
                    ),
                    _label(row, chose),
                ],
                className="tk",
            ),
        ],
        className="r lit" if row.highlighted else "r",
        role="listitem",
        **attrs(aria_current="true" if row.highlighted else None),
    )


def _label(row: WaterfallRow, chose: str) -> Any:
    span = row.span
    words: list[Any] = [brief(max(0, span.end_unix_nano - span.start_unix_nano))]
    if chose:
        words.append(f", chose {shown(chose, 60)}")
    if span.status_code == _ERROR:
        failed = f", error: {shown(span.status_message, 60)}" if span.status_message else ", error"
        words.append(html.Span(failed, className="crit"))
    if row.notes:
        words.append(html.Span([icon("warn", 11), shown("; ".join(row.notes), 160)], className="warn odd"))
    if row.width >= _INSIDE and len(words) == 1:
        return html.Div(words, className="l in", style={"left": f"calc({row.left:.3f}% + 8px)"})
    end = row.left + row.width
    if row.left >= _BEFORE or (end >= _BEFORE and row.left >= 100 - _BEFORE):
        return html.Div(words, className="l", style={"right": f"calc({100 - row.left:.3f}% + 6px)"})
    if end >= _BEFORE:
        return html.Div(words, className="l in", style={"left": f"calc({row.left:.3f}% + 8px)"})
    return html.Div(words, className="l", style={"left": f"calc({end:.3f}% + 9px)"})


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
