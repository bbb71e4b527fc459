"""From an address to a page: one callback that answers main area, bar and rail together."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlencode

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from dashboard.components import Pulse, attrs, error_state, not_found, skeleton
from dashboard.page import MOUNT, Page, Visit
from dashboard.shell.bar import address, bar
from dashboard.shell.rail import ALERT_COUNT_ID, rail
from dashboard.state import read
from storage.errors import StorageError, StoreUnavailableError
from storage.queries import Reader

_LOG = logging.getLogger(__name__)
_MOST_QUERY: Final = 4_096
_MOST_ALERTS: Final = 100
_ALERT_PERIOD_MS: Final = 5_000
_WORKS_ANYWAY: Final = "Intake is a process of its own: what senders were told is stored stays stored."


@dataclass(frozen=True, slots=True)
class Site:
    """What the router needs: the pages, the store, the clock, and which page an address without one means."""

    pages: Sequence[Page]
    reader: Reader
    clock: Callable[[], int]

    def find(self, path: str) -> tuple[Page, Mapping[str, str]] | None:
        """The page that lives at ``path`` (below the mount) and the named parts of the path."""
        for page in self.pages:
            parts = page.match(path)
            if parts is not None:
                return page, parts
        return None


def frame() -> Any:
    """The layout before the first page has come."""
    return [
        html.A("Skip to content", href="#main", className="skip"),
        dcc.Location(id="wb-url", refresh="callback-nav"),
        dcc.Store(id="wb-page"),
        Pulse(id="wb-alert-pulse", n=0, answered=0, period_ms=_ALERT_PERIOD_MS),
        html.Div(
            [
                html.Nav(id="wb-rail", className="rail", **attrs(aria_label="Main")),
                html.Header(id="wb-bar", className="bar"),
                html.Main(skeleton(), id="main", className="main", tabIndex="-1"),
            ],
            className="app",
        ),
        html.Div(id="wb-toast", className="toast", role="status"),
        html.Div(id="wb-announce", className="vh", role="status", **attrs(aria_live="polite")),
    ]


def parse_query(search: str | None) -> dict[str, str]:
    """The last value of each key of a query string; garbage is left out, never raised."""
    text = (search or "").lstrip("?")[:_MOST_QUERY]
    return dict(parse_qsl(text, keep_blank_values=False, errors="replace", max_num_fields=None))


def register_router(app: Dash, site: Site) -> None:
    """Register the callbacks of the shell on ``app``."""

    @app.callback(
        Output("main", "children"),
        Output("wb-bar", "children"),
        Output("wb-rail", "children"),
        Output("wb-page", "data"),
        Input("wb-url", "pathname"),
        Input("wb-url", "search"),
    )
    async def route(pathname: str | None, search: str | None) -> tuple[Any, ...]:
        return await show(site, pathname or "", search)

    @app.callback(
        Output(ALERT_COUNT_ID, "children"),
        Output(ALERT_COUNT_ID, "aria-label"),
        Output("wb-alert-pulse", "answered"),
        Input("wb-alert-pulse", "n"),
        Input("wb-page", "data"),
        State("wb-alert-pulse", "n"),
    )
    async def count_alerts(_beat: int, _page: Any, beat: int) -> tuple[Any, ...]:
        firing = await firing_alerts(site.reader)
        if firing is None:
            return no_update, no_update, beat
        text = "" if not firing else f"{firing}" if firing < _MOST_ALERTS else f"{_MOST_ALERTS - 1}+"
        return text, f"{text} firing" if text else "", beat

    app.clientside_callback(
        ClientsideFunction(namespace="weighbridge", function_name="arrived"),
        Output("wb-announce", "children"),
        Input("wb-page", "data"),
        prevent_initial_call=True,
    )


async def firing_alerts(reader: Reader) -> int | None:
    """How many alerts fire, counted up to 100; None when the store cannot say now."""
    try:
        return len(await read(reader.alerts, state="firing", limit=_MOST_ALERTS))
    except StorageError:
        return None


async def show(site: Site, pathname: str, search: str | None) -> tuple[Any, ...]:
    """Main area, bar, rail and facts about the page for one address."""
    path = unquote(pathname.removeprefix(MOUNT)).rstrip("/") or await landing(site)
    query = parse_query(search)
    found = site.find(path)
    page, parts = found if found else (None, {})
    visit = Visit(site.clock(), parts, query, page.default_range if page else "15m")
    main = await _content(page, path, visit)
    services = await _services(site.reader) if page and "scope" in page.controls else ()
    carried = f"?{urlencode({'service': visit.service})}" if visit.service else ""
    lit = (page.parent or page.name) if page else None
    title = f"{page.title if page else 'Not found'} · Weighbridge"
    facts = {"name": page.name if page else None, "path": path, "title": title}
    return main, bar(page, path, visit, services), rail(site.pages, lit, carried), facts


async def landing(site: Site) -> str:
    """Live; or Set up as long as the store holds no decision."""
    names = {page.name for page in site.pages}
    try:
        health = await read(site.reader.health)
    except StorageError:
        return "/live"
    return "/live" if "live" in names and health.store.decisions > 0 else "/setup"


async def _content(page: Page | None, path: str, visit: Visit) -> Any:
    if page is None:
        return not_found(f"{MOUNT}{path}", f"{MOUNT}/")
    try:
        return await read(page.layout, visit)
    except StoreUnavailableError as gone:
        return error_state(
            f"{page.title} cannot be shown.",
            works=_WORKS_ANYWAY,
            retry=address(path, visit.query),
            detail=str(gone),
        )
    except Exception:
        _LOG.exception("the page %s failed", page.name)
        return error_state(
            f"{page.title} failed to draw.",
            works="The other pages work. The log of the dashboard has the cause.",
            retry=address(path, visit.query),
        )


async def _services(reader: Reader) -> Sequence[str]:
    try:
        return (await read(reader.facets)).services
    except StorageError:
        return ()
