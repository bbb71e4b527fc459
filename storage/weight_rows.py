"""Weight series and their 1 s roll-ups out of the tables."""

import json
from collections.abc import Iterator
from itertools import starmap

from sqlalchemy import ColumnElement, Connection, case, select

from storage.records import Facets, TimeRange, WeightPoint, WeightSample
from storage.tables import weight_second, weight_series

_NANO = 1_000_000_000
_EXACT_FACETS = 2 * 3_600 * _NANO
"""Up to this range the roll-ups say which series were present; beyond it, when each was last seen."""


def newest(
    connection: Connection,
    *,
    policy: str | None,
    service: str | None,
    changed_after: int,
    most: int | None = None,
) -> tuple[WeightSample, ...]:
    """Newest value of each living series, in the order of their change; the last ``most`` of them."""
    series = weight_series.c
    chosen = (
        select(weight_series)
        .where(series.change > changed_after, ~series.retired, series.weight.is_not(None))
        .where(*named(policy, service, None))
        .order_by(series.change.desc())
        .limit(most)
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
        for row in reversed(connection.execute(chosen).all())
    )


def history(
    connection: Connection,
    time: TimeRange,
    *,
    policy: str | None,
    service: str | None,
    node: str | None,
    most: int | None = None,
) -> tuple[WeightPoint, ...]:
    """1 s roll-ups that saw a weight, by second and series; of the ``most`` series that changed last."""
    second, series = weight_second.c, weight_series.c
    chosen = (
        select(
            second.second,
            series.service,
            series.policy,
            series.node,
            second.chosen,
            case((second.unadjusted == 0, second.adjusted), else_=None),
            second.observations,
            second.weight_sum / second.observations,
            second.weight_min,
            second.weight_max,
            second.weight_last,
            case((second.confidences > 0, second.confidence_sum / second.confidences), else_=None),
        )
        .join(weight_series, series.id == second.series_id)
        .where(*within(time), *named(policy, service, node), second.observations > 0)
        .order_by(second.second, second.series_id)
    )
    if most is not None:
        last = select(series.id).where(*named(policy, service, node)).order_by(series.change.desc())
        chosen = chosen.where(second.series_id.in_(last.limit(most)))
    # In the order of WeightPoint's fields: a chart asks for tens of thousands of them.
    return tuple(starmap(WeightPoint, connection.execute(chosen)))


def facets(connection: Connection, time: TimeRange | None) -> Facets:
    """Distinct names, sorted; for a range of more than two hours also of series that came after it."""
    series = weight_series.c
    chosen = select(series.service, series.policy, series.node)
    if time is not None and time.end_unix_nano - time.start_unix_nano <= _EXACT_FACETS:
        chosen = chosen.where(
            series.id.in_(select(weight_second.c.series_id).distinct().where(*within(time)))
        )
    elif time is not None:
        chosen = chosen.where(series.time_unix_nano >= time.start_unix_nano)
    rows = connection.execute(chosen).all()
    return Facets(
        services=tuple(sorted({row.service for row in rows})),
        policies=tuple(sorted({row.policy for row in rows})),
        nodes=tuple(sorted({row.node for row in rows})),
    )


def within(time: TimeRange) -> tuple[ColumnElement[bool], ...]:
    """Roll-ups of the seconds a range touches."""
    first, end = time.start_unix_nano // _NANO, -(-time.end_unix_nano // _NANO)
    return (weight_second.c.second >= first, weight_second.c.second < end)


def named(policy: str | None, service: str | None, node: str | None) -> Iterator[ColumnElement[bool]]:
    """Series of these names; None stands for any."""
    series = weight_series.c
    for column, value in ((series.policy, policy), (series.service, service), (series.node, node)):
        if value is not None:
            yield column == value
