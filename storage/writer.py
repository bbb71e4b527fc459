"""Writes batches durably: one transaction for everything, each span once however often it is sent.

The fast path inserts every span and expects none to be known. When one is, the whole transaction is
rolled back and written again without the known ones, so a resend costs a lookup and the normal case
costs none. Ids are given here, by the one writer: span i of a batch has the batch's first id plus i, and
its decision, detail and outcome share it. Duplicates leave gaps.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import compress

from sqlalchemy import Connection, Table, select
from sqlalchemy.exc import IntegrityError

from storage import statements, tables
from storage.database import Database
from storage.encoding import Constant, Prepared, Row, Values, decision_columns, prepare, rows_of, span_columns
from storage.names import Names
from storage.records import AdaptedBatch, WriteResult
from storage.repair import UNBINDABLE, repaired
from storage.rollup import RollUp

_LOOKUP = 400
"""Keys in one lookup statement."""

Mask = list[bool]


class Writer:
    """The one writer of a store; not for use by several threads at once.

    ``clock`` gives nanoseconds since the epoch: when a span was received.
    """

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database = database
        self._clock = clock
        self._names = Names()

    def write(self, batches: Sequence[AdaptedBatch]) -> list[WriteResult]:
        """Store the batches in one transaction and say of each what was new.

        When it returns, everything is committed. When it raises, nothing of the call was kept and the
        writer can be used again. Raises StoreUnavailableError, StoreUnusableError or
        SchemaOutdatedError. Of two outcomes for one decision the first is kept and counted.
        """
        if not any(len(batch.spans) for batch in batches):
            return [WriteResult(0, 0, 0) for _ in batches]
        try:
            return self._write([prepare(batch) for batch in batches])
        except UNBINDABLE:
            return self._write([prepare(repaired(batch)) for batch in batches])

    def _write(self, prepared: list[Prepared]) -> list[WriteResult]:
        try:
            try:
                with self._database.write() as connection:
                    return self._store(connection, prepared, [None] * len(prepared))
            except IntegrityError:
                self._names.forget()
                with self._database.write() as connection:
                    return self._store(connection, prepared, list(_unknown(connection, prepared)))
        except BaseException:
            self._names.forget()
            raise

    def _store(
        self, connection: Connection, prepared: list[Prepared], masks: Sequence[Mask | None]
    ) -> list[WriteResult]:
        counters = dict(connection.execute(select(tables.counter.c.name, tables.counter.c.value)).all())
        self._names.begin(counters["generation"], counters["name"])
        received = self._clock()
        rollup, told, results = RollUp(), dict[bytes, Row](), []
        last = counters["span"]
        for part, mask in zip(prepared, masks, strict=True):
            results.append(self._store_batch(connection, part, mask, last + 1, received, rollup))
            _collect_outcomes(part, mask, last + 1, told)
            last += len(part)
        _store_outcomes(connection, told, rollup)
        change = self._store_rollups(connection, rollup, counters["change"], received)
        ends = {
            "span": last,
            "change": change,
            "name": self._names.last_id,
            "spans": counters["spans"] + sum(result.inserted for result in results),
            "decisions": counters["decisions"] + sum(result.decisions for result in results),
        }
        connection.exec_driver_sql(statements.WRITE_COUNTER, [(value, name) for name, value in ends.items()])
        return results

    def _store_batch(
        self,
        connection: Connection,
        part: Prepared,
        mask: Mask | None,
        first_id: int,
        received: int,
        rollup: RollUp,
    ) -> WriteResult:
        spans, decisions = part.batch.spans, part.batch.decisions
        resource_ids = self._names.resources(connection, spans.resources, received)
        scope_ids = self._names.scopes(connection, spans.scopes, received)
        columns = span_columns(part, first_id, resource_ids, scope_ids, received)
        inserted = _insert_columns(connection, tables.span, columns, mask)
        new = None if mask is None else [mask[i] for i in decisions.span_index]
        columns = decision_columns(part, first_id, resource_ids)
        made = _insert_columns(connection, tables.decision, columns, new)
        positions = range(len(decisions)) if new is None else list(compress(range(len(decisions)), new))
        details = [
            (first_id + decisions.span_index[k], part.details[k]) for k in positions if k in part.details
        ]
        _insert(connection, statements.INSERT_DETAIL, iter(details), None)
        rollup.add_decisions(part, positions)
        return WriteResult(inserted, len(part) - inserted, made)

    def _store_rollups(self, connection: Connection, rollup: RollUp, change: int, received: int) -> int:
        keys = rollup.series
        ids = self._names.series(connection, keys)
        _insert(connection, statements.UPSERT_SERIES, iter(rollup.series_rows(ids, change, received)), None)
        _insert(connection, statements.UPSERT_SECOND, iter(rollup.second_rows(ids)), None)
        _insert(connection, statements.UPSERT_EXPERIMENT, iter(rollup.experiment_rows()), None)
        return change + len(keys)


def _insert_columns(connection: Connection, table: Table, columns: list[Values], mask: Mask | None) -> int:
    constants = tuple(values.value if isinstance(values, Constant) else None for values in columns)
    return _insert(connection, statements.insert_into(table, constants), rows_of(columns), mask)


def _insert(connection: Connection, statement: str, rows: Iterator[Row], mask: Mask | None) -> int:
    chosen = list(rows) if mask is None else list(compress(rows, mask))
    if chosen:
        connection.exec_driver_sql(statement, chosen)
    return len(chosen)


def _unknown(connection: Connection, prepared: list[Prepared]) -> Iterator[Mask]:
    """Of each batch, which spans are neither stored nor a repeat of one before it."""
    seen: set[bytes] = set()
    for part in prepared:
        for start in range(0, len(part), _LOOKUP):
            asked = tuple(part.keys[start : start + _LOOKUP])
            seen.update(connection.exec_driver_sql(statements.find_spans(len(asked)), asked).scalars())
        mask = []
        for key in part.keys:
            mask.append(key not in seen)
            seen.add(key)
        yield mask


def _collect_outcomes(part: Prepared, mask: Mask | None, first_id: int, told: dict[bytes, Row]) -> None:
    """Add the batch's outcomes to ``told`` by decision key, the first one standing; one of each span."""
    tellers: set[int] = set()
    for columns in (part.batch.decisions, part.batch.outcomes):
        for k, outcome in enumerate(columns.outcome):
            i, key = columns.span_index[k], columns.decision_key[k]
            if outcome is None or (mask is not None and not mask[i]) or key in told or i in tellers:
                continue
            tellers.add(i)
            told[key] = (
                first_id + i,
                key,
                outcome,
                columns.outcome_latency_ms[k],
                columns.experiment[k],
                columns.variant[k],
                part.end_unix_nano[i],
            )


def _store_outcomes(connection: Connection, told: dict[bytes, Row], rollup: RollUp) -> None:
    keys = list(told)
    for start in range(0, len(keys), _LOOKUP):
        asked = tuple(keys[start : start + _LOOKUP])
        for (known,) in connection.exec_driver_sql(statements.find_outcomes(len(asked)), asked):
            del told[known]
    for _, _, outcome, latency, experiment, variant, time in told.values():
        rollup.add_outcome(experiment, variant, time, outcome, latency)
    _insert(connection, statements.INSERT_OUTCOME, iter([row[:-1] for row in told.values()]), None)
