"""Puts the dashboard together: one FastAPI application with the API, the live feed and Dash on it."""

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final

import dash_mantine_components as dmc
from dash import Dash, html
from fastapi import APIRouter, FastAPI
from fastapi.responses import RedirectResponse

from dashboard.api import register_not_found
from dashboard.config import DashboardConfig
from dashboard.page import MOUNT
from dashboard.pages import register_pages
from dashboard.security import BodyLimit, HostCheck, SecurityHeaders, content_policy
from dashboard.shell import Site, frame, register_router
from storage.queries import Reader

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

_LOG = logging.getLogger(__name__)
_ASSETS: Final = Path(__file__).parent / "assets"
_IN_HEAD: Final = "theme.js"  # must run before the first paint; Dash loads its assets at the end of <body>
_MOST_BODY_BYTES: Final = 4 * 2**20
_INDEX: Final = """<!DOCTYPE html>
<html lang="en" data-mantine-color-scheme="dark">
  <head>
    {%metas%}
    <title>{%title%}</title>
    <script src="/ui/assets/theme.js?v=VERSION"></script>
    <link rel="icon" type="image/svg+xml" href="/ui/assets/icon.svg">
    <link rel="preload" as="font" type="font/woff2" crossorigin href="/ui/assets/fonts/inter-latin-var.woff2">
    {%css%}
  </head>
  <body>
    <noscript>Weighbridge draws in the browser and needs JavaScript. The same data is at /api/docs.</noscript>
    {%app_entry%}
    <footer>
      {%config%}
      {%scripts%}
      {%renderer%}
    </footer>
  </body>
</html>"""


def build_app(
    config: DashboardConfig,
    reader: Reader,
    *,
    clock: Callable[[], int],
    version: str,
    routers: Sequence[APIRouter] = (),
    lifespan: Lifespan | None = None,
) -> FastAPI:
    """The web application. ``/`` and ``/ui`` lead to ``/ui/``; what nobody knows answers 404 JSON.

    ``clock`` gives nanoseconds since the epoch. ``routers`` (JSON API, operations, live feed) are put
    before the pages. ``lifespan`` runs what must live as long as the server does, such as the live hub.
    Nothing here traces or reports itself.
    """
    server = FastAPI(
        title="Weighbridge",
        version=version,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    for router in routers:
        server.include_router(router)
    for path in ("/", MOUNT):
        server.add_api_route(path, _to_pages, methods=["GET", "HEAD"], include_in_schema=False)
    register_not_found(server, f"{MOUNT}/")
    app = _build_dash(server, version)
    pages = register_pages(app, reader, config=config, clock=clock, version=version)
    register_router(app, Site(pages, reader, clock))
    _settle(app)
    server.add_middleware(BodyLimit, most=_MOST_BODY_BYTES)
    if config.known_hosts is not None:
        server.add_middleware(HostCheck, names=config.known_hosts)
    server.add_middleware(SecurityHeaders, policy=content_policy(app.csp_hashes()))
    return server


async def _to_pages() -> RedirectResponse:
    return RedirectResponse(f"{MOUNT}/")


def _build_dash(server: FastAPI, version: str) -> Any:
    app = Dash(
        "dashboard",
        server=server,  # type: ignore[arg-type]  # its annotation knows only its own kinds
        assets_folder=str(_ASSETS),
        assets_ignore=f"^{_IN_HEAD}$",
        routes_pathname_prefix=f"{MOUNT}/",
        requests_pathname_prefix=f"{MOUNT}/",
        index_string=_INDEX.replace("VERSION", version),
        title="Weighbridge",
        update_title=None,  # type: ignore[arg-type]  # documented: None keeps the title still
        serve_locally=True,
        compress=True,
        suppress_callback_exceptions=True,
        add_log_handler=False,
        on_error=_failed,
        use_pages=False,
        enable_mcp=False,
    )
    app.logger.setLevel(logging.WARNING)
    app.layout = dmc.MantineProvider(html.Div(frame(), id="wb-root"), defaultColorScheme="auto")
    return app


def _failed(error: Exception) -> None:
    """Dash answers 500 without a word; the log must have the cause."""
    _LOG.error("a callback failed", exc_info=error)
    raise error


def _settle(app: Any) -> None:
    """Do now what Dash leaves for later, in the private names 4.4 has for it.

    Its catch-all would be added at start-up on whichever Dash of the process was made last; its list of
    assets would be read at the first request to its own address, so that a first visit to a page's
    address got neither styles nor scripts; and its second WebSocket would be opened by every viewer
    although nothing is sent over it.
    """
    app.backend._setup_catchall()
    app._setup_server()
    app.backend.websocket_capability = False
