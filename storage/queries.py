"""The read side: questions the dashboard and the alerts ask, each one method named by intent."""

import threading
import time as wall
from collections.abc import Callable

from sqlalchemy import Connection

from storage import (
    alert_rows,
    decision_rows,
    experiment_rows,
    health_rows,
    ids,
    node_rows,
    span_rows,
    sqlite,
    weight_rows,
)
from storage.database import Database
from storage.errors import StorageError
from storage.records import (
    AlertRow,
    DecisionDetail,
    DecisionPage,
    DecisionQuery,
    ExperimentSummary,
    Facets,
    HealthView,
    NodeSummary,
    TimeRange,
    Trace,
    WeightPoint,
    WeightSample,
)

MAX_PAGE = 1_000


class Reader:
    """Answers questions; safe to call from several threads; never writes.

    ``clock`` gives nanoseconds since the epoch; only rates depend on it.
    Every method raises ``StoreUnavailableError`` when the store cannot answer now.
    """

    def __init__(self, database: Database, clock: Callable[[], int] = wall.time_ns) -> None:
        self._database = database
        self._clock = clock
        self._watching: Connection | None = None
        self._watched_file = 0
        self._watch_lock = threading.Lock()

    def decisions(
        self, query: DecisionQuery, *, limit: int = 100, cursor: str | None = None, offset: int = 0
    ) -> DecisionPage:
        """Decisions that match, newest first. ``limit`` 1..1000. Raises ValueError for a bad cursor."""
        if not 1 <= limit <= MAX_PAGE:
            raise ValueError(f"limit is 1 to {MAX_PAGE}")
        if not 0 <= offset <= decision_rows.MAX_INTEGER:
            raise ValueError("offset is 0 or more")
        after = None if cursor is None else ids.place_of(cursor)
        with self._database.read() as connection:
            found = decision_rows.page(connection, query, limit=limit + 1, after=after, offset=offset)
        shown = found[:limit]
        following = ids.cursor_of(shown[-1][1].time_unix_nano, shown[-1][0]) if len(found) > limit else None
        return DecisionPage(tuple(row for _, row in shown), following)

    def count_decisions(self, query: DecisionQuery, *, cap: int = 10_000) -> int:
        """How many match, counted up to ``cap`` (then the answer is ``cap``)."""
        with self._database.read() as connection:
            return decision_rows.count(connection, query, cap)

    def decision(self, trace_id: str, span_id: str) -> DecisionDetail | None:
        """One decision by hex ids, or None. Raises ValueError for ids that are not hex of that length."""
        key = ids.from_hex(trace_id, ids.TRACE_BYTES), ids.from_hex(span_id, ids.SPAN_BYTES)
        with self._database.read() as connection:
            return decision_rows.one(connection, *key)

    def trace(self, trace_id: str, *, limit: int = 2_000) -> Trace | None:
        """All spans of a trace, by start time. Raises ValueError for an id that is not 32 hex digits."""
        key = ids.from_hex(trace_id, ids.TRACE_BYTES)
        with self._database.read() as connection:
            return span_rows.trace(connection, key, limit)

    def weights(
        self,
        *,
        policy: str | None = None,
        service: str | None = None,
        changed_after: int = 0,
        most: int | None = None,
    ) -> tuple[WeightSample, ...]:
        """Newest value of each series by ``change``; only those whose change is above ``changed_after``.

        Series without any weight, and those not seen for a day, are left out; of more than ``most`` all
        but those that changed last.
        """
        with self._database.read() as connection:
            return weight_rows.newest(
                connection, policy=policy, service=service, changed_after=changed_after, most=most
            )

    def weight_history(
        self,
        time: TimeRange,
        *,
        policy: str | None = None,
        service: str | None = None,
        node: str | None = None,
        most: int | None = None,
    ) -> tuple[WeightPoint, ...]:
        """1 s roll-ups that saw a weight in a range, by second; of the ``most`` series that changed last."""
        with self._database.read() as connection:
            return weight_rows.history(connection, time, policy=policy, service=service, node=node, most=most)

    def nodes(
        self,
        time: TimeRange,
        *,
        policy: str | None = None,
        service: str | None = None,
        most: int | None = None,
    ) -> tuple[NodeSummary, ...]:
        """Nodes seen in a range with their shares, by name; of more than ``most`` the most chosen."""
        with self._database.read() as connection:
            return node_rows.summaries(connection, time, policy=policy, service=service, most=most)

    def facets(self, time: TimeRange | None = None) -> Facets:
        """Distinct services, policies and nodes."""
        with self._database.read() as connection:
            return weight_rows.facets(connection, time)

    def experiments(self) -> tuple[ExperimentSummary, ...]:
        """All experiments with their arms, by key."""
        with self._database.read() as connection:
            return experiment_rows.summaries(connection)

    def alerts(self, *, state: str | None = None, limit: int = 200) -> tuple[AlertRow, ...]:
        """Alerts, newest first, with their deliveries."""
        with self._database.read() as connection:
            return alert_rows.select_rows(connection, state=state, newest_first=True, limit=limit)

    def health(self) -> HealthView:
        """Sources, processes and the store itself."""
        size = self._database.file_bytes()
        with self._database.read() as connection:
            return health_rows.view(connection, size_bytes=size, now_unix_nano=self._clock())

    def data_version(self) -> int:
        """A cheap number that changes when anyone commits (``PRAGMA data_version`` on SQLite).

        It has a connection of its own, since the number means something on one connection only; after a
        failure that connection is opened anew and the number may start again anywhere.
        """
        with self._watch_lock:
            try:
                if self._watched_file != (now := self._database.readers_file()):
                    self._watched_file = now
                    self._forget_watch()
                if self._watching is None:
                    self._watching = self._database.watch()
                with self._database.translated():
                    return sqlite.data_version(self._watching)
            except StorageError:
                self._forget_watch()
                raise

    def close(self) -> None:
        """Close the connection ``data_version`` keeps; the reader stays usable."""
        with self._watch_lock:
            self._forget_watch()

    def _forget_watch(self) -> None:
        if self._watching is not None:
            self._watching.close()
            self._watching = None
