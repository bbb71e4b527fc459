"""``nodes``: every node seen in a range, with its weight and its shares."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from dashboard.api.context import ApiContext, answer, columns, iso, new_router
from dashboard.api.schemas import Node, NodeList
from dashboard.api.times import FORMS, NANO, time_range
from storage.records import TimeRange

DEFAULT_RANGE_S = 300
MOST = 4_096
"""Nodes in one answer. Their names come from the senders, so their number has to be bounded here."""


def nodes_router(context: ApiContext) -> APIRouter:
    """Routes of the noun ``nodes``."""
    router = new_router("nodes")

    @router.get("/nodes", response_model=NodeList, summary="Nodes and their shares")
    async def nodes(
        start: Annotated[
            str | None,
            Query(alias="from", max_length=64, description=f"Start, 5 min ago by default: {FORMS}."),
        ] = None,
        end: Annotated[
            str | None, Query(alias="to", max_length=64, description="End, in the same forms.")
        ] = None,
        policy: Annotated[str | None, Query(max_length=1024)] = None,
        service: Annotated[str | None, Query(max_length=1024)] = None,
    ) -> Response:
        """Nodes by name. The stated share follows from the weights, the realised one from the choices.

        Of more than 4,096 those are listed that were chosen most often.
        """
        now = context.clock()
        time = time_range(start, end, now) or TimeRange(now - DEFAULT_RANGE_S * NANO, now + NANO)

        def told() -> Response:
            rows = context.reader.nodes(time, policy=policy, service=service, most=MOST + 1)
            listed = [Node(**columns(r), last_seen=iso(r.last_seen_unix_nano)) for r in rows[:MOST]]
            return answer(NodeList(items=listed, more=len(rows) > MOST))

        return await context.store.ask(told)

    return router
