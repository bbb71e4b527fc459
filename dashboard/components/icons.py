"""The icon set, drawn on a 16 by 16 grid in the colour of the text around it."""

from typing import Any, Final

from dashboard.components.svg import Node, Svg, node


def _path(d: str, **attributes: Any) -> Node:
    return node("path", d=d, **attributes)


def _rect(x: float, y: float, size: tuple[float, float], r: float, **attributes: Any) -> Node:
    return node("rect", x=x, y=y, width=size[0], height=size[1], rx=r, **attributes)


def _circle(x: float, y: float, r: float, **attributes: Any) -> Node:
    return node("circle", cx=x, cy=y, r=r, **attributes)


_SOLID: Final = {"fill": "currentColor"}
_CELL: Final = (5, 3.4)

ICONS: Final[dict[str, tuple[Node, ...]]] = {
    "live": (
        _rect(2, 2, _CELL, 0.6),
        _rect(9, 2, _CELL, 0.6, **_SOLID),
        _rect(2, 6.6, _CELL, 0.6, **_SOLID),
        _rect(9, 6.6, _CELL, 0.6),
        _path("M2 13.5h12"),
    ),
    "decisions": (
        _path("M2 3.5h3.2c2 0 2.6 4.5 4.8 4.5H14M5.2 12.5c2 0 2.6-4.5 4.8-4.5M2 12.5h3.2"),
        _path("M11.8 5.8 14 8l-2.2 2.2"),
    ),
    "experiments": (
        _path("M2 8h12M4.5 5.5v5M11.5 5.5v5"),
        _path("M8 6.3 9.7 8 8 9.7 6.3 8z", **_SOLID),
        _path("M8 2v1.5M8 12.5V14"),
    ),
    "alerts": (
        _path(
            "M8 2.2c-2.3 0-3.7 1.7-3.7 4 0 3-1.3 4-1.3 5h10c0-1-1.3-2-1.3-5 0-2.3-1.4-4-3.7-4z"
            "M6.6 13.4c.3.5.8.7 1.4.7s1.1-.2 1.4-.7"
        ),
    ),
    "health": (_path("M1.8 8.5h2.7l1.6-4.3 3 7.6 1.7-3.3h3.4"),),
    "setup": (
        _circle(8, 8, 6),
        _path("M6.4 6.3c.1-1 .8-1.6 1.7-1.6s1.6.6 1.6 1.5c0 1.1-1.6 1.2-1.6 2.5M8.1 11.2v.1"),
    ),
    "caret": (_path("m4.5 6.5 3.5 3.5 3.5-3.5"),),
    "clock": (_circle(8, 8, 5.8), _path("M8 4.7V8l2.2 1.5")),
    "pause": (_path("M5.5 3.5v9M10.5 3.5v9"),),
    "link": (
        _path(
            "M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.3-2.3a2.6 2.6 0 0 0-3.7-3.7l-.8.8"
            "M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.2 9.1a2.6 2.6 0 0 0 3.7 3.7l.8-.8"
        ),
    ),
    "theme": (_circle(8, 8, 5.5), _path("M8 2.5v11a5.5 5.5 0 0 0 0-11z", fill="currentColor", stroke="none")),
    "copy": (
        _rect(5.5, 5.5, (8, 8), 1.5),
        _path("M10.5 5.5V4A1.5 1.5 0 0 0 9 2.5H4A1.5 1.5 0 0 0 2.5 4v5A1.5 1.5 0 0 0 4 10.5h1.5"),
    ),
    "crit": (_path("M5.3 1.8h5.4l3.5 3.5v5.4l-3.5 3.5H5.3l-3.5-3.5V5.3zM8 5v3.5M8 10.9v.1"),),
    "warn": (_path("M8 2.3 14.2 13H1.8zM8 6.5v3M8 11.3v.1"),),
    "info": (_circle(8, 8, 6), _path("M8 7.3v3.8M8 4.9V5")),
    "wait": (_circle(8, 8, 6, strokeDasharray="2.5 2.2"), _path("M8 5v3.2l1.8 1.2")),
    "ok": (_circle(8, 8, 6), _path("m5.3 8.2 1.9 1.9 3.6-4")),
    "cross": (_path("m4.5 4.5 7 7M11.5 4.5l-7 7"),),
    "search": (_circle(7, 7, 4.3), _path("m10.3 10.3 3.2 3.2")),
    "node": (_rect(2.5, 3, (11, 4), 1), _rect(2.5, 9, (11, 4), 1), _path("M5 5h.1M5 11h.1")),
    "back": (_path("M9.5 4.5 6 8l3.5 3.5"),),
    "forward": (_path("M6.5 4.5 10 8l-3.5 3.5"),),
    "play": (_path("M5 3.3v9.4l7.5-4.7z"),),
    "filter": (_path("M2.5 4h11M4.5 8h7M6.5 12h3"),),
}
"""Icon name to its drawing."""


def icon(name: str, size: int = 14, *, stroke: float = 1.5, label: str | None = None) -> Svg:
    """An icon of ``size`` CSS pixels. Raises KeyError for a name that is not in ``ICONS``."""
    return Svg(
        nodes=list(ICONS[name]),
        viewBox="0 0 16 16",
        width=size,
        height=size,
        label=label,
        attrs={
            "fill": "none",
            "stroke": "currentColor",
            "strokeWidth": stroke,
            "strokeLinecap": "round",
            "strokeLinejoin": "round",
        },
    )


def brand(size: int = 26) -> Svg:
    """The mark: a balance whose beam leans to the heavier side."""
    round_ends = {"strokeWidth": 1.8, "strokeLinecap": "round"}
    return Svg(
        nodes=[
            _path("M3 19.5h20", stroke="currentColor", **round_ends),
            _path("M5.5 15.5 20.5 11", stroke="var(--accent)", **round_ends),
            _path("M13 13.3v6", stroke="currentColor", strokeWidth=1.8),
            _rect(5, 8.6, (5, 5), 1, **_SOLID),
            _rect(16.6, 5.3, (3.4, 3.4), 0.8, **_SOLID),
        ],
        viewBox="0 0 26 26",
        width=size,
        height=size,
        attrs={"fill": "none"},
    )
