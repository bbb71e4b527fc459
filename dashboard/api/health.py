"""``health``: what comes in, what is refused and why, what runs, how full the store is."""

import re
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Response

from dashboard.api.context import ApiContext, answer, columns, iso, new_router
from dashboard.api.schemas_health import Health, Process, Source, StoreSize
from dashboard.api.values import plain
from storage.records import HealthView

_PASSWORD = re.compile(r"(://[^/@\s:]*:)[^/@\s]*@")


def health_router(context: ApiContext) -> APIRouter:
    """Routes of the noun ``health``."""
    router = new_router("health")

    @router.get("/health", response_model=Health, summary="Intake, processes and store")
    async def health() -> Response:
        """Sources with their counts and rejects by reason, processes with their gauges, the store's size."""
        view = await context.store.ask(context.reader.health)
        return answer(_health(context, view))

    return router


def _health(context: ApiContext, view: HealthView) -> Health:
    store = columns(view.store)
    return Health(
        version=context.version,
        time_unix_nano=context.clock(),
        sources=[Source(**columns(s), last_seen=iso(s.last_seen_unix_nano or None)) for s in view.sources],
        processes=[Process(**columns(p), seen=iso(p.seen_unix_nano)) for p in view.processes],
        store=StoreSize(schema_revision=store.pop("schema"), **store),
        configuration=plain(_without_passwords(dict(context.configuration))),
    )


def _without_passwords(value: Any) -> Any:
    """``value`` with the password of every address in it masked, whatever the caller forgot."""
    if isinstance(value, str):
        return _PASSWORD.sub(r"\1***@", value)
    if isinstance(value, Mapping):
        return {k: _without_passwords(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_without_passwords(v) for v in value]
    return value
