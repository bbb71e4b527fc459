"""``weights``: the newest value of every series, and a short history in columns for the heat map."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query, Response

from dashboard.api.context import ApiContext, answer, columns, iso, new_router
from dashboard.api.problems import bad_parameter
from dashboard.api.schemas import Weight, WeightHistory, WeightList
from dashboard.api.times import NANO, length
from dashboard.api.values import finite
from storage.records import TimeRange, WeightPoint

LONGEST_WINDOW_S = 600
MOST = 4_096
"""Series in one answer. Their names come from the senders, so their number has to be bounded here."""

MOST_CELLS = 1_000_000
"""Seconds times series of a history."""


def weights_router(context: ApiContext) -> APIRouter:
    """Routes of the noun ``weights``."""
    router = new_router("weights")

    @router.get("/weights", response_model=WeightList, summary="Newest weights")
    async def weights(
        policy: Annotated[str | None, Query(max_length=1024)] = None,
        service: Annotated[str | None, Query(max_length=1024)] = None,
        window: Annotated[
            str | None, Query(max_length=16, description="Also give the history of this long, 1s to 600s.")
        ] = None,
    ) -> Response:
        """The newest weight of each (service, policy, node).

        With `window`, `history` holds one policy second by second up to now: what a heat map needs to
        fill itself before the live feed takes over. `policy` may be left out when the store has only one.
        Of more than 4,096 series (fewer in a long history) those are listed that changed last.
        """
        return await context.store.ask(lambda: answer(_told(context, policy, service, window)))

    return router


def _told(context: ApiContext, policy: str | None, service: str | None, window: str | None) -> WeightList:
    """The answer; made beside the event loop, since thousands of series take a while to write down."""
    time = None if window is None else window_range(window, context.clock())
    samples = context.reader.weights(policy=policy, service=service, most=MOST + 1)
    more = len(samples) > MOST
    items = [Weight(**columns(s), time=iso(s.time_unix_nano) or "") for s in samples[-MOST:]]
    if time is None:
        return WeightList(items=items, more=more)
    policies = {s.policy for s in samples}
    if policy is None and len(policies) > 1:
        named = ", ".join(name[:80] for name in sorted(policies)[:20])
        raise bad_parameter("policy", f"name one for the history: {named}")
    shown = policy if policy is not None else next(iter(policies), None)
    seconds = (time.end_unix_nano - time.start_unix_nano) // NANO
    most = min(MOST, MOST_CELLS // max(1, seconds))
    points = context.reader.weight_history(time, policy=shown, service=service, most=most)
    return WeightList(items=items, more=more, history=history_of(shown, time, points))


def window_range(window: str, now: int) -> TimeRange:
    """The whole seconds of ``window`` up to and including the present one; a 422 when it is too long."""
    seconds = -(-length("window", window) // NANO)
    if not 1 <= seconds <= LONGEST_WINDOW_S:
        raise bad_parameter("window", f"give 1s to {LONGEST_WINDOW_S}s")
    end = now // NANO + 1
    return TimeRange(max(0, end - seconds) * NANO, end * NANO)


def history_of(policy: str | None, time: TimeRange, points: Sequence[WeightPoint]) -> WeightHistory:
    """One policy's points as columns; services that weigh the same node are averaged by their mentions."""
    first, last = time.start_unix_nano // NANO, time.end_unix_nano // NANO
    nodes = sorted({p.node for p in points})
    rows = {node: i for i, node in enumerate(nodes)}
    total = np.zeros((len(nodes), last - first))
    mentions = np.zeros((len(nodes), last - first))
    for p in points:
        if first <= p.second < last and finite(p.weight_mean) is not None:
            total[rows[p.node], p.second - first] += p.weight_mean * p.observations
            mentions[rows[p.node], p.second - first] += p.observations
    with np.errstate(invalid="ignore"):
        mean = np.round(total / mentions, 6)
    return WeightHistory(
        policy=policy,
        seconds=list(range(first, last)),
        nodes=nodes,
        weight=[[value if value == value else None for value in row] for row in mean.tolist()],  # noqa: PLR0124  # NaN is the one value unequal to itself
    )
