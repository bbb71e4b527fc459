"""Keeps the store within its age and its size, in chunks short enough that intake hardly waits.

By age, rows older than the limit go. By size, the oldest spans go until the pages in use leave room for
what arrives before the next run; the file is cut only when it is near the limit, because freed pages are
used again and cutting them off costs as much as writing them. The log counts as part of the size.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Connection, delete, insert

from storage import expiry, health_rows, sqlite
from storage.database import Database
from storage.tables import limit

DAY_S = 86_400.0

_NANO = 1_000_000_000
_SECOND_BYTES = 90  # of one roll-up row, measured
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Limits:
    """What besides spans is bounded. Ages in seconds.

    ``roll_up_share`` is the part of the size limit the 1 s roll-ups may take before they, too, are
    shortened. ``series_idle_s`` after its last mention a series leaves the live view.
    """

    experiments_age_s: float = 90 * DAY_S
    experiment_rows: int = 500_000
    series_idle_s: float = DAY_S
    series: int = 50_000
    alerts_age_s: float = 90 * DAY_S
    alerts: int = 10_000
    processes_age_s: float = DAY_S
    roll_up_share: float = 0.25
    chunk_rows: int = 500
    chunk_pages: int = 1_000
    full: float = 0.95  # of the size limit: the file is cut above it
    low: float = 0.9  # of the size limit: where deleting stops


@dataclass(frozen=True, slots=True)
class RetentionReport:
    """What one run deleted, and the bytes on disk before and after it."""

    spans: int
    decisions: int
    roll_ups: int
    names: int
    alerts: int
    size_before_bytes: int
    size_bytes: int


class Retention:
    """Deletes what is beyond the limits; not for use by several threads at once.

    ``max_age_s`` and ``max_size_bytes``: above 0, None for no limit. Both are also written into the store,
    so that readers in other processes can show them.
    """

    def __init__(
        self,
        database: Database,
        *,
        max_age_s: float | None = 7 * DAY_S,
        max_size_bytes: int | None = 2 * 2**30,
        limits: Limits | None = None,
    ) -> None:
        self._database = database
        self._max_age_s = max_age_s
        self._max_size = max_size_bytes
        self._limits = limits or Limits()
        self._size_after_last: int | None = None
        self._growth = 0.0
        self._announced = False

    def run_once(self, now_unix_nano: int) -> RetentionReport:
        """Delete what is too old at ``now_unix_nano`` and what is too much. Raises StorageError.

        After an error the next run goes on where this one stopped.
        """
        before = self._database.file_bytes()
        if self._size_after_last is not None:
            self._growth = max(before - self._size_after_last, self._growth * 0.9)
        if not self._announced:
            self._write(self._announce)
            self._announced = True
        gone, roll_ups = self._by_age(now_unix_nano)
        names, alerts = self._bounded(now_unix_nano)
        if self._max_size is not None:
            more, more_roll_ups = self._by_size(self._max_size)
            gone, roll_ups = _sum(gone, more), roll_ups + more_roll_ups
        after = self._size_after_last = self._database.file_bytes()
        return RetentionReport(gone.spans, gone.decisions, roll_ups, names, alerts, before, after)

    def _by_age(self, now: int) -> tuple[expiry.Gone, int]:
        gone, roll_ups = expiry.Gone(), 0
        if self._max_age_s is not None:
            oldest = now - int(self._max_age_s * _NANO)
            while (chunk := self._delete_spans(oldest)).spans:
                gone = _sum(gone, chunk)
            while number := self._delete_seconds(oldest // _NANO):
                roll_ups += number
        tomorrow = now // _NANO + int(DAY_S)
        roll_ups += self._write(lambda c: expiry.future_seconds(c, tomorrow))
        return gone, roll_ups

    def _bounded(self, now: int) -> tuple[int, int]:
        """Delete names, experiments, alerts and heartbeats that are old or too many."""
        limits = self._limits

        def ago(seconds: float) -> int:
            return now - int(seconds * _NANO)

        # A series outlives the roll-ups and decisions that need its names.
        idle = ago(limits.series_idle_s)
        kept_for = max(limits.series_idle_s, self._max_age_s or 0.0)
        gone_since = ago(kept_for) if self._max_age_s is not None else 0
        names = self._write(
            lambda c: expiry.series(c, idle_since=idle, gone_since=gone_since, keep=limits.series)
        )
        names += self._write(lambda c: expiry.unused_names(c, now))
        oldest = ago(limits.experiments_age_s)
        self._write(lambda c: expiry.minutes(c, before_unix_nano=oldest, keep=limits.experiment_rows))
        ended = ago(limits.alerts_age_s)
        alerts = self._write(lambda c: expiry.alerts(c, ended_before=ended, keep=limits.alerts))
        self._write(lambda c: expiry.processes(c, ago(limits.processes_age_s)))
        return names, alerts

    def _by_size(self, most: int) -> tuple[expiry.Gone, int]:
        """Delete the oldest until there is room, then cut the file when it is near the limit."""
        room = max(most * (1 - self._limits.low), 1.5 * self._growth, sqlite.LOG_LIMIT_BYTES * 1.5)
        target = int(max(most * 0.5, most - room))
        gone, roll_ups = expiry.Gone(), 0
        if self._used() > target:
            most_seconds = target * self._limits.roll_up_share / _SECOND_BYTES
            excess = self._read(expiry.estimated_seconds) - most_seconds
            while roll_ups < excess and (number := self._delete_seconds(None)):
                roll_ups += number
        while self._used() > target:
            chunk = self._delete_spans(None)
            if not chunk.spans:
                number = self._delete_seconds(None)
                if not number:
                    break
                roll_ups += number
            gone = _sum(gone, chunk)
        if self._database.file_bytes() > min(most * self._limits.full, most - 1.5 * self._growth):
            self._cut(target)
        return gone, roll_ups

    def _cut(self, target: int) -> None:
        self._fold()
        while self._database.path.stat().st_size > target and self._read(sqlite.free_pages):
            with self._database.exclusive() as connection:
                sqlite.give_back(connection, self._limits.chunk_pages)
            self._fold()

    def _fold(self) -> None:
        with self._database.exclusive() as connection:
            sqlite.fold_log(connection, wait_ms=100)

    def _used(self) -> int:
        return self._read(sqlite.used_bytes)

    def _delete_spans(self, received_before: int | None) -> expiry.Gone:
        rows = self._limits.chunk_rows
        return self._write(lambda c: expiry.spans(c, received_before=received_before, limit=rows))

    def _delete_seconds(self, before: int | None) -> int:
        rows = self._limits.chunk_rows
        return self._write(lambda c: expiry.seconds(c, before=before, limit=rows))

    def _announce(self, connection: Connection) -> None:
        connection.execute(delete(limit))
        values = {health_rows.MAX_AGE: self._max_age_s, health_rows.MAX_SIZE: self._max_size}
        connection.execute(insert(limit), [{"name": name, "value": value} for name, value in values.items()])

    def _write(self, work: Callable[[Connection], _T]) -> _T:
        with self._database.write() as connection:
            return work(connection)

    def _read(self, work: Callable[[Connection], _T]) -> _T:
        with self._database.read() as connection:
            return work(connection)


def _sum(one: expiry.Gone, other: expiry.Gone) -> expiry.Gone:
    return expiry.Gone(one.spans + other.spans, one.decisions + other.decisions)
