"""What operators and their tools ask: ``/healthz``, ``/readyz`` and ``/metrics``."""

from collections.abc import Callable

from fastapi import APIRouter, Response
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import CollectorRegistry

from dashboard.api.asking import Store
from dashboard.api.context import answer, new_router
from dashboard.api.metrics import FeedMetrics, StoreMetrics, web_process
from dashboard.api.problems import BusyError
from dashboard.api.schemas_health import Alive
from dashboard.live import LiveFigures
from storage.errors import StorageError
from storage.queries import Reader
from storage.records import HealthView


def build_operations(
    reader: Reader,
    *,
    version: str,
    store: Store | None = None,
    check: Callable[[], object] | None = None,
    feed: LiveFigures | None = None,
) -> APIRouter:
    """Routes for probes and Prometheus, to be included without a prefix.

    ``check`` raises a StorageError when the store cannot be read or its schema is not this program's;
    by default it is one small question to the reader. ``feed`` holds the counts of the live feed, when
    this process has one.
    """
    store = store or Store()
    router = new_router("operations")
    own = web_process(version)
    if feed is not None:
        own.register(FeedMetrics(feed))

    @router.head("/healthz", include_in_schema=False)
    @router.get("/healthz", response_model=Alive, summary="Is the process alive")
    async def healthz() -> Response:
        """200 whenever the event loop turns; the store is not asked."""
        return answer(Alive(status="alive", version=version))

    @router.head("/readyz", include_in_schema=False)
    @router.get("/readyz", response_model=Alive, summary="Can it answer")
    async def readyz() -> Response:
        """200 when the store can be read and its schema is current, else 503 that says what to do."""
        await store.ask(check or reader.data_version)
        return answer(Alive(status="ready", version=version))

    @router.get("/metrics", response_class=Response, summary="Prometheus metrics")
    async def metrics() -> Response:
        """Intake by source, rejects by reason, processes, the store, and this process; text format 0.0.4.

        An unreadable store is told by `weighbridge_store_up 0`, not by an error.
        """
        view: HealthView | None
        try:
            view = await store.ask(reader.health)
        except (StorageError, BusyError):
            view = None
        asked = CollectorRegistry(auto_describe=False)
        asked.register(StoreMetrics(view))
        return Response(generate_latest(own) + generate_latest(asked), media_type=CONTENT_TYPE_PLAIN_0_0_4)

    return router
