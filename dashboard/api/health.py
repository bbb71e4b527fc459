"""``health``: what comes in, what is refused and why, what runs, how full the store is."""

from fastapi import APIRouter, Response

from dashboard.api.context import ApiContext, answer, columns, iso, new_router
from dashboard.api.schemas import Health, Process, Source, StoreSize, plain
from storage.records import HealthView


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
        configuration=plain(dict(context.configuration)),
    )
