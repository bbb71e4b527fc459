"""What the processes tell of themselves: intake counts, heartbeats, alerts and the outbox of webhooks.

An alert and the deliveries it causes are written in one transaction, so a kill between the two loses
neither. A delivery stays ``pending`` until it was delivered, failed for good, or its destination was
disabled; ``due`` finds it again after any restart. Delivery is at least once: a process killed between a
webhook's answer and ``mark_delivered`` posts it again under the same ``webhook_id``.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Insert, delete, insert, select, update

from storage import alert_rows, intake_rows
from storage.database import Database
from storage.errors import StorageError
from storage.records import AlertRow, IntakeTally, ProcessRow
from storage.tables import alert, delivery, delivery_alert, destination, process


@dataclass(frozen=True, slots=True)
class NewAlert:
    """An alert that starts to fire; ``fingerprint`` tells it from every other (rule and labels)."""

    fingerprint: str
    rule: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    value: float | None
    starts_unix_nano: int


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """A message to one destination. ``webhook_id`` is unique and stays the same on every attempt."""

    webhook_id: str
    destination: str
    body: bytes
    due_unix_nano: int = 0


@dataclass(frozen=True, slots=True)
class OutboxItem:
    """A delivery that is due; ``attempts`` were made before. ``alert_ids`` are what it tells of."""

    webhook_id: str
    destination: str
    body: bytes
    attempts: int
    created_unix_nano: int
    alert_ids: tuple[int, ...] = ()


class Control:
    """Keeps counts, heartbeats, alerts and the outbox; safe to call from several threads.

    ``clock`` gives nanoseconds since the epoch. Every method raises StoreUnavailableError when the store
    cannot answer now; then nothing of the call was kept.
    """

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database = database
        self._clock = clock

    def record_intake(self, tallies: Sequence[IntakeTally]) -> None:
        """Add counts of each source to what the store has; the newest message and time stay."""
        if tallies:
            with self._database.write() as connection:
                intake_rows.add(connection, tallies, self._clock())

    def heartbeat(self, row: ProcessRow) -> None:
        """Keep the newest figures of one process, by role and instance."""
        key = (process.c.role == row.role) & (process.c.instance == row.instance)
        with self._database.write() as connection:
            connection.execute(delete(process).where(key))
            connection.execute(
                insert(process).values(
                    role=row.role,
                    instance=row.instance,
                    version=row.version,
                    started_unix_nano=row.started_unix_nano,
                    seen_unix_nano=row.seen_unix_nano,
                    figures=json.dumps(dict(row.figures)),
                )
            )

    def open_alert(self, new: NewAlert, deliveries: Sequence[NewDelivery] = ()) -> AlertRow:
        """Start an alert and queue its deliveries. One that already fires is updated and returned instead."""
        with self._database.write() as connection:
            alert_id = connection.execute(
                select(alert.c.id).where(alert.c.state == "firing", alert.c.fingerprint == new.fingerprint)
            ).scalar()
            if alert_id is None:
                alert_id = _inserted(connection, insert(alert).values(**_alert_values(new)))
            else:
                _change_alert(connection, alert_id, value=new.value, annotations=new.annotations)
            self._queue(connection, deliveries, (alert_id,))
            return alert_rows.by_id(connection, alert_id)

    def update_alert(
        self, alert_id: int, *, value: float | None, annotations: Mapping[str, str] | None = None
    ) -> AlertRow | None:
        """Change the value (and the annotations, if given) of a firing alert; None when it does not fire."""
        with self._database.write() as connection:
            if not _change_alert(connection, alert_id, value=value, annotations=annotations):
                return None
            return alert_rows.by_id(connection, alert_id)

    def resolve_alert(
        self,
        alert_id: int,
        *,
        ends_unix_nano: int,
        value: float | None = None,
        deliveries: Sequence[NewDelivery] = (),
    ) -> AlertRow | None:
        """End a firing alert and queue its deliveries; None, and nothing queued, when it does not fire."""
        ended = {"state": "resolved", "ends_unix_nano": ends_unix_nano} | (
            {} if value is None else {"value": value}
        )
        firing = (alert.c.id == alert_id) & (alert.c.state == "firing")
        with self._database.write() as connection:
            if connection.execute(update(alert).where(firing).values(**ended)).rowcount == 0:
                return None
            self._queue(connection, deliveries, (alert_id,))
            return alert_rows.by_id(connection, alert_id)

    def firing(self) -> tuple[AlertRow, ...]:
        """Alerts that fire now, oldest first, with their deliveries."""
        with self._database.read() as connection:
            return alert_rows.select_rows(connection, state="firing", newest_first=False, limit=None)

    def alert(self, alert_id: int) -> AlertRow | None:
        """One alert with its deliveries."""
        with self._database.read() as connection:
            return alert_rows.find(connection, alert_id)

    def enqueue(self, deliveries: Sequence[NewDelivery], alert_ids: Sequence[int]) -> int:
        """Queue messages about alerts; a known ``webhook_id`` is left as it is. Returns how many are new."""
        with self._database.write() as connection:
            return self._queue(connection, deliveries, alert_ids)

    def due(
        self, now_unix_nano: int, limit: int = 100, *, destinations: Collection[str] | None = None
    ) -> tuple[OutboxItem, ...]:
        """Pending deliveries whose time has come, the longest waiting first; to ``destinations`` if given."""
        chosen = (
            select(delivery)
            .where(delivery.c.state == "pending", delivery.c.next_attempt_unix_nano <= now_unix_nano)
            .order_by(delivery.c.next_attempt_unix_nano, delivery.c.id)
            .limit(limit)
        )
        if destinations is not None:
            chosen = chosen.where(delivery.c.destination.in_(destinations))
        with self._database.read() as connection:
            rows = connection.execute(chosen).all()
            told = alert_rows.alerts_of(connection, [row.id for row in rows])
        return tuple(
            OutboxItem(
                r.webhook_id, r.destination, r.body, r.attempts, r.created_unix_nano, told.get(r.id, ())
            )
            for r in rows
        )

    def mark_delivered(self, webhook_id: str, *, status: int) -> None:
        """The destination took it; counts as one attempt."""
        self._mark(
            webhook_id, state="delivered", status=status, error="", delivered=self._clock(), next_attempt=None
        )

    def mark_retry(
        self, webhook_id: str, *, next_attempt_unix_nano: int, status: int | None, error: str
    ) -> None:
        """One attempt failed; the next is at ``next_attempt_unix_nano``."""
        self._mark(
            webhook_id,
            state="pending",
            status=status,
            error=error,
            delivered=None,
            next_attempt=next_attempt_unix_nano,
        )

    def mark_failed(self, webhook_id: str, *, status: int | None, error: str) -> None:
        """The last attempt failed; it is given up."""
        self._mark(webhook_id, state="failed", status=status, error=error, delivered=None, next_attempt=None)

    def disable(self, name: str, *, reason: str) -> None:
        """Switch a destination off and give up what waits for it, until ``enable``."""
        waiting = (delivery.c.destination == name) & (delivery.c.state == "pending")
        with self._database.write() as connection:
            connection.execute(
                update(delivery)
                .where(waiting)
                .values(state="disabled", next_attempt_unix_nano=None, last_error=reason)
            )
            connection.execute(delete(destination).where(destination.c.name == name))
            connection.execute(
                insert(destination).values(name=name, disabled_unix_nano=self._clock(), reason=reason)
            )

    def enable(self, name: str) -> None:
        """Switch a destination on again; what was given up stays so."""
        with self._database.write() as connection:
            connection.execute(delete(destination).where(destination.c.name == name))

    def disabled(self) -> Mapping[str, str]:
        """Destinations that are switched off, with the reason."""
        with self._database.read() as connection:
            rows = connection.execute(
                select(destination.c.name, destination.c.reason).order_by(destination.c.name)
            )
            return {row.name: row.reason for row in rows}

    def _queue(
        self, connection: Connection, deliveries: Sequence[NewDelivery], alert_ids: Sequence[int]
    ) -> int:
        added = 0
        off = set(connection.execute(select(destination.c.name)).scalars()) if deliveries else set()
        for new in deliveries:
            if connection.execute(
                select(delivery.c.id).where(delivery.c.webhook_id == new.webhook_id)
            ).first():
                continue
            on = new.destination not in off
            values = {
                "webhook_id": new.webhook_id,
                "destination": new.destination,
                "body": new.body,
                "state": "pending" if on else "disabled",
                "attempts": 0,
                "next_attempt_unix_nano": new.due_unix_nano if on else None,
                "created_unix_nano": self._clock(),
                "last_error": "" if on else "the destination is disabled",
            }
            number = _inserted(connection, insert(delivery).values(**values))
            for alert_id in dict.fromkeys(alert_ids):
                connection.execute(insert(delivery_alert).values(delivery_id=number, alert_id=alert_id))
            added += 1
        return added

    def _mark(
        self,
        webhook_id: str,
        *,
        state: str,
        status: int | None,
        error: str,
        delivered: int | None,
        next_attempt: int | None,
    ) -> None:
        with self._database.write() as connection:
            connection.execute(
                update(delivery)
                .where(delivery.c.webhook_id == webhook_id, delivery.c.state == "pending")
                .values(
                    state=state,
                    attempts=delivery.c.attempts + 1,
                    last_status=status,
                    last_error=error,
                    delivered_unix_nano=delivered,
                    next_attempt_unix_nano=next_attempt,
                )
            )


def _alert_values(new: NewAlert) -> dict[str, object]:
    return {
        "fingerprint": new.fingerprint,
        "rule": new.rule,
        "state": "firing",
        "labels": json.dumps(dict(new.labels)),
        "annotations": json.dumps(dict(new.annotations)),
        "value": new.value,
        "starts_unix_nano": new.starts_unix_nano,
    }


def _change_alert(
    connection: Connection, alert_id: int, *, value: float | None, annotations: Mapping[str, str] | None
) -> bool:
    changed: dict[str, object] = {"value": value}
    if annotations is not None:
        changed["annotations"] = json.dumps(dict(annotations))
    firing = (alert.c.id == alert_id) & (alert.c.state == "firing")
    return connection.execute(update(alert).where(firing).values(**changed)).rowcount > 0


def _inserted(connection: Connection, statement: Insert) -> int:
    key = connection.execute(statement).inserted_primary_key
    if key is None:
        raise StorageError("the store gave no number to a new row")
    return int(key[0])
