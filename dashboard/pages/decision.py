"""One decision: why this node, by how much, and what else happened in its trace."""

from typing import Any
from urllib.parse import urlencode

from dash import Dash, Input, Output, State, dcc, html

from dashboard.components import attrs, empty_state, icon
from dashboard.figures.quantities import shown
from dashboard.filters import Filters, of, parse, render
from dashboard.page import MOUNT, Page, Visit
from dashboard.pages import _decision_chain as chain
from dashboard.pages import _decision_head as head
from dashboard.pages import _decision_side as side
from dashboard.pages._decision_candidates import candidates
from dashboard.pages._decision_neighbours import Neighbours, find
from dashboard.state import read
from dashboard.verdict import judge
from storage.errors import StorageError
from storage.queries import Reader
from storage.records import DecisionDetail, DecisionRow, Trace

_LIST = f"{MOUNT}/decisions"


def register(app: Dash, reader: Reader) -> Page:
    """Register the page's callbacks on ``app`` and describe the page."""

    def layout(visit: Visit) -> Any:
        return _layout(reader, visit)

    @app.callback(
        Output(head.STEPS, "children"),
        Input("decision-at", "data"),
        State("decision-search", "data"),
    )
    async def steps(at: dict[str, str] | None, search: str) -> Any:
        if not at:
            return None
        filters, along = parse(search), at.get("along", "list")
        try:
            around = await read(_around, reader, at, filters)
        except StorageError:
            return html.Span("Neighbours unknown: the store did not answer", className="dim f11")
        return _steps(around, render(filters), along)

    return Page(
        name="decision",
        path="/decisions/{trace_id}/{span_id}",
        title="Decision",
        layout=layout,
        parent="decisions",
    )


def _layout(reader: Reader, visit: Visit) -> Any:
    trace_id, span_id = (visit.parts.get(key, "").lower() for key in ("trace_id", "span_id"))
    filters = of(visit.query)
    try:
        decision = reader.decision(trace_id, span_id)
    except ValueError:
        return _malformed(trace_id, span_id, filters)
    trace = reader.trace(trace_id)
    if decision is None:
        return _missing(trace, trace_id, span_id, filters)
    return _page(decision, trace, filters, visit.choice("along", ("list", "node"), "list"))


def _page(decision: DecisionDetail, trace: Trace | None, filters: Filters, along: str) -> Any:
    row, verdict = decision.row, judge(decision)
    at = {"trace": row.trace_id, "span": row.span_id, "along": along}
    right = [part for part in (side.funnel(verdict), side.origin(row)) if part is not None]
    return html.Div(
        [
            dcc.Store(id="decision-at", data=at),
            dcc.Store(id="decision-search", data=render(filters)),
            _crumb(filters),
            head.hero(row, verdict),
            head.facts(row, verdict),
            html.Div(
                [
                    html.Div(
                        [
                            candidates(decision.detail, verdict),
                            chain.chain(trace, row.span_id, row.node),
                            chain.attribute_table(decision.attributes),
                        ],
                        className="coll",
                    ),
                    html.Div(right, className="colr"),
                ],
                className="cols",
            ),
        ],
        className="decision",
        **attrs(data_at=f"{row.trace_id}/{row.span_id}"),
    )


def _crumb(filters: Filters) -> Any:
    """The way back to the list as it was."""
    return html.Div(
        dcc.Link(
            [icon("back", 12), "Decisions"],
            href=f"{_LIST}{render(filters)}",
            className="link",
            id="decision-list",
        ),
        className="crumb",
    )


def _steps(around: Neighbours, query: str, along: str) -> Any:
    where = "on this node" if along == "node" else "in the list"
    tail = _along(query, along)
    return [
        _step(
            "Previous",
            around.before,
            tail,
            "back",
            f"The decision made before this one {where} (J)",
            "decision-before",
        ),
        _step(
            "Next",
            around.after,
            tail,
            "forward",
            f"The decision made after this one {where} (K)",
            "decision-after",
        ),
        html.Div(
            [
                dcc.Link(
                    "list",
                    href=_along(query, "list") or "?",
                    className="on" if along == "list" else "",
                    title="Step through the list",
                ),
                dcc.Link(
                    "node",
                    href=_along(query, "node"),
                    className="on" if along == "node" else "",
                    title="Step through this node's decisions",
                ),
            ],
            className="seg links",
        ),
    ]


def _along(query: str, along: str) -> str:
    if along == "list":
        return query
    return f"{query}&along=node" if query else "?along=node"


def _step(word: str, row: DecisionRow | None, tail: str, drawing: str, hint: str, ident: str) -> Any:
    arrow = icon(drawing, 12)
    label: list[Any] = [arrow, word] if drawing == "back" else [word, arrow]
    if row is None:
        return html.Button(
            label, className="btn", type="button", disabled=True, title="There is none", id=ident
        )
    href = f"{_LIST}/{row.trace_id}/{row.span_id}{tail}"
    return dcc.Link(label, href=href, className="btn", title=hint, id=ident)


def _around(reader: Reader, at: dict[str, str], filters: Filters) -> Neighbours:
    decision = reader.decision(at["trace"], at["span"])
    if decision is None:
        return Neighbours(None, None)
    wanted = Filters(node=decision.row.node) if at.get("along") == "node" else filters
    return find(reader, decision.row, wanted.query(0))


def _malformed(trace_id: str, span_id: str, filters: Filters) -> Any:
    return html.Div(
        empty_state(
            "This address names no decision",
            [
                "A trace id has 32 hexadecimal digits and a span id 16. This one holds ",
                html.Span(f"{shown(trace_id, 40)}/{shown(span_id, 24)}", className="mono"),
                ". The link may be cut short.",
            ],
            dcc.Link("Open the list", href=f"{_LIST}{render(filters)}", className="btn primary"),
        ),
        className="panel",
    )


def _missing(trace: Trace | None, trace_id: str, span_id: str, filters: Filters) -> Any:
    back = dcc.Link("Open the list", href=f"{_LIST}{render(filters)}", className="btn")
    if trace is None:
        search = f"{_LIST}?{urlencode({'text': trace_id, 'range': '7d'})}"
        return html.Div(
            empty_state(
                "This decision is not in the store",
                "It has not arrived yet, or retention has removed it since the link was made.",
                dcc.Link("Look for the trace", href=search, className="btn primary"),
                back,
            ),
            className="panel",
        )
    made = next((span for span in trace.spans if span.is_decision), None)
    known = any(span.span_id == span_id for span in trace.spans)
    what = "This span made no decision" if known else "The trace is here, this span is not"
    way = (
        dcc.Link(
            "Open the trace's decision", href=f"{_LIST}/{trace_id}/{made.span_id}", className="btn primary"
        )
        if made
        else None
    )
    text = "Its trace is below." if made else "Its trace is below; no span of it made a decision."
    actions = [action for action in (way, back) if action is not None]
    return html.Div(
        [
            html.Div(empty_state(what, text, *actions), className="panel"),
            chain.chain(trace, span_id if known else None),
        ],
        className="decision",
    )
