"""The top bar: title, scope, time range, Live and Freeze, copy link, time zone, theme."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from dash import dcc, html

from dashboard.components import attrs, icon
from dashboard.format import instant
from dashboard.page import MOUNT, RANGES, Page, Visit

_RANGE_LABELS: Final[Mapping[str, str]] = {
    "1m": "Last 60 s",
    "5m": "Last 5 min",
    "15m": "Last 15 min",
    "1h": "Last hour",
    "6h": "Last 6 h",
    "24h": "Last 24 h",
    "7d": "Last 7 days",
}
_LONGEST_LIST: Final = 200


def bar(page: Page | None, path: str, visit: Visit, services: Sequence[str]) -> list[Any]:
    """Children of the bar for ``page`` (None: no page lives here), with the controls it uses."""
    controls = page.controls if page else frozenset()
    children: list[Any] = [html.H1(page.title if page else "Not found")]
    if "scope" in controls:
        children += [html.Span(className="sep hide-s"), _scope(path, visit, services)]
    children.append(html.Span(className="grow"))
    if "range" in controls:
        children.append(_range(path, visit))
    if "live" in controls:
        children.append(_live())
    children += [
        html.Button(
            html.Span("UTC", id="wb-zone-name"),
            id="wb-zone",
            type="button",
            className="ibtn zone hide-s",
            title="Time zone of the times shown: UTC or local",
            **attrs(aria_label="Switch between UTC and local time"),
        ),
        _icon_button("wb-copy-link", "link", "Copy link to this view (S)", "Copy link to this view"),
        _icon_button("wb-theme", "theme", "Dark or light theme", "Switch theme"),
    ]
    return children


def address(path: str, query: Mapping[str, str], **changes: str | None) -> str:
    """The address of ``path`` with the query as it is, less or with ``changes``."""
    merged = {**query, **{name: value for name, value in changes.items() if value is not None}}
    kept = {name: value for name, value in merged.items() if changes.get(name, value) is not None}
    return f"{MOUNT}{path}" + (f"?{urlencode(kept)}" if kept else "")


def _icon_button(element_id: str, drawing: str, hint: str, label: str) -> Any:
    return html.Button(
        icon(drawing, 16),
        id=element_id,
        type="button",
        className="ibtn",
        title=hint,
        **attrs(aria_label=label),
    )


def _choice(text: str, href: str, chosen: bool) -> Any:
    mark = [icon("ok", 12)] if chosen else []
    return html.A(
        [html.Span(text, className="ell"), *mark], href=href, **attrs(aria_current="true" if chosen else None)
    )


def _pop(element_id: str, summary: list[Any], choices: list[Any], hint: str, side: str = "") -> Any:
    """A disclosure that lists choices; ``data-seconds`` on the range one is read by shell.js."""
    return html.Details(
        [
            html.Summary(
                [*summary, html.Span(icon("caret", 12), className="dim")], className="sel", title=hint
            ),
            html.Div(choices, className=f"pop-list {side}".strip()),
        ],
        id=element_id,
        className="pop",
    )


def _scope(path: str, visit: Visit, services: Sequence[str]) -> Any:
    chosen = visit.service
    options = [_choice("All services", address(path, visit.query, service=None), chosen is None)]
    listed = list(services[:_LONGEST_LIST])
    if chosen is not None and chosen not in listed:
        listed.insert(0, chosen)
    options += [_choice(name, address(path, visit.query, service=name), name == chosen) for name in listed]
    if not listed:
        options.append(html.Div("No service has sent anything yet", className="none"))
    shown = [html.Span("Scope", className="k"), html.B(chosen or "all", className="ell")]
    pop = _pop("wb-scope", shown, options, "Which service the page covers")
    pop.className = "pop hide-s"
    return pop


def _range(path: str, visit: Visit) -> Any:
    name = visit.range_name
    options = [
        _choice(label, address(path, visit.query, range=key, **{"from": None, "to": None}), key == name)
        for key, label in _RANGE_LABELS.items()
    ]
    time = visit.time
    ends = ("from", time.start_unix_nano), ("to", time.end_unix_nano)
    fields: list[Any] = []
    for end, value in ends:
        fields += [
            html.Label(f"{end.capitalize()}, UTC", htmlFor=f"wb-{end}", className="dim"),
            dcc.Input(id=f"wb-{end}", className="inp mono", value=instant(value), type="text", size="19"),
        ]
    apply = html.Button("Apply", className="btn", type="button", **attrs(data_apply_range=""))
    label = _RANGE_LABELS[name] if name else f"{instant(ends[0][1])[5:16]} to {instant(ends[1][1])[5:16]}"
    pop = _pop(
        "wb-range",
        [icon("clock", 14), html.B(label)],
        [*options, html.Hr(), html.Div([*fields, apply], className="abs")],
        "Time range (T)",
        "right",
    )
    pop.className = "pop hide-s"
    setattr(pop, "data-seconds", RANGES[name] if name else 0)
    return pop


def _live() -> Any:
    freeze: list[Any] = [icon("pause", 12), "Freeze", html.Kbd("Space", className="kbd hide-m")]
    return html.Div(
        [
            html.Button(
                [html.I(className="live on"), html.Span("Live", className="word")],
                id="wb-live",
                type="button",
                **attrs(aria_pressed="true"),
            ),
            html.Button(freeze, id="wb-freeze", type="button", title="Space", **attrs(aria_pressed="false")),
        ],
        className="seg",
        role="group",
        **attrs(aria_label="Live or frozen"),
    )
