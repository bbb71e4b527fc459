"""Follows the store: the decisions that came since the last look, each once.

Ids grow with arrival, but with several writers a smaller id may be committed after a larger one. So each
look goes back over a window of ids before the cursor and drops what it has shown already.
"""

from storage import decision_rows
from storage.database import Database
from storage.records import DecisionRow

OVERLAP = 1_000
"""Ids looked at again: far more than are ever between two commits of concurrent writers."""

NOW = -1
"""Cursor that stands for the newest decision there is."""


class Tail:
    """Follows decisions from a cursor on; not for use by several threads at once.

    ``cursor``: 0 for everything kept, NOW for what comes from the first ``poll`` on, or the ``cursor`` of
    an earlier tail to go on where it stood (what its window held is then not shown again).
    """

    def __init__(self, database: Database, *, cursor: int = NOW, overlap: int = OVERLAP) -> None:
        self._database = database
        self._overlap = overlap
        self._shown: set[int] = set()
        self._cursor = cursor
        self._started = cursor == 0

    @property
    def cursor(self) -> int:
        """The greatest id looked at; NOW before the first look."""
        return self._cursor

    def poll(self, *, limit: int = 1_000) -> tuple[DecisionRow, ...]:
        """Up to ``limit`` decisions not shown before, by arrival. Raises StorageError.

        The first poll of a tail that does not start at 0 only takes its place and shows nothing older.
        """
        with self._database.read() as connection:
            if not self._started:
                if self._cursor == NOW:
                    self._cursor = decision_rows.last_id(connection)
                known = decision_rows.ids_after(connection, self._cursor - self._overlap, self._overlap)
                self._shown.update(number for number in known if number <= self._cursor)
                self._started = True
            found = decision_rows.ids_after(connection, self._cursor - self._overlap, self._overlap + limit)
            fresh = [number for number in found if number not in self._shown][:limit]
            rows = decision_rows.by_ids(connection, fresh)
        if fresh:
            self._cursor = max(self._cursor, fresh[-1])
        self._shown.update(fresh)
        self._shown = {number for number in self._shown if number > self._cursor - self._overlap}
        return tuple(rows[number] for number in fresh)
