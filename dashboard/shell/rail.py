"""The rail: where one can go, where one is, how many alerts fire."""

from collections.abc import Sequence
from typing import Any, Final

from dash import html

from dashboard.components import attrs, brand, icon
from dashboard.page import MOUNT, NavEntry, Page

ALERT_COUNT_ID: Final = "wb-alert-count"


def rail(pages: Sequence[Page], current: str | None, query: str) -> list[Any]:
    """Children of the rail.

    ``current`` is the name of the lit page; ``query`` (with its question mark, or empty) is carried along
    to every page, so that the scope stays.
    """
    entries = [(page, page.nav) for page in pages if page.nav is not None]
    top = [_entry(page, nav, page.name == current, query) for page, nav in entries if not nav.foot]
    foot = [_entry(page, nav, page.name == current, query) for page, nav in entries if nav.foot]
    home = html.A(brand(), href=f"{MOUNT}/", className="brand", **attrs(aria_label="Weighbridge home"))
    return [home, *top, html.Span(className="sp"), *foot]


def _entry(page: Page, nav: NavEntry, lit: bool, query: str) -> Any:
    label: list[Any] = [icon(nav.icon, 20, stroke=1.35), html.Span(nav.label)]
    if page.name == "alerts":
        label.append(html.Span(id=ALERT_COUNT_ID, className="cnt"))
    return html.A(
        label,
        href=f"{MOUNT}{page.path}{query}",
        title=f"{nav.label} (G {nav.key})" if nav.key else nav.label,
        className="nav",
        **attrs(aria_current="page" if lit else None, data_key=nav.key.lower() or None),
    )
