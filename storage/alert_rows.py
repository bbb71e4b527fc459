"""Alerts and their deliveries out of the tables, shared by ``Control`` and ``Reader``."""

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, select

from storage.records import AlertRow, DeliveryRow
from storage.tables import alert, delivery, delivery_alert

_CHUNK = 500  # ids in one IN list


def select_rows(
    connection: Connection, *, state: str | None, newest_first: bool, limit: int | None
) -> tuple[AlertRow, ...]:
    """Alerts in a state (None: any) by their start."""
    order = (alert.c.starts_unix_nano, alert.c.id)
    query = select(alert).order_by(*(c.desc() if newest_first else c.asc() for c in order)).limit(limit)
    if state is not None:
        query = query.where(alert.c.state == state)
    return _rows(connection, connection.execute(query).all())


def find(connection: Connection, alert_id: int) -> AlertRow | None:
    """One alert, or None."""
    rows = _rows(connection, connection.execute(select(alert).where(alert.c.id == alert_id)).all())
    return rows[0] if rows else None


def by_id(connection: Connection, alert_id: int) -> AlertRow:
    """One alert that is known to exist."""
    return _rows(connection, [connection.execute(select(alert).where(alert.c.id == alert_id)).one()])[0]


def alerts_of(connection: Connection, delivery_ids: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """Ids of the alerts each delivery tells of."""
    told: defaultdict[int, list[int]] = defaultdict(list)
    for start in range(0, len(delivery_ids), _CHUNK):
        chosen = delivery_alert.c.delivery_id.in_(delivery_ids[start : start + _CHUNK])
        for row in connection.execute(
            select(delivery_alert).where(chosen).order_by(delivery_alert.c.alert_id)
        ):
            told[row.delivery_id].append(row.alert_id)
    return {number: tuple(ids) for number, ids in told.items()}


def _rows(connection: Connection, rows: Sequence[Row[*tuple[Any, ...]]]) -> tuple[AlertRow, ...]:
    sent = _deliveries(connection, [row.id for row in rows])
    return tuple(
        AlertRow(
            fingerprint=row.fingerprint,
            alert_id=row.id,
            rule=row.rule,
            state=row.state,
            labels=json.loads(row.labels),
            annotations=json.loads(row.annotations),
            value=row.value,
            starts_unix_nano=row.starts_unix_nano,
            ends_unix_nano=row.ends_unix_nano,
            deliveries=tuple(sent.get(row.id, ())),
        )
        for row in rows
    )


def _deliveries(connection: Connection, alert_ids: Sequence[int]) -> dict[int, list[DeliveryRow]]:
    found: defaultdict[int, list[DeliveryRow]] = defaultdict(list)
    for start in range(0, len(alert_ids), _CHUNK):
        query = (
            select(delivery_alert.c.alert_id, *(c for c in delivery.c if c.name != "body"))
            .join(delivery, delivery.c.id == delivery_alert.c.delivery_id)
            .where(delivery_alert.c.alert_id.in_(alert_ids[start : start + _CHUNK]))
            .order_by(delivery.c.id)
        )
        for row in connection.execute(query):
            found[row.alert_id].append(
                DeliveryRow(
                    webhook_id=row.webhook_id,
                    destination=row.destination,
                    state=row.state,
                    attempts=row.attempts,
                    next_attempt_unix_nano=row.next_attempt_unix_nano,
                    last_status=row.last_status,
                    last_error=row.last_error,
                    delivered_unix_nano=row.delivered_unix_nano,
                )
            )
    return found
