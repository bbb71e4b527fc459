"""Puts the API together: every noun under ``/api/v1``, and JSON for what does not exist."""

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from dashboard.api.alerts import alerts_router
from dashboard.api.asking import Store
from dashboard.api.context import ApiContext
from dashboard.api.decisions import decisions_router
from dashboard.api.experiments import experiments_router
from dashboard.api.health import health_router
from dashboard.api.nodes import nodes_router
from dashboard.api.problems import problem
from dashboard.api.traces import traces_router
from dashboard.api.weights import weights_router
from storage.queries import Reader

PREFIX = "/api/v1"
_NOUNS = (
    decisions_router,
    traces_router,
    weights_router,
    nodes_router,
    experiments_router,
    alerts_router,
    health_router,
)


def build_api(
    reader: Reader,
    *,
    version: str,
    clock: Callable[[], int],
    configuration: Mapping[str, Any],
    store: Store | None = None,
) -> APIRouter:
    """The JSON API under ``/api/v1``, to be included without a prefix.

    ``clock`` gives nanoseconds since the epoch; ``configuration`` is shown as it is, so its secrets
    must be masked. ``store`` bounds how the reader is asked; give the one that other routers use too.
    """
    context = ApiContext(reader, store or Store(), clock, version, configuration)
    router = APIRouter(prefix=PREFIX)
    for build in _NOUNS:
        router.include_router(build(context))
    return router


def register_not_found(app: FastAPI, pages_prefix: str = "/ui/") -> None:
    """Answer 404 JSON, or 405 with Allow, for every path outside the pages that no route took.

    Call it after all routes and before Dash is put on ``app``: Dash ends the list with a route that
    answers 200 HTML to any path at all.
    """
    app.router.routes.append(_Nothing(pages_prefix))


class _Nothing(BaseRoute):
    """Matches any HTTP path outside the pages."""

    def __init__(self, pages_prefix: str) -> None:
        self._pages = pages_prefix.rstrip("/")

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        path = scope.get("path", "")
        if scope["type"] != "http" or path == self._pages or path.startswith(self._pages + "/"):
            return Match.NONE, {}
        return Match.FULL, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        allowed = _methods(scope)
        if allowed:
            response = problem(405, f"use {' or '.join(allowed)} here", headers={"allow": ", ".join(allowed)})
        else:
            response = _not_found(Request(scope))
        await response(scope, receive, send)


def _methods(scope: Scope) -> list[str]:
    """Methods that the path takes, when it exists at all."""
    return [method for method in ("GET", "HEAD", "POST") if _taken({**scope, "method": method})]


def _taken(scope: Scope) -> bool:
    routes = scope["app"].router.routes if "app" in scope else []
    return any(
        not isinstance(r, _Nothing) and _precise(r) and r.matches(dict(scope))[0] is Match.FULL
        for r in routes
    )


def _precise(route: BaseRoute) -> bool:
    return not (isinstance(route, Route) and route.path == "{path:path}")


def _not_found(request: Request) -> Response:
    path = request.url.path
    where = "the API is described at /api/docs"
    if path.startswith("/v1/"):
        where = "OTLP is received by the collector on its own port, 4318 by default; see the Set up page"
    return problem(404, f"nothing is at {path[:200]}; {where}")
