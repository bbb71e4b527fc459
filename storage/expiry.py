"""Deletes the oldest of each kind in chunks; every function is one short write of its own.

Spans go by id, that is in the order they arrived, and take their decision, detail and outcome with them.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, Delete, delete, func, or_, select, update

from storage.names import REFRESH_NANO
from storage.tables import (
    alert,
    counter,
    decision,
    decision_detail,
    delivery,
    delivery_alert,
    experiment_minute,
    outcome,
    process,
    resource,
    scope,
    span,
    weight_second,
    weight_series,
)

_NANO = 1_000_000_000
_MINUTE = 60 * _NANO
_SAMPLES = 8


@dataclass(frozen=True, slots=True)
class Gone:
    """Rows deleted by one chunk."""

    spans: int = 0
    decisions: int = 0


def spans(connection: Connection, *, received_before: int | None, limit: int) -> Gone:
    """Delete up to ``limit`` of the oldest spans, only those received before a time when one is given."""
    oldest = connection.execute(
        select(span.c.id, span.c.received_unix_nano).order_by(span.c.id).limit(limit)
    ).all()
    last = None
    for row in oldest:
        if received_before is not None and row.received_unix_nano >= received_before:
            break
        last = row.id
    if last is None:
        return Gone()
    for table in (decision_detail, outcome):
        connection.execute(delete(table).where(table.c.id <= last))
    gone = Gone(
        spans=_count(connection, delete(span).where(span.c.id <= last)),
        decisions=_count(connection, delete(decision).where(decision.c.id <= last)),
    )
    for name, number in (("spans", gone.spans), ("decisions", gone.decisions)):
        connection.execute(
            update(counter).where(counter.c.name == name).values(value=counter.c.value - number)
        )
    return gone


def seconds(connection: Connection, *, before: int | None, limit: int) -> int:
    """Delete about ``limit`` of the oldest 1 s roll-ups, whole seconds, only those before a second."""
    second = weight_second.c.second
    last = connection.execute(select(second).order_by(second).limit(1).offset(limit)).scalar()
    if last is None:
        last = connection.execute(select(func.max(second))).scalar()
    if last is None:
        return 0
    chosen = delete(weight_second).where(second <= last)
    return _count(connection, chosen if before is None else chosen.where(second < before))


def future_seconds(connection: Connection, after: int) -> int:
    """Delete roll-ups that a sender's wrong clock put into the future: age would never reach them."""
    return _count(connection, delete(weight_second).where(weight_second.c.second > after))


def minutes(connection: Connection, *, before_unix_nano: int, keep: int) -> int:
    """Delete experiment roll-ups before a time, and the oldest beyond ``keep`` rows."""
    minute = experiment_minute.c.minute
    gone = _count(connection, delete(experiment_minute).where(minute < before_unix_nano // _MINUTE))
    newest = connection.execute(select(minute).order_by(minute.desc()).limit(1).offset(keep)).scalar()
    if newest is not None:
        gone += _count(connection, delete(experiment_minute).where(minute <= newest))
    return gone


def series(connection: Connection, *, idle_since: int, gone_since: int, keep: int) -> int:
    """Retire series not seen since one time; delete those not seen since another or beyond ``keep``."""
    seen = weight_series.c.seen_unix_nano
    idle = (seen < idle_since) & ~weight_series.c.retired
    connection.execute(update(weight_series).where(idle).values(retired=True))
    oldest_kept = connection.execute(select(seen).order_by(seen.desc()).limit(1).offset(keep)).scalar()
    too_old = gone_since if oldest_kept is None else max(gone_since, oldest_kept + 1)
    return _forget(connection, delete(weight_series).where(seen < too_old))


def unused_names(connection: Connection, now_unix_nano: int) -> int:
    """Delete resources and scopes no span refers to: last used before the oldest span arrived."""
    oldest = connection.execute(select(span.c.received_unix_nano).order_by(span.c.id).limit(1)).scalar()
    unused_since = (now_unix_nano if oldest is None else oldest) - REFRESH_NANO
    return sum(
        _forget(connection, delete(table).where(table.c.seen_unix_nano < unused_since))
        for table in (resource, scope)
    )


def alerts(connection: Connection, *, ended_before: int, keep: int) -> int:
    """Delete alerts resolved before a time or beyond ``keep``, and deliveries that tell of none any more."""
    resolved = alert.c.state == "resolved"
    newest = select(alert.c.id).where(resolved).order_by(alert.c.ends_unix_nano.desc(), alert.c.id.desc())
    kept = newest.limit(keep)
    expired = or_(alert.c.ends_unix_nano < ended_before, alert.c.id.not_in(kept))
    gone = _count(connection, delete(alert).where(resolved, expired))
    connection.execute(delete(delivery_alert).where(delivery_alert.c.alert_id.not_in(select(alert.c.id))))
    told = select(delivery_alert.c.delivery_id)
    connection.execute(
        delete(delivery).where(
            delivery.c.state != "pending",
            delivery.c.created_unix_nano < ended_before,
            delivery.c.id.not_in(told),
        )
    )
    return gone


def processes(connection: Connection, seen_before: int) -> int:
    """Delete heartbeats of processes not heard of since a time."""
    return _count(connection, delete(process).where(process.c.seen_unix_nano < seen_before))


def estimated_seconds(connection: Connection) -> int:
    """Roughly how many 1 s roll-ups there are, from samples: counting them all would read them all."""
    second = weight_second.c.second
    first, last = connection.execute(select(func.min(second), func.max(second))).one()
    if first is None:
        return 0
    width = max(1, (last - first + 1) // (_SAMPLES * 10))
    step = max(width, (last - first + 1) // _SAMPLES)
    starts = range(first, last + 1, step)
    counted = sum(
        connection.execute(
            select(func.count()).select_from(weight_second).where(second >= start, second < start + width)
        ).scalar_one()
        for start in starts
    )
    return int(counted / (len(starts) * width) * (last - first + 1))


def _forget(connection: Connection, statement: Delete) -> int:
    """Delete names and let writers know that what they remember may be gone."""
    gone = _count(connection, statement)
    if gone:
        connection.execute(
            update(counter).where(counter.c.name == "generation").values(value=counter.c.value + 1)
        )
    return gone


def _count(connection: Connection, statement: Delete) -> int:
    return connection.execute(statement).rowcount
