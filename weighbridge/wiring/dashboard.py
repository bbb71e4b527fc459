"""The parts of the dashboard process, from the settings."""

import ipaddress
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from sqlalchemy import make_url

from dashboard.api import Store, build_api, build_operations, build_reference
from dashboard.app import build_app
from dashboard.config import DashboardConfig
from dashboard.live import LiveHub, build_live_router
from storage.database import Database
from storage.migrate import require_current
from storage.queries import Reader
from weighbridge import __version__
from weighbridge.quantities import Address
from weighbridge.settings import Settings


def build_dashboard(settings: Settings, database: Database, clock: Callable[[], int]) -> FastAPI:
    """The web application on a store that somebody else fills."""
    reader = Reader(database)
    hub = LiveHub(reader, clock)
    store = Store()
    in_force = settings.model_dump(mode="json") | {"database": _shown(settings)}
    api = build_api(reader, version=__version__, clock=clock, configuration=in_force, store=store)
    operations = build_operations(
        reader, version=__version__, store=store, check=lambda: require_current(database), feed=hub.figures
    )
    reference = build_reference([api, operations], version=__version__)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await hub.start()
        try:
            yield
        finally:
            await hub.stop()
            reader.close()

    return build_app(
        _dashboard_config(settings, in_force),
        reader,
        clock=clock,
        version=__version__,
        routers=[api, operations, reference, build_live_router(hub)],
        lifespan=lifespan,
    )


def _dashboard_config(settings: Settings, in_force: Mapping[str, Any]) -> DashboardConfig:
    return DashboardConfig(
        otlp_grpc=_as_dialled(settings.otlp_grpc),
        otlp_http=_as_dialled(settings.otlp_http),
        database=_shown(settings),
        in_force={name: str(value) for name, value in _flat(in_force)},
        alert_rules=len(settings.alerts.rules),
        alert_destinations=len(settings.alerts.destinations),
        known_hosts=_known_hosts(settings),
    )


def _known_hosts(settings: Settings) -> tuple[str, ...] | None:
    """On loopback only names that are known; elsewhere whoever routes to it decides."""
    host = settings.web.host
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    return tuple(name.lower() for name in settings.web_hosts) if loopback else None


def _shown(settings: Settings) -> str:
    """The store's address without its password."""
    return make_url(settings.database_url).render_as_string(hide_password=True)


def _as_dialled(address: Address) -> str:
    """A listening address as a sender on the same machine dials it."""
    return str(Address({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address.host, address.host), address.port))


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
