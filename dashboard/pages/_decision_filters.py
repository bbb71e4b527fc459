"""The filter panel of the decision list and the chips of what is in force."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import dash_mantine_components as dmc
from dash import dcc, html

from dashboard.components import attrs, icon
from dashboard.figures.quantities import shown
from dashboard.filters import Filters, active, render, without
from dashboard.page import MOUNT, RANGES
from engine.semconv import OUTCOMES

PATH = f"{MOUNT}/decisions"

POLICY, NODE, OUTCOME, TEXT = "decisions-policy", "decisions-node", "decisions-outcome", "decisions-text"
WEIGHT_MIN, WEIGHT_MAX = "decisions-weight-min", "decisions-weight-max"
CONFIDENCE_MIN, CONFIDENCE_MAX = "decisions-confidence-min", "decisions-confidence-max"

INPUTS = {
    POLICY: "policy",
    NODE: "node",
    OUTCOME: "outcome",
    TEXT: "text",
    WEIGHT_MIN: "weight_min",
    WEIGHT_MAX: "weight_max",
    CONFIDENCE_MIN: "confidence_min",
    CONFIDENCE_MAX: "confidence_max",
}
"""Component ids of the panel's inputs and the key each one sets in the address."""

_OPTIONS = 200  # what a menu draws at once; typing narrows it


def address(filters: Filters) -> str:
    """The address of the list under ``filters``."""
    return f"{PATH}{render(filters)}"


def options(values: Sequence[str], current: str | None) -> list[dict[str, str]]:
    """Menu entries, the current value among them even when the range holds none of it."""
    known = list(values) if current is None or current in values else [current, *values]
    return [{"value": value, "label": shown(value, 80)} for value in known if value]


def filter_panel(filters: Filters) -> Any:
    """The panel with every input at its value from the address."""
    return html.Aside(
        [
            _ranges(filters),
            _text("Find", TEXT, filters.text, "Node, policy or trace id"),
            _select("Policy", POLICY, filters.policy),
            _select("Node", NODE, filters.node),
            _select("Outcome", OUTCOME, filters.outcome, list(OUTCOMES)),
            _bounds("Weight", (WEIGHT_MIN, filters.weight_min), (WEIGHT_MAX, filters.weight_max)),
            _bounds(
                "Confidence",
                (CONFIDENCE_MIN, filters.confidence_min),
                (CONFIDENCE_MAX, filters.confidence_max),
            ),
        ],
        id="decisions-filters",
        className="panel fac",
        **attrs(aria_label="Filters"),
    )


def chips(filters: Filters) -> Any:
    """One removable chip for each filter in force, and what opens the panel on a narrow screen."""
    made: list[Any] = [
        html.Button(
            [icon("filter", 14), "Filters", html.Kbd("F", className="kbd hide-s")],
            id="decisions-filter-toggle",
            className="btn ghost",
            type="button",
            **attrs(aria_expanded="false", aria_controls="decisions-filters"),
        )
    ]
    for name, words, value in active(filters):
        made.append(_chip(words, value, address(without(filters, name))))
    if len(made) > 2:
        cleared = Filters(range=filters.range, start=filters.start, end=filters.end)
        made.append(dcc.Link("Clear all", href=address(cleared), className="btn ghost"))
    return html.Div(made, className="tok")


def _ranges(filters: Filters) -> Any:
    """The time ranges, for screens too narrow for the control in the top bar."""
    links = [
        dcc.Link(
            name,
            href=address(replace(filters, range=name, start=None, end=None)),
            className="on" if name == filters.range and not filters.custom else "",
        )
        for name in RANGES
    ]
    return html.Section([html.H3("Last"), html.Div(links, className="seg links")], className="ranges")


def _chip(words: str, value: str, href: str) -> Any:
    relation = "" if value[:1] in "≥≤" else "contains " if words == "text" else "= "
    return html.Span(
        [
            html.Span(words, className="k"),
            html.Span(f"{relation}{shown(value, 80)}", className="ell", title=shown(value, 600)),
            dcc.Link(icon("cross", 12), href=href, title=f"Remove the filter on {words}", className="drop"),
        ],
        className="chip",
    )


def _text(label: str, ident: str, value: str | None, hint: str) -> Any:
    return html.Section(
        dmc.TextInput(
            id=ident,
            label=label,
            value=value or "",
            placeholder=hint,
            debounce=True,
            size="xs",
            leftSection=icon("search", 13),
        )
    )


def _select(label: str, ident: str, value: str | None, values: Sequence[str] = ()) -> Any:
    return html.Section(
        dmc.Select(
            id=ident,
            label=label,
            value=value,
            data=options(values, value),
            placeholder="any",
            clearable=True,
            searchable=True,
            limit=_OPTIONS,
            nothingFoundMessage="None in this range",
            size="xs",
        )
    )


def _bounds(label: str, least: tuple[str, float | None], most: tuple[str, float | None]) -> Any:
    return html.Section(
        [
            html.H3(label),
            html.Div(
                [
                    _bound(label, "at least", *least),
                    html.Span("to", className="dim"),
                    _bound(label, "at most", *most),
                ]
            ),
        ],
        className="bounds",
    )


def _bound(label: str, words: str, ident: str, value: float | None) -> Any:
    return dmc.NumberInput(
        id=ident,
        value="" if value is None else value,
        placeholder="min" if words == "at least" else "max",
        step=0.05,
        hideControls=True,
        debounce=True,
        size="xs",
        **attrs(aria_label=f"{label} {words}"),
    )
