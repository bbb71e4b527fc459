"""Weight series and their 1 s roll-ups out of the tables."""

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, case, func, select

from storage.records import Facets, NodeSummary, TimeRange, WeightPoint, WeightSample
from storage.tables import weight_second, weight_series

_NANO = 1_000_000_000
_EXACT_FACETS = 2 * 3_600 * _NANO
"""Up to this range the roll-ups say which series were present; beyond it, when each was last seen."""


def newest(
    connection: Connection, *, policy: str | None, service: str | None, changed_after: int
) -> tuple[WeightSample, ...]:
    """Newest value of each living series, in the order of their change."""
    series = weight_series.c
    chosen = (
        select(weight_series)
        .where(series.change > changed_after, ~series.retired, series.weight.is_not(None))
        .where(*_named(policy, service, None))
        .order_by(series.change)
    )
    return tuple(
        WeightSample(
            service=row.service,
            policy=row.policy,
            node=row.node,
            weight=row.weight,
            score=row.score,
            scores=json.loads(row.scores),
            scorer_weights=json.loads(row.scorer_weights),
            time_unix_nano=row.time_unix_nano,
            change=row.change,
        )
        for row in connection.execute(chosen)
    )


def history(
    connection: Connection, time: TimeRange, *, policy: str | None, service: str | None, node: str | None
) -> tuple[WeightPoint, ...]:
    """1 s roll-ups that saw a weight, by second and series."""
    second, series = weight_second.c, weight_series.c
    chosen = (
        select(weight_second, series.service, series.policy, series.node)
        .join(weight_series, series.id == second.series_id)
        .where(*_within(time), *_named(policy, service, node), second.observations > 0)
        .order_by(second.second, second.series_id)
    )
    return tuple(
        WeightPoint(
            second=row.second,
            service=row.service,
            policy=row.policy,
            node=row.node,
            chosen=row.chosen,
            adjusted=None if row.unadjusted else row.adjusted,
            observations=row.observations,
            weight_mean=row.weight_sum / row.observations,
            weight_min=row.weight_min,
            weight_max=row.weight_max,
            weight_last=row.weight_last,
            confidence_mean=row.confidence_sum / row.confidences if row.confidences else None,
        )
        for row in connection.execute(chosen)
    )


def nodes(
    connection: Connection, time: TimeRange, *, policy: str | None, service: str | None
) -> tuple[NodeSummary, ...]:
    """Nodes of a range with their shares among the nodes of the same service and policy.

    The stated share of a second is the node's mean weight over the sum of all; it is averaged over the
    seconds in which that sum is above 0, a node not mentioned counting as 0, so stated shares add up to 1.
    """
    summary = _summary(time, policy, service).subquery()
    last = weight_second.alias("last")
    chosen = (
        select(summary, last.c.weight_last)
        .join(weight_series, weight_series.c.id == summary.c.series_id)
        .outerjoin(
            last, (last.c.series_id == summary.c.series_id) & (last.c.second == summary.c.last_observed)
        )
        .order_by(summary.c.node, summary.c.service, summary.c.policy)
    )
    rows = connection.execute(chosen).all()
    total: dict[tuple[str, str], int] = {}
    for row in rows:
        group = (row.service, row.policy)
        total[group] = total.get(group, 0) + row.chosen
    seconds = {
        (row.service, row.policy): row.seconds for row in connection.execute(_seconds(time, policy, service))
    }
    found = []
    for row in rows:
        group = (row.service, row.policy)
        counted = seconds.get(group, 0)
        found.append(
            NodeSummary(
                node=row.node,
                policy=row.policy,
                service=row.service,
                weight=row.weight_last,
                decisions=row.chosen,
                realised_share=row.chosen / total[group] if total[group] else 0.0,
                stated_share=row.shares / counted if counted and row.shares is not None else None,
                last_seen_unix_nano=max(row.last_unix_nano, row.last_second * _NANO),
            )
        )
    return tuple(found)


def facets(connection: Connection, time: TimeRange | None) -> Facets:
    """Distinct names, sorted; for a range of more than two hours also of series that came after it."""
    series = weight_series.c
    chosen = select(series.service, series.policy, series.node)
    if time is not None and time.end_unix_nano - time.start_unix_nano <= _EXACT_FACETS:
        chosen = chosen.where(
            series.id.in_(select(weight_second.c.series_id).distinct().where(*_within(time)))
        )
    elif time is not None:
        chosen = chosen.where(series.time_unix_nano >= time.start_unix_nano)
    rows = connection.execute(chosen).all()
    return Facets(
        services=tuple(sorted({row.service for row in rows})),
        policies=tuple(sorted({row.policy for row in rows})),
        nodes=tuple(sorted({row.node for row in rows})),
    )


def _within(time: TimeRange) -> tuple[ColumnElement[bool], ...]:
    first, end = time.start_unix_nano // _NANO, -(-time.end_unix_nano // _NANO)
    return (weight_second.c.second >= first, weight_second.c.second < end)


def _named(policy: str | None, service: str | None, node: str | None) -> Iterator[ColumnElement[bool]]:
    series = weight_series.c
    for column, value in ((series.policy, policy), (series.service, service), (series.node, node)):
        if value is not None:
            yield column == value


def _shares(time: TimeRange, policy: str | None, service: str | None) -> Select[*tuple[Any, ...]]:
    """Each series and second of the range, with the second's sum of mean weights in its group."""
    second, series = weight_second.c, weight_series.c
    mean = case((second.observations > 0, second.weight_sum / second.observations), else_=None)
    return (
        select(
            second.second,
            second.series_id,
            second.chosen,
            second.last_unix_nano,
            second.observations,
            series.service,
            series.policy,
            series.node,
            mean.label("mean"),
            func.sum(mean).over(partition_by=(second.second, series.service, series.policy)).label("total"),
        )
        .join(weight_series, series.id == second.series_id)
        .where(*_within(time), *_named(policy, service, None))
    )


def _summary(time: TimeRange, policy: str | None, service: str | None) -> Select[*tuple[Any, ...]]:
    s = _shares(time, policy, service).subquery().c
    return select(
        s.series_id,
        s.service,
        s.policy,
        s.node,
        func.sum(s.chosen).label("chosen"),
        func.sum(case((s.total > 0, s.mean / s.total), else_=None)).label("shares"),
        func.max(s.last_unix_nano).label("last_unix_nano"),
        func.max(s.second).label("last_second"),
        func.max(case((s.observations > 0, s.second), else_=None)).label("last_observed"),
    ).group_by(s.series_id, s.service, s.policy, s.node)


def _seconds(time: TimeRange, policy: str | None, service: str | None) -> Select[*tuple[Any, ...]]:
    s = _shares(time, policy, service).subquery().c
    return (
        select(s.service, s.policy, func.count(s.second.distinct()).label("seconds"))
        .where(s.total > 0)
        .group_by(s.service, s.policy)
    )
