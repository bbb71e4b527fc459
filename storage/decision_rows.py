"""Decisions out of the tables: lists by filter, and one by id.

A list first finds the ids it shows, by an index on time, and only then joins the wide rows.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, Row, Select, false, func, or_, select, tuple_

from storage import detail, ids
from storage.records import DecisionDetail, DecisionQuery, DecisionRow
from storage.span_rows import object_of
from storage.tables import decision, decision_detail, outcome, resource, span, weight_series

MAX_INTEGER = 2**63 - 1

_TOLD = outcome.c.decision_key == func.coalesce(decision.c.decision_key, span.c.key)

_HEX = re.compile(r"[0-9a-fA-F]{8,32}")  # shorter ones are more likely a part of a name


def page(
    connection: Connection, query: DecisionQuery, *, limit: int, after: tuple[int, int] | None, offset: int
) -> list[tuple[int, DecisionRow]]:
    """Matching decisions with their ids, newest first."""
    chosen = matching(connection, query).order_by(decision.c.time_unix_nano.desc(), decision.c.id.desc())
    if after is not None:
        chosen = chosen.where(tuple_(decision.c.time_unix_nano, decision.c.id) < after)
    found = list(connection.execute(chosen.limit(limit).offset(offset)).scalars())
    rows = by_ids(connection, found)
    return [(number, rows[number]) for number in found]


def count(connection: Connection, query: DecisionQuery, cap: int) -> int:
    """How many match, up to ``cap``."""
    some = matching(connection, query).limit(cap).subquery()
    return connection.execute(select(func.count()).select_from(some)).scalar_one()


def ids_after(connection: Connection, after_id: int, limit: int) -> list[int]:
    """Ids of the decisions with a greater id, by id."""
    chosen = select(decision.c.id).where(decision.c.id > after_id).order_by(decision.c.id).limit(limit)
    return list(connection.execute(chosen).scalars())


def last_id(connection: Connection) -> int:
    """The greatest id of a decision, 0 when there is none."""
    return connection.execute(select(func.max(decision.c.id))).scalar() or 0


def by_ids(connection: Connection, numbers: Sequence[int]) -> dict[int, DecisionRow]:
    """Decisions by id; those that are gone are left out."""
    return {int(row.id): _row(row) for row in connection.execute(_wide().where(decision.c.id.in_(numbers)))}


def one(connection: Connection, trace_id: bytes, span_id: bytes) -> DecisionDetail | None:
    """One decision with everything it said."""
    chosen = (
        _wide()
        .add_columns(span.c.attributes, decision_detail.c.body)
        .outerjoin(decision_detail, decision_detail.c.id == decision.c.id)
        .where(span.c.key == trace_id + span_id)
    )
    row = connection.execute(chosen).one_or_none()
    if row is None:
        return None
    said = detail.unpack(row.body)
    return DecisionDetail(_row(row), said, object_of(row.attributes) | detail.as_attributes(said))


def matching(connection: Connection, query: DecisionQuery) -> Select[int]:
    """Ids of the decisions that match."""
    chosen = select(decision.c.id).where(*_conditions(query))
    if query.text and query.text.strip():
        chosen = chosen.where(_text_condition(connection, query.text.strip()))
    if query.outcome is not None:
        chosen = chosen.join(span, span.c.id == decision.c.id).join(outcome, _TOLD)
        chosen = chosen.where(outcome.c.outcome == query.outcome)
    return chosen


def _conditions(query: DecisionQuery) -> Iterator[ColumnElement[bool]]:
    d = decision.c
    if query.time is not None:
        yield d.time_unix_nano >= _bounded(query.time.start_unix_nano)
        yield d.time_unix_nano < _bounded(query.time.end_unix_nano)
    if query.service is not None:
        yield d.resource_id.in_(select(resource.c.id).where(resource.c.service == query.service))
    equal: Mapping[ColumnElement[Any], str | None] = {
        d.policy: query.policy,
        d.node: query.node,
        d.experiment: query.experiment,
        d.variant: query.variant,
    }
    for column, value in equal.items():
        if value is not None:
            yield column == value
    for column, low, high in (
        (d.weight, query.weight_min, query.weight_max),
        (d.confidence, query.confidence_min, query.confidence_max),
    ):
        if low is not None:
            yield column >= low
        if high is not None:
            yield column <= high


def _text_condition(connection: Connection, text: str) -> ColumnElement[bool]:
    """A trace id when one begins so, else names that contain the text.

    Names are looked up among the weight series, of which there are few: every decision has one.
    """
    if _HEX.fullmatch(text):
        low, high = bytes.fromhex(text.ljust(48, "0")), bytes.fromhex(text.ljust(48, "f"))
        traces = select(span.c.id).where(span.c.key.between(low, high))
        if connection.execute(traces.limit(1)).first() is not None:
            return decision.c.id.in_(traces)
    nodes, policies = (
        connection.execute(select(column).distinct().where(column.icontains(text, autoescape=True)))
        .scalars()
        .all()
        for column in (weight_series.c.node, weight_series.c.policy)
    )
    if not nodes and not policies:
        return false()
    return or_(*(c.in_(v) for c, v in ((decision.c.node, nodes), (decision.c.policy, policies)) if v))


def _bounded(value: int) -> int:
    return max(-MAX_INTEGER, min(value, MAX_INTEGER))


def _joined() -> FromClause:
    return (
        decision.join(span, span.c.id == decision.c.id)
        .join(resource, resource.c.id == decision.c.resource_id)
        .outerjoin(outcome, _TOLD)
    )


def _wide() -> Select[*tuple[Any, ...]]:
    return select(
        decision,
        span.c.key,
        span.c.start_unix_nano,
        span.c.adjusted_count,
        resource.c.service,
        resource.c.instance,
        outcome.c.outcome,
        outcome.c.latency_ms,
    ).select_from(_joined())


def _row(row: Row[*tuple[Any, ...]]) -> DecisionRow:
    trace_id, span_id = ids.hex_pair(row.key)
    return DecisionRow(
        trace_id=trace_id,
        span_id=span_id,
        decision_id=ids.decision_id(row.decision_key, row.key),
        time_unix_nano=row.time_unix_nano,
        duration_nano=row.time_unix_nano - row.start_unix_nano,
        service=row.service,
        instance=row.instance,
        policy=row.policy,
        policy_version=row.policy_version,
        policy_fingerprint=row.policy_fingerprint,
        node=row.node,
        weight=row.weight,
        confidence=row.confidence,
        strategy=row.strategy,
        reason=row.reason,
        candidates_total=row.candidates_total,
        margin=row.margin,
        tie_count=row.tie_count,
        propensity=row.propensity,
        signal_age_ms=row.signal_age_ms,
        outcome=row.outcome,
        outcome_latency_ms=row.latency_ms,
        tenant=row.tenant,
        model=row.model,
        experiment=row.experiment,
        variant=row.variant,
        inferred=row.inferred,
        adjusted_count=row.adjusted_count,
    )
