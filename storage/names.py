"""Ids of what is named once and referred to often: resources, scopes and weight series.

Ids are remembered between writes. ``generation`` is raised by retention when it deletes names, and a
failed write calls ``forget``: what is remembered was committed and is still there.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from sqlalchemy import Connection

from storage import statements
from storage.records import Resource, Scope
from storage.rollup import SeriesKey

REFRESH_NANO = 3_600 * 1_000_000_000
"""How far ``seen_unix_nano`` of a resource or scope may lag behind its last use."""

_REMEMBERED = 50_000


class Names:
    """Finds or gives ids inside a write transaction."""

    def __init__(self) -> None:
        self._resources: dict[Resource, tuple[int, int]] = {}
        self._scopes: dict[Scope, tuple[int, int]] = {}
        self._series: dict[SeriesKey, int] = {}
        self._generation = -1
        self._last = 0

    def begin(self, generation: int, last_id: int) -> None:
        """Start a transaction: ids go on after ``last_id``."""
        full = max(len(self._resources), len(self._scopes), len(self._series)) > _REMEMBERED
        if generation != self._generation or full:
            self.forget()
        self._generation = generation
        self._last = last_id

    @property
    def last_id(self) -> int:
        """The highest id given so far."""
        return self._last

    def forget(self) -> None:
        """Drop everything remembered."""
        self._resources.clear()
        self._scopes.clear()
        self._series.clear()

    def resources(self, connection: Connection, values: Sequence[Resource], now: int) -> list[int]:
        """Id of each resource."""
        return [self._resource(connection, value, now) for value in values]

    def scopes(self, connection: Connection, values: Sequence[Scope], now: int) -> list[int]:
        """Id of each scope."""
        return [self._scope(connection, value, now) for value in values]

    def series(self, connection: Connection, keys: Iterable[SeriesKey]) -> dict[SeriesKey, int]:
        """Id of each series; new ones get theirs here and their row from the upsert that follows."""
        found: dict[SeriesKey, int] = {}
        for key in keys:
            number = self._series.get(key)
            if number is None:
                number = connection.exec_driver_sql(statements.FIND_SERIES, key).scalar()
                number = self._series[key] = self._next() if number is None else int(number)
            found[key] = number
        return found

    def _resource(self, connection: Connection, value: Resource, now: int) -> int:
        known = self._resources.get(value)
        if known is None:
            key = _hash(value.service.encode(), value.instance.encode(), value.attributes)
            known = connection.exec_driver_sql(statements.FIND_RESOURCE, (key,)).one_or_none()
            if known is None:
                known = (self._next(), now)
                row = (known[0], key, value.service, value.instance, value.attributes, now)
                connection.exec_driver_sql(statements.INSERT_RESOURCE, row)
        number, seen = known
        if now - seen > REFRESH_NANO:
            connection.exec_driver_sql(statements.SEE_RESOURCE, (now, number))
            seen = now
        self._resources[value] = (number, seen)
        return number

    def _scope(self, connection: Connection, value: Scope, now: int) -> int:
        known = self._scopes.get(value)
        if known is None:
            key = _hash(value.name.encode(), value.version.encode())
            known = connection.exec_driver_sql(statements.FIND_SCOPE, (key,)).one_or_none()
            if known is None:
                known = (self._next(), now)
                connection.exec_driver_sql(
                    statements.INSERT_SCOPE, (known[0], key, value.name, value.version, now)
                )
        number, seen = known
        if now - seen > REFRESH_NANO:
            connection.exec_driver_sql(statements.SEE_SCOPE, (now, number))
            seen = now
        self._scopes[value] = (number, seen)
        return number

    def _next(self) -> int:
        self._last += 1
        return self._last


def _hash(*parts: bytes) -> bytes:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()
