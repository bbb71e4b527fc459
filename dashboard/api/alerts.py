"""``alerts``: what drifted, and whether the page went out."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from dashboard.api.context import ApiContext, answer, columns, iso, new_router
from dashboard.api.schemas import Alert, Delivery, Items
from storage.records import AlertRow


def alerts_router(context: ApiContext) -> APIRouter:
    """Routes of the noun ``alerts``."""
    router = new_router("alerts")

    @router.get("/alerts", response_model=Items[Alert], summary="Alerts, newest first")
    async def alerts(
        state: Annotated[Literal["firing", "resolved"] | None, Query()] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    ) -> Response:
        """Open and past alerts, each with its webhook deliveries."""
        rows = await context.store.ask(context.reader.alerts, state=state, limit=limit)
        return answer(Items[Alert](items=[_alert(row) for row in rows]))

    return router


def _alert(row: AlertRow) -> Alert:
    values = columns(row) | {"deliveries": [Delivery(**columns(d)) for d in row.deliveries]}
    return Alert(**values, starts=iso(row.starts_unix_nano) or "", ends=iso(row.ends_unix_nano))
