"""The attribute column of a decoded batch: one plain dict per span, and its JSON form.

Values are what ``AttributeValue`` allows. A decoder says which rows are *odd*: they hold bytes or a
number JSON has no word for, so they take the slow way to JSON; all others go straight through orjson.
"""

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from storage.records import AttributeColumn, AttributeValue

Row = dict[str, Any]

NO_ATTRIBUTES: Row = {}
"""Shared by every span without attributes; never changed."""


class RowAttributes:
    """Attributes of n spans as n dicts; a key given twice keeps its last value."""

    __slots__ = ("_odd", "_rows")

    def __init__(self, rows: Sequence[Row], odd: frozenset[int] = frozenset()) -> None:
        self._rows = rows
        self._odd = odd

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, key: str) -> Sequence[AttributeValue]:
        """Value of ``key`` for every span, None where it is absent; shape (n,)."""
        return [row.get(key) for row in self._rows]

    def row(self, index: int) -> Mapping[str, AttributeValue]:
        """All attributes of one span; not to be changed."""
        return self._rows[index]

    def encoded(self, without: frozenset[str] = frozenset()) -> Sequence[bytes]:
        """JSON object of each span's attributes, less the keys in ``without``; shape (n,)."""
        dumps, odd = orjson.dumps, self._odd
        if not odd and (not without or all(map(without.isdisjoint, self._rows))):
            return list(map(dumps, self._rows))
        out: list[bytes] = []
        for index, row in enumerate(self._rows):
            kept = row if without.isdisjoint(row) else {k: v for k, v in row.items() if k not in without}
            out.append(dumps(plain(kept)) if index in odd else dumps(kept))
        return out


_: type[AttributeColumn] = RowAttributes


def plain(value: Any) -> Any:
    """``value`` with bytes as ``{"bytesValue": <base64>}`` and NaN or infinities as their names."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, bytes):
        return {"bytesValue": base64.b64encode(value).decode("ascii")}
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def to_json(value: Any) -> bytes:
    """JSON of any attribute structure, bytes and non-finite numbers included."""
    return orjson.dumps(plain(value))
