"""The two long lists of a decision, each one React component fed with plain rows.

A row of plain HTML costs Dash a dozen components of its own; five hundred spans would take seconds to
appear. assets/decision_parts.js draws the rows instead, and puts every text into a text node.
"""

from typing import Any, Final

from dash.development.base_component import Component

NAMESPACE: Final = "weighbridge_decision"


class _Rows(Component):  # type: ignore[misc,unused-ignore]  # Dash's base class carries no types
    """A component of assets/decision_parts.js."""

    # Dash reads these from the class, as lists, and declares them without saying that they belong to it.
    _children_props: list[str] = []  # noqa: RUF012  # see above
    _base_nodes: list[str] = []  # noqa: RUF012  # see above
    _namespace = NAMESPACE
    _valid_wildcard_attributes: list[str] = []  # noqa: RUF012  # see above
    available_wildcard_properties: list[str] = []  # noqa: RUF012  # see above

    def __init__(self, **properties: Any) -> None:
        super().__init__(**properties)


class Spans(_Rows):
    """The rows of a waterfall.

    ``ticks`` are [per cent, words]. A row holds ``name``, ``title``, ``service``, ``service_title``,
    ``kind`` (dec, own, far), ``indent`` (px), ``left`` and ``width`` (per cent), ``words``, ``error``,
    ``notes``, ``place`` (inside, left, right), ``bad``, ``lit`` and ``href``.
    """

    _type = "Spans"
    _namespace = NAMESPACE
    _children_props: list[str] = []  # noqa: RUF012  # see _Rows
    _prop_names = ["id", "ticks", "rows"]  # noqa: RUF012  # see _Rows


class Candidates(_Rows):
    """The rows of the candidates' table.

    ``title`` heads the bars. A row holds ``rank``, ``node``, ``node_title``, ``tag``, ``score``,
    ``behind``, ``weight``, ``won``, ``parts`` ([class, per cent, title] each) and ``spoken``.
    """

    _type = "Candidates"
    _namespace = NAMESPACE
    _children_props: list[str] = []  # noqa: RUF012  # see _Rows
    _prop_names = ["id", "title", "rows"]  # noqa: RUF012  # see _Rows
