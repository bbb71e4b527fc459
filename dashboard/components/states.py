"""What a page shows when it has nothing to show: empty, loading, failing, unknown."""

from collections.abc import Sequence
from typing import Any

from dash import dcc, html

from dashboard.components.attrs import attrs
from dashboard.components.blocks import banner
from dashboard.components.icons import icon


def empty_state(title: str, text: Any, *actions: Any, shape: str = "search") -> Any:
    """Nothing to show and why; ``actions`` say what to do next."""
    return html.Div(
        [
            html.Span(icon(shape, 22), className="dim"),
            html.H2(title),
            html.P(text),
            html.Div(list(actions), className="row wrap") if actions else None,
        ],
        className="state",
    )


def error_state(what: str, *, works: str, retry: str | None = None, detail: str = "") -> Any:
    """What failed, what still works, and a way to try again.

    ``retry`` is the address to load again; without it the page's own address is. ``detail`` is the
    store's own message.
    """
    again = html.Button("Try again", className="btn", type="button", **attrs(data_retry=retry or ""))
    said = (
        [html.P(["The store says: ", html.Span(detail, className="mono")], className="f12 dim")]
        if detail
        else []
    )
    return html.Div(
        [banner(what, works, "crit", actions=(again,)), *said],
        className="failing",
        role="alert",
    )


def skeleton(heights: Sequence[int] = (74, 236, 180), *, label: str = "Loading") -> Any:
    """Grey blocks at the final heights (px); they appear only when loading takes over 300 ms."""
    blocks = [html.Div(className="bone", style={"height": f"{height}px"}) for height in heights]
    return html.Div([html.Span(label, className="vh", role="status"), *blocks], className="skeleton")


def not_found(path: str, home: str) -> Any:
    """No page lives at ``path``."""
    return html.Div(
        [
            html.H2("There is no page here"),
            html.P(["Nothing lives at ", html.Span(path, className="mono"), ". The link may be cut short."]),
            html.Div(dcc.Link("Open the dashboard", href=home, className="btn"), className="row"),
        ],
        className="state",
    )
