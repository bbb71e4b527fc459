"""Shared building blocks of the pages: panels, tiles, badges, banners, tables, code.

They put the classes of assets/components.css on plain HTML. Whatever comes from a sender is handed over
as a string child, which the browser shows as text.
"""

from collections.abc import Sequence
from typing import Any, Final, Literal

from dash import html

from dashboard.components.attrs import attrs
from dashboard.components.icons import icon

Tone = Literal["ok", "warn", "crit", "info", "wait", ""]
"""State of a badge, a tile or a banner; its icon has the same name, so colour never speaks alone."""

_ICON_ONLY: Final = 14


def panel(title: str, *children: Any, meta: Any = None, actions: Sequence[Any] = (), **props: Any) -> Any:
    """A titled box with a hairline; ``meta`` follows the title, ``actions`` stand at its right end."""
    head: list[Any] = [html.H2(title)]
    if meta is not None:
        head.append(html.Span(meta, className="meta ell"))
    if actions:
        head.append(html.Div(list(actions), className="x"))
    return html.Section([html.Header(head), *children], className="panel", **props)


def tile(caption: str, value: str, unit: str = "", *, note: Any = "", tone: Tone = "") -> Any:
    """One figure of a row of tiles: caption, value with its unit, and a note below."""
    shown: list[Any] = [value]
    if unit:
        shown.append(html.Small(unit))
    return html.Div(
        [
            html.Div(caption, className="cap"),
            html.Div(shown, className=f"v {tone}".strip()),
            html.Div(note, className="s"),
        ],
        className="tile",
    )


def tiles(*items: Any, label: str) -> Any:
    """A row of tiles; ``label`` names it for assistive technology."""
    return html.Section(list(items), className="tiles", **attrs(aria_label=label))


def badge(text: Any, tone: Tone = "", *, shape: str | None = None) -> Any:
    """State as shape, word and colour; ``shape`` overrides the icon of the tone."""
    drawn = shape or tone
    children = [icon(drawn, 12), html.Span(text)] if drawn else html.Span(text)
    colour = "" if tone == "wait" else tone
    return html.Span(children, className=f"badge {colour}".strip())


def banner(lead: str, text: Any = "", tone: Tone = "warn", *, actions: Sequence[Any] = ()) -> Any:
    """A full-width message: what happened in bold, then its meaning, then what can be done."""
    body: list[Any] = [
        icon(tone or "info", 16),
        html.Div([html.B(lead), " ", html.Span(text, className="mid")]),
    ]
    if actions:
        body.append(html.Div(list(actions), className="x row"))
    colour = "" if tone == "warn" else tone
    return html.Div(body, className=f"banner {colour}".strip(), role="status")


def copy_button(text: str, label: str, *, word: str | None = None) -> Any:
    """A button that copies ``text``; assets/shell.js does the copying and says so."""
    content: list[Any] = [icon("copy", _ICON_ONLY)]
    if word:
        content.append(html.Span(word))
    return html.Button(
        content,
        className="btn" if word else "ibtn",
        type="button",
        title=label,
        **attrs(aria_label=label, data_copy=text),
    )


def key_values(*pairs: tuple[str, Any]) -> Any:
    """A definition list in two columns."""
    rows: list[Any] = []
    for name, value in pairs:
        rows += [html.Dt(name), html.Dd(value)]
    return html.Dl(rows, className="kv")


def table(head: Sequence[Any], rows: Sequence[Any], *, label: str, class_name: str = "") -> Any:
    """A small table; ``head`` holds ``Th`` or text, ``rows`` holds ``Tr``; it scrolls sideways by itself."""
    cells = [cell if not isinstance(cell, str) else html.Th(cell, scope="col") for cell in head]
    return html.Div(
        html.Table(
            [html.Thead(html.Tr(cells)), html.Tbody(list(rows))],
            className=f"t {class_name}".strip(),
            **attrs(aria_label=label),
        ),
        className="scroll-x",
        tabIndex=0,
        role="group",
        **attrs(aria_label=label),
    )


def number_head(text: str) -> Any:
    """A column head above numbers."""
    return html.Th(text, className="num", scope="col")


def number_cell(value: Any, class_name: str = "") -> Any:
    """A right-aligned cell with tabular figures."""
    return html.Td(value, className=f"num {class_name}".strip())


def code_block(text: str, label: str) -> Any:
    """Code with line numbers that are not copied along when somebody selects it."""
    lines: list[Any] = []
    for line in text.rstrip("\n").split("\n"):
        lines += [html.Span(className="ln"), line, "\n"]
    return html.Pre(html.Code(lines), className="code-block", tabIndex=0, **attrs(aria_label=label))


def keys(*names: str) -> Any:
    """Key caps."""
    return html.Span([html.Kbd(name, className="kbd") for name in names], className="row keys")
