"""The list of decisions: filters in the address, rows by page from the store, newest first."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from dashboard.components import Pulse, attrs, icon, skeleton
from dashboard.filters import Filters, narrower, of, parse, render
from dashboard.format import count, plural
from dashboard.page import MOUNT, NavEntry, Page, Visit
from dashboard.pages import _decision_filters as panel
from dashboard.pages._decision_rows import BLOCK, GRID, cells, grid
from dashboard.pages._decisions_empty import draw, explain
from dashboard.state import read
from storage.errors import StorageError
from storage.queries import Reader
from storage.records import DecisionQuery, TimeRange

MOST = 10_000
"""Rows the list reaches down to; beyond that a narrower filter is asked for."""

_NEW_CAP = 1_000
_PULSE_MS = 4_000
_SKELETON_PX = 560


@dataclass(frozen=True, slots=True)
class _List:
    """What one showing of the list found: the pinned range, and how many fit."""

    query: DecisionQuery
    found: int


Clock = Callable[[], int]


def register(app: Dash, reader: Reader, *, clock: Clock = time.time_ns) -> Page:
    """Register the page's callbacks on ``app`` and describe the page; ``clock`` gives ns since the epoch."""
    _register_list(app, reader, clock)
    _register_new(app, reader, clock)
    _register_filters(app, reader, clock)
    return Page(
        name="decisions",
        path="/decisions",
        title="Decisions",
        layout=_layout,
        nav=NavEntry("Decisions", "decisions", "D"),
        controls=frozenset({"scope", "range"}),
    )


def _layout(visit: Visit) -> Any:
    filters = of(visit.query)
    return html.Div(
        [
            dcc.Store(id="decisions-address", data=render(filters)),
            dcc.Store(id="decisions-pin"),
            dcc.Store(id="decisions-applied"),
            Pulse(id="decisions-pulse", n=0, answered=0, period_ms=_PULSE_MS),
            html.Div(
                [panel.chips(filters), html.Span(className="grow"), _newer_button()], className="row wrap"
            ),
            html.Div(
                [
                    panel.filter_panel(filters),
                    html.Section(
                        [
                            html.Header(
                                [
                                    html.H2("Decisions", id="decisions-count", **attrs(aria_live="polite")),
                                    html.Span("newest first", className="meta hide-s"),
                                    _key_hints(),
                                ]
                            ),
                            html.Div(skeleton((_SKELETON_PX,)), id="decisions-body"),
                        ],
                        className="panel grid",
                    ),
                ],
                className="dl",
            ),
        ],
        className="decisions",
    )


def _newer_button() -> Any:
    return html.Button(
        "",
        id="decisions-refresh",
        className="btn",
        type="button",
        hidden=True,
        n_clicks=0,
    )


def _key_hints() -> Any:
    return html.Div(
        [
            html.Kbd("J", className="kbd"),
            html.Kbd("K", className="kbd"),
            "move",
            html.Kbd("Enter", className="kbd"),
            "open",
        ],
        className="x hide-m dim f11",
    )


def _register_list(app: Dash, reader: Reader, clock: Clock) -> None:
    @app.callback(
        Output("decisions-count", "children"),
        Output("decisions-body", "children"),
        Output("decisions-pin", "data"),
        Input("decisions-address", "data"),
        Input("decisions-refresh", "n_clicks"),
    )
    async def show(search: str, _clicks: int) -> tuple[Any, Any, Any]:
        filters, now = parse(search), clock()
        try:
            listed = await read(_look, reader, filters, now)
            if not listed.found:
                return "No decisions", draw(filters, await read(explain, reader, filters, now)), _pin(listed)
        except StorageError as failure:
            return "Decisions", _failed(filters, str(failure)), None
        return _headline(listed.found, filters), [grid(listed.found), _foot(listed.found)], _pin(listed)

    @app.callback(
        Output(GRID, "getRowsResponse"),
        Output("decisions-body", "children", allow_duplicate=True),
        Input(GRID, "getRowsRequest"),
        State("decisions-address", "data"),
        State("decisions-pin", "data"),
        prevent_initial_call=True,
    )
    async def rows(
        request: dict[str, Any] | None, search: str, pin: dict[str, Any] | None
    ) -> tuple[Any, Any]:
        if not request or not pin:
            return no_update, no_update
        filters = parse(search)
        start = max(0, int(request.get("startRow") or 0))
        size = max(1, min(int(request.get("endRow") or start + BLOCK), MOST) - start)
        query = replace(filters.query(0), time=TimeRange(int(pin["start"]), int(pin["end"])))
        try:
            page = await read(reader.decisions, query, limit=min(size, BLOCK), offset=start)
        except StorageError as failure:
            return no_update, _failed(filters, str(failure))
        kept = render(filters)
        return {"rowData": [cells(row, kept) for row in page.items], "rowCount": pin["found"]}, no_update


