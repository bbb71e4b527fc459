"""Inline SVG, times and a pulse: the three parts that Dash's own components lack.

Each is a React component of assets/parts.js. SVG is handed over as nodes, never as markup, so text from
a sender stays text; the browser side draws only the elements and attributes it knows.
"""

from collections.abc import Sequence
from typing import Any, Final

from dash.development.base_component import Component

NAMESPACE: Final = "weighbridge_parts"
Node = dict[str, Any]


def node(tag: str, *, text: str | None = None, children: Sequence[Node] = (), **attributes: Any) -> Node:
    """One SVG element; attribute names as in React: ``strokeWidth``, ``className``."""
    made: Node = {"tag": tag, "attrs": attributes}
    if text is not None:
        made["text"] = text
    if children:
        made["nodes"] = list(children)
    return made


class _Part(Component):
    """A component of assets/parts.js."""

    _children_props: list[str] = []  # noqa: RUF012  # the name and type are Dash's
    _base_nodes: list[str] = []  # noqa: RUF012  # the name and type are Dash's
    _namespace = NAMESPACE
    _valid_wildcard_attributes: list[str] = []  # noqa: RUF012  # the name and type are Dash's
    available_wildcard_properties: list[str] = []  # noqa: RUF012  # the name and type are Dash's

    def __init__(self, **properties: Any) -> None:
        given = {name: value for name, value in properties.items() if value is not None}
        super().__init__(**given)  # type: ignore[no-untyped-call]  # the same


class Svg(_Part):
    """A drawing: ``nodes`` (see ``node``), ``viewBox``, ``width``, ``height``, ``className``, ``style``.

    With ``label`` it is an image that assistive technology reads; without, it is hidden from it.
    """

    _namespace = NAMESPACE
    _children_props: list[str] = []  # noqa: RUF012  # the same
    _type = "Svg"
    _prop_names = ["id", "nodes", "viewBox", "width", "height", "className", "style", "label", "attrs"]  # noqa: RUF012  # the same


class When(_Part):
    """An instant in the zone chosen in the top bar (UTC unless changed).

    ``ms`` are milliseconds since the epoch. ``form`` is "time" (02:14:31), "full" (with the date) or
    "exact" (with date and milliseconds).
    """

    _namespace = NAMESPACE
    _children_props: list[str] = []  # noqa: RUF012  # the same
    _type = "When"
    _prop_names = ["id", "ms", "form", "className"]  # noqa: RUF012  # the same


class Pulse(_Part):
    """Counts ``n`` up every ``period_ms``, while the page is visible and its last count was answered.

    A callback takes ``n`` as its input and returns it to ``answered``. So a slow store is never asked
    twice at a time, and a callback that fails is asked again after ``patience_ms``.
    """

    _namespace = NAMESPACE
    _children_props: list[str] = []  # noqa: RUF012  # the same
    _type = "Pulse"
    _prop_names = ["id", "n", "answered", "period_ms", "patience_ms"]  # noqa: RUF012  # the same
