"""The decisions just before and just after one, in its list or on its node."""

from dataclasses import dataclass, replace

from storage.queries import Reader
from storage.records import DecisionQuery, DecisionRow, TimeRange

_MS = 1_000_000
_REACHES = (250 * _MS, 4_000 * _MS, 60_000 * _MS, 900_000 * _MS, 14_400_000 * _MS, 604_800_000 * _MS)
"""How far later ones are looked for, step by step: the store lists newest first, so near ones are cheap."""

_TIES = 10  # decisions of the same nanosecond that are told apart
_CAP = 10_000


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The decision made just before and just after; None at either end of what is stored."""

    before: DecisionRow | None
    after: DecisionRow | None


def find(reader: Reader, row: DecisionRow, query: DecisionQuery) -> Neighbours:
    """Look around ``row`` among what ``query`` selects, whatever its time range."""
    return Neighbours(_before(reader, row, query), _after(reader, row, query))


def _before(reader: Reader, row: DecisionRow, query: DecisionQuery) -> DecisionRow | None:
    until = TimeRange(0, row.time_unix_nano + 1)
    items = reader.decisions(replace(query, time=until), limit=_TIES).items
    at = _position(items, row)
    if at is None:  # the row itself is outside its list, or one of very many in that nanosecond
        return next((item for item in items if item.time_unix_nano < row.time_unix_nano), None)
    return items[at + 1] if at + 1 < len(items) else None


def _after(reader: Reader, row: DecisionRow, query: DecisionQuery) -> DecisionRow | None:
    for reach in _REACHES:
        wanted = replace(query, time=TimeRange(row.time_unix_nano, row.time_unix_nano + reach))
        found = reader.count_decisions(wanted, cap=_CAP)
        if found == 0:
            continue
        items = reader.decisions(wanted, limit=_TIES, offset=max(0, found - _TIES)).items
        at = _position(items, row)
        if at is None:
            return next((item for item in reversed(items) if item.time_unix_nano > row.time_unix_nano), None)
        if at > 0:
            return items[at - 1]
    return None


def _position(items: tuple[DecisionRow, ...], row: DecisionRow) -> int | None:
    key = (row.trace_id, row.span_id)
    return next((at for at, item in enumerate(items) if (item.trace_id, item.span_id) == key), None)
