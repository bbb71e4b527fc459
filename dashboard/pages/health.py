"""Health: who sends badly, whether the lag is ours, whether the store will hold."""

from collections.abc import Callable
from typing import Any, Final

from dash import Dash, Input, Output, html

from dashboard.components import Pulse, error_state
from dashboard.config import DashboardConfig
from dashboard.page import NavEntry, Page, Visit
from dashboard.pages.health_panels import intake_tiles, messages_panel, rejects_panel, sources_panel
from dashboard.pages.health_store import configuration_panel, processes_panel, store_panel
from dashboard.state import read
from storage.errors import StoreUnavailableError
from storage.queries import Reader
from storage.records import HealthView

_PERIOD_MS: Final = 2_000


def register(
    app: Dash, reader: Reader, *, config: DashboardConfig, clock: Callable[[], int], version: str
) -> Page:
    """The health page, asked anew every two seconds while somebody looks."""

    @app.callback(
        Output("health-body", "children"),
        Output("health-pulse", "answered"),
        Input("health-pulse", "n"),
        prevent_initial_call=True,
    )
    async def follow(beat: int) -> tuple[Any, int]:
        try:
            view = await read(reader.health)
        except StoreUnavailableError as gone:
            return failing(gone), beat
        return draw(view, config, clock(), version), beat

    def layout(visit: Visit) -> Any:
        try:
            body: Any = draw(reader.health(), config, visit.now_unix_nano, version)
        except StoreUnavailableError as gone:
            body = failing(gone)
        return [
            Pulse(id="health-pulse", n=0, answered=0, period_ms=_PERIOD_MS),
            html.Div(body, id="health-body", className="stack"),
        ]

    return Page("health", "/health", "Health", layout, NavEntry("Health", "health", "H"))


def failing(gone: StoreUnavailableError) -> Any:
    """Shown in place of figures, which would be old: they come back by themselves."""
    return error_state(
        "The store cannot be read.",
        works="This page asks again by itself. Senders are told to retry; nothing acknowledged is lost.",
        detail=str(gone),
    )


def draw(view: HealthView, config: DashboardConfig, now: int, version: str) -> list[Any]:
    """The whole page for one answer of the store."""
    return [
        intake_tiles(view, now),
        sources_panel(view.sources, now),
        html.Div([rejects_panel(view.sources), store_panel(view.store)], className="two"),
        messages_panel(view.sources),
        processes_panel(view.processes, now),
        configuration_panel(config, view.store, version),
    ]
