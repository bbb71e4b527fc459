"""The live page: the frame that assets/live*.js fills five times a second over a WebSocket.

Nothing here is redrawn by a callback: policy, order of rows, palette and chosen node are kept in the
address by the browser, which reads them when the page is inserted.
"""

from typing import Any, Final

from dash import Dash, html

from dashboard.components import attrs, panel
from dashboard.page import MOUNT, NavEntry, Page, Visit
from storage.queries import Reader

SOCKET: Final = "/ws/weights"
WEIGHTS: Final = "/api/v1/weights"
NODES: Final = "/api/v1/nodes"

_TILES: Final = (
    ("rate", "Decisions", ""),
    ("lag", "Lag p95", ", span end to pixel"),
    ("frames", "Frames", ""),
    ("nodes", "Effective nodes", ""),
    ("oldest", "Oldest weight", ""),
)
_SORTS: Final = (("name", "group, name"), ("weight", "weight"), ("age", "oldest first"))


def register(app: Dash, reader: Reader) -> Page:
    """Describe the page. It asks the store nothing itself and has no callbacks."""
    del app, reader
    return Page(
        name="live",
        path="/live",
        title="Live weights",
        layout=_layout,
        nav=NavEntry("Live", "live", "L"),
        controls=frozenset({"scope", "live"}),
        default_range="1m",
    )


def _layout(visit: Visit) -> Any:
    """The page for one service or all; ``key`` makes every visit start with a fresh view."""
    return html.Div(
        [
            _tiles(),
            html.Div(**_hook("banner")),
            html.Div(className="panel state live-state", **_hook("state")),
            html.Div([_map(), _aside()], className="live-grid"),
        ],
        className="live-view",
        key=f"{visit.service or ''} {visit.now_unix_nano}",
        **attrs(
            data_live_root="",
            data_ws=SOCKET,
            data_weights=WEIGHTS,
            data_nodes=NODES,
            data_service=visit.service or "",
            data_decisions=f"{MOUNT}/decisions",
            data_setup=f"{MOUNT}/setup",
            data_health=f"{MOUNT}/health",
        ),
    )


def _hook(name: str) -> dict[str, Any]:
    """How the browser side finds an element."""
    return attrs(data_live=name)


def _tiles() -> Any:
    return html.Section(
        [
            html.Div(
                [
                    html.Div([caption, html.Span(rest, className="hide-s")], className="cap"),
                    html.Div([html.Span("–"), html.Small("")], className="v", **_hook(name)),
                    html.Div("", className="s", **_hook(f"{name}-note")),
                ],
                className="tile",
            )
            for name, caption, rest in _TILES
        ],
        className="tiles",
        **attrs(aria_label="State of the feed"),
    )


def _select(name: str, label: str, options: list[Any]) -> Any:
    return html.Label(
        [html.Span(label, className="k"), html.Select(options, **_hook(name))],
        className="sel live-select",
    )


def _map() -> Any:
    sorts = [html.Option(text, value=value) for value, text in _SORTS]
    return html.Section(
        [
            html.Header(
                [
                    html.H2("Weight by node"),
                    _select("policy", "Policy", []),
                    _select("sort", "Rows", sorts),
                    _legend(),
                ]
            ),
            html.Div(
                [
                    html.Div(className="colh", **_hook("heads"), **attrs(aria_hidden="true")),
                    _canvas(),
                    html.Div("", className="dim f11", **_hook("left-out")),
                    html.Div(_table(), className="vh"),
                ],
                className="body",
                **_hook("body"),
            ),
        ],
        className="panel inst",
        **attrs(aria_label="Weights by node"),
    )


def _legend() -> Any:
    """What colours and ages mean, and which palette is used."""
    palettes = html.Div(
        [
            html.Button(text, type="button", **attrs(data_palette=name, aria_pressed="false"))
            for name, text in (("heat", "Standard"), ("safe", "Colour-blind safe"))
        ],
        className="seg",
        role="group",
        **attrs(aria_label="Palette"),
    )
    colours = html.Span(
        [
            html.Span("weight 0"),
            html.Canvas(width=88, height=8, **_hook("ramp")),
            html.Span("1", **_hook("ramp-top")),
        ],
        className="ramp",
    )
    ages = html.Span(
        [
            html.Span("<100 ms"),
            html.Span([html.I(), html.I(className="half"), html.I(className="st")], className="ages"),
            html.Span(">1 s old"),
        ],
        className="ramp hide-s",
    )
    return html.Div([colours, ages, palettes], className="x")


def _table() -> Any:
    head = html.Tr([html.Th(text, scope="col") for text in ("Node", "Weight", "Age")])
    caption = html.Caption("Current weight and age of each node")
    return html.Table([caption, html.Thead(head), html.Tbody()], **_hook("table"))


def _canvas() -> Any:
    label = (
        "Heat map of weights: nodes by time, and nodes by scorer. Up and Down choose a node, Enter opens its "
        "decisions, Space freezes the picture. A table with the same values follows."
    )
    return html.Div(
        html.Div(
            [
                html.Canvas(className="base", role="img", **_hook("map"), **attrs(aria_label=label)),
                html.Canvas(className="over", **_hook("over"), **attrs(aria_hidden="true")),
            ],
            className="spacer",
            **_hook("spacer"),
        ),
        className="scroller",
        tabIndex="0",
        role="group",
        **_hook("scroller"),
        **attrs(aria_label="Heat map"),
    )


def _aside() -> Any:
    return html.Aside(
        [
            html.Section(className="panel", **_hook("node"), **attrs(aria_label="Chosen node")),
            panel(
                "Needs a look",
                html.Ul(className="att", **_hook("findings")),
                meta=html.Span("", **_hook("findings-count")),
                **attrs(data_part="look"),
            ),
            panel(
                "What changed", html.Ul(className="ev", **_hook("changes")), meta="since this page was opened"
            ),
        ],
        className="insp",
        **_hook("aside"),
        **attrs(aria_label="Inspector"),
    )
