"""``traces``: every span of one trace."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from dashboard.api.context import ApiContext, answer, columns, iso, new_router
from dashboard.api.decisions import TraceId
from dashboard.api.problems import ProblemError
from dashboard.api.schemas import ProblemBody, Span, TraceWhole


def traces_router(context: ApiContext) -> APIRouter:
    """Routes of the noun ``traces``."""
    router = new_router("traces")

    @router.get(
        "/traces/{trace_id}",
        response_model=TraceWhole,
        responses={404: {"model": ProblemBody}},
        summary="One trace",
    )
    async def trace(
        trace_id: TraceId,
        limit: Annotated[int, Query(ge=1, le=10_000, description="Most spans returned.")] = 2_000,
    ) -> Response:
        """Spans by start time, decisions marked; `total` tells a list cut at `limit`."""
        found = await context.store.ask(context.reader.trace, trace_id.lower(), limit=limit)
        if found is None:
            raise ProblemError(
                404, "no such trace is in the store; it may be older than the retention allows"
            )
        spans = [
            Span(
                **{**columns(span), "events": list(span.events), "links": list(span.links)},
                start=iso(span.start_unix_nano) or "",
            )
            for span in found.spans
        ]
        return answer(TraceWhole(trace_id=found.trace_id, spans=spans, total=found.total))

    return router
