"""Nodes of a range with what they were promised and what they got."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Row, case, func, select

from storage.records import NodeSummary, TimeRange
from storage.tables import weight_second, weight_series
from storage.weight_rows import named, within

SAMPLED_S = 600
"""Seconds looked at for stated shares: of a longer range about so many, evenly spaced, to bound memory."""

_NANO = 1_000_000_000


def summaries(
    connection: Connection,
    time: TimeRange,
    *,
    policy: str | None,
    service: str | None,
    most: int | None = None,
) -> tuple[NodeSummary, ...]:
    """Nodes of a range with their shares among the nodes of the same service and policy, by name.

    Of more than ``most`` those that were chosen most often; shares are among all in any case.

    The stated share of a second is the node's mean weight over the sum of all; it is averaged over the
    seconds in which that sum is above 0, a node not mentioned counting as 0, so stated shares add up to 1.
    """
    rows = _totals(connection, time, policy, service)
    groups: dict[tuple[str, str], int] = {}
    group_of = {row.series_id: groups.setdefault((row.service, row.policy), len(groups)) for row in rows}
    chosen = [0] * len(groups)
    for row in rows:
        chosen[group_of[row.series_id]] += row.chosen
    extent = max((r.last_second for r in rows), default=0) - min((r.first_second for r in rows), default=0)
    stated = _stated(connection, time, group_of, stride=extent // SAMPLED_S + 1)
    if most is not None and len(rows) > most:
        least = sorted((row.chosen for row in rows), reverse=True)[most - 1]
        rows = [row for row in rows if row.chosen > least] + [row for row in rows if row.chosen == least]
        rows = sorted(rows[:most], key=lambda row: (row.node, row.service, row.policy))
    return tuple(
        NodeSummary(
            node=row.node,
            policy=row.policy,
            service=row.service,
            weight=row.weight_last,
            decisions=row.chosen,
            realised_share=row.chosen / total if (total := chosen[group_of[row.series_id]]) else 0.0,
            stated_share=stated.get(row.series_id),
            last_seen_unix_nano=max(row.last_unix_nano, row.last_second * _NANO),
        )
        for row in rows
    )


def _totals(
    connection: Connection, time: TimeRange, policy: str | None, service: str | None
) -> list[Row[*tuple[Any, ...]]]:
    second, series, last = weight_second.c, weight_series.c, weight_second.alias("last")
    totals = (
        select(
            second.series_id,
            func.sum(second.chosen).label("chosen"),
            func.max(second.last_unix_nano).label("last_unix_nano"),
            func.min(second.second).label("first_second"),
            func.max(second.second).label("last_second"),
            func.max(case((second.observations > 0, second.second), else_=None)).label("last_observed"),
        )
        .where(*within(time))
        .group_by(second.series_id)
        .subquery()
    )
    newest = (last.c.series_id == totals.c.series_id) & (last.c.second == totals.c.last_observed)
    chosen = (
        select(totals, series.service, series.policy, series.node, last.c.weight_last)
        .join(weight_series, series.id == totals.c.series_id)
        .outerjoin(last, newest)
        .where(*named(policy, service, None))
        .order_by(series.node, series.service, series.policy)
    )
    return list(connection.execute(chosen).all())


def _stated(
    connection: Connection, time: TimeRange, group_of: dict[int, int], *, stride: int
) -> dict[int, float]:
    """Stated share of each series that was mentioned with a weight, over every ``stride``-th second."""
    second = weight_second.c
    chosen = (
        select(second.second, second.series_id, second.weight_sum / second.observations)
        .where(*within(time), second.observations > 0)
        .order_by(second.second)
    )
    if stride > 1:
        chosen = chosen.where(second.second % stride == 0)
    rows = [row for row in connection.execute(chosen) if row[1] in group_of]
    if not rows:
        return {}
    at, numbers, weights = (np.array(column) for column in zip(*rows, strict=True))
    return _average(at, numbers, weights, np.array([group_of[n] for n in numbers.tolist()]))


def _average(
    at: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    group: npt.NDArray[np.int64],
) -> dict[int, float]:
    """Mean share by series: of each second and group, over the seconds whose sum is above 0."""
    groups = int(group.max()) + 1
    _, moment = np.unique(at, return_inverse=True)
    cell = moment * groups + group
    total = np.bincount(cell, weights, minlength=(moment.max() + 1) * groups)
    counted = (total > 0).reshape(-1, groups).sum(axis=0)
    valid = total[cell] > 0
    series, place = np.unique(numbers, return_inverse=True)
    share = np.divide(weights, total[cell], out=np.zeros(len(weights)), where=valid)
    summed = np.bincount(place, share, minlength=len(series))
    own = np.zeros(len(series), np.int64)
    own[place] = group
    return {int(n): float(s / counted[g]) for n, s, g in zip(series, summed, own, strict=True) if counted[g]}