def _register_new(app: Dash, reader: Reader, clock: Clock) -> None:
    @app.callback(
        Output("decisions-refresh", "children"),
        Output("decisions-refresh", "hidden"),
        Output("decisions-pulse", "answered"),
        Input("decisions-pulse", "n"),
        Input("decisions-pin", "data"),
        State("decisions-address", "data"),
    )
    async def newer(n: int, pin: dict[str, Any] | None, search: str) -> tuple[Any, Any, int]:
        filters = parse(search)
        if not pin or filters.custom:
            return "", True, n
        query = replace(filters.query(0), time=TimeRange(int(pin["end"]), clock()))
        try:
            found = await read(reader.count_decisions, query, cap=_NEW_CAP)
        except StorageError:
            return no_update, no_update, n  # the next beat asks again; the list itself still stands
        more = "over " if found >= _NEW_CAP else ""
        return f"{more}{plural(found, 'new decision')}", not found, n


def _register_filters(app: Dash, reader: Reader, clock: Clock) -> None:
    app.clientside_callback(
        ClientsideFunction("decisions", "apply"),
        Output("decisions-applied", "data"),
        *(Input(ident, "value") for ident in panel.INPUTS),
        State("decisions-address", "data"),
        prevent_initial_call=True,
    )

    @app.callback(
        Output(panel.POLICY, "data"),
        Output(panel.NODE, "data"),
        Input("decisions-address", "data"),
    )
    async def menus(search: str) -> tuple[Any, Any]:
        filters = parse(search)
        try:
            facets = await read(reader.facets, filters.time(clock()))
        except StorageError:
            return no_update, no_update  # the menus keep what the address names; the list says what failed
        return panel.options(facets.policies, filters.policy), panel.options(facets.nodes, filters.node)


def _look(reader: Reader, filters: Filters, now: int) -> _List:
    """Count what fits, and pin the range just after the newest row so that later ones do not move it."""
    query = filters.query(now)
    asked = filters.time(now)
    found = reader.count_decisions(query, cap=MOST)
    newest = reader.decisions(query, limit=1).items if found else ()
    end = newest[0].time_unix_nano + 1 if newest else asked.end_unix_nano
    return _List(replace(query, time=TimeRange(asked.start_unix_nano, end)), found)


def _pin(listed: _List) -> dict[str, Any]:
    span = listed.query.time or TimeRange(0, 0)
    # As text: a nanosecond timestamp does not fit into a JavaScript number.
    return {"start": str(span.start_unix_nano), "end": str(span.end_unix_nano), "found": listed.found}


def _headline(found: int, filters: Filters) -> Any:
    if found >= MOST:
        return f"Over {count(MOST)} decisions {filters.span_words}"
    return f"{plural(found, 'decision')} {filters.span_words}"


def _foot(found: int) -> Any:
    if found < MOST:
        return None
    return html.Div(
        f"The list reaches down to the newest {count(MOST)}. "
        "A shorter range or another filter shows older ones.",
        className="note",
    )


def _failed(filters: Filters, said: str) -> Any:
    less = narrower(filters)
    return html.Div(
        [
            html.Span(icon("crit", 22), className="crit"),
            html.H2("The list of decisions could not be read"),
            html.P("Intake is not affected; nothing is lost."),
            html.P(["The store says: ", html.Span(said, className="mono")], className="f12 dim"),
            html.Div(
                [
                    html.Button("Try again", className="btn primary", type="button", **attrs(data_retry="")),
                    dcc.Link("Narrow to 15 min", href=panel.address(less), className="btn") if less else None,
                    dcc.Link("Open health", href=f"{MOUNT}/health", className="btn ghost"),
                ],
                className="row wrap",
            ),
        ],
        className="state",
        role="alert",
    )
