"""Rows and columns of the decision list.

A row carries ready text, so the grid formats nothing; the few cells with a drawing are React components
of assets/decisions.js, which put text into text nodes.
"""

from collections.abc import Mapping
from typing import Any

import dash_ag_grid as dag

from dashboard.figures.quantities import number, shown
from dashboard.format import UNKNOWN, milliseconds
from dashboard.page import MOUNT
from storage.records import DecisionRow

GRID = "decisions-grid"
BLOCK = 100
"""Rows fetched at a time."""

ROW_PX, HEAD_PX = 28, 30


def cells(row: DecisionRow, query: str) -> dict[str, Any]:
    """One row for the grid; ``query`` is the list's own query string, carried along to the decision."""
    bar = None
    if row.weight is not None and 0 <= row.weight <= 1:
        bar = round(100 * row.weight, 1)
    return {
        "id": f"{row.trace_id}/{row.span_id}",
        "href": f"{MOUNT}/decisions/{row.trace_id}/{row.span_id}{query}",
        "ms": row.time_unix_nano / 1e6,
        "policy": shown(row.policy, 600),
        "node": shown(row.node, 600),
        "weight": number(row.weight),
        "bar": bar,
        "confidence": number(row.confidence, 2),
        "margin": number(row.margin),
        "strategy": shown(row.strategy, 600) if row.strategy else UNKNOWN,
        "outcome": row.outcome or "",
        "latency": milliseconds(row.outcome_latency_ms),
        "service": shown(row.service, 600),
        "trace": row.trace_id,
    }


def grid(rows: int) -> Any:
    """The grid over ``rows`` decisions, newest first, fetched in blocks as it is scrolled."""
    return dag.AgGrid(
        id=GRID,
        className="decisions-grid",
        columnDefs=_columns(),
        rowModelType="infinite",
        getRowId="params.data.id",
        defaultColDef={
            "sortable": False,
            "resizable": True,
            "suppressMovable": True,
            "suppressHeaderMenuButton": True,
            "cellDataType": False,
        },
        dashGridOptions={
            "cacheBlockSize": BLOCK,
            "maxBlocksInCache": 30,
            # The component keeps one request at a time; a second one would take its place.
            "maxConcurrentDatasourceRequests": 1,
            "infiniteInitialRowCount": min(rows, BLOCK),
            "enableBrowserTooltips": True,
            "tooltipShowDelay": 600,
            "suppressCellFocus": False,
            "rowBuffer": 8,
        },
        style={"--rows": str(rows), "height": None},
    )


def _columns() -> list[dict[str, Any]]:
    return [
        {
            "headerName": "Time",
            "field": "ms",
            "width": 108,
            "cellRenderer": "DecisionTime",
            "cellClass": "mono",
        },
        _text("Policy", "policy", 120),
        _text("Node", "node", 132, mono=True),
        {**_figure("Weight", "weight", 98), "cellRenderer": "DecisionWeight"},
        _figure("Confidence", "confidence", 86),
        _figure("Margin", "margin", 74),
        _text("Strategy", "strategy", 116),
        {"headerName": "Outcome", "field": "outcome", "width": 92, "cellRenderer": "DecisionOutcome"},
        _figure("Latency", "latency", 80),
        _text("Service", "service", 112),
        {
            "headerName": "Trace",
            "field": "trace",
            "minWidth": 80,
            "flex": 1,
            "cellRenderer": "DecisionTrace",
            "cellClass": "mono",
        },
    ]


def _text(name: str, field: str, width: int, *, mono: bool = False) -> dict[str, Any]:
    made: dict[str, Any] = {"headerName": name, "field": field, "width": width, "tooltipField": field}
    return {**made, "cellClass": "mono"} if mono else made


def _figure(name: str, field: str, width: int) -> dict[str, Any]:
    unknown: Mapping[str, str] = {"dim": f"params.value === '{UNKNOWN}'"}
    return {
        "headerName": name,
        "field": field,
        "width": width,
        "type": "rightAligned",
        "cellClass": "num",
        "cellClassRules": unknown,
    }
