"""Reads what a sender may have written in several forms; raises BrokenError with a countable reason."""

import math
from collections.abc import Mapping
from itertools import chain
from typing import Any

import orjson

from collector.columns import NAME_BYTES, cut
from engine import semconv

KEY_BYTES = 512
"""Longest explicit ``decision.id``, in bytes of UTF-8."""

_SHORT = NAME_BYTES // 4  # characters that cannot be more bytes than a name may have
_TRACE_HEX = 32
_SPAN_HEX = 16


class BrokenError(Exception):
    """A decision that breaks the table of attributes; its text is the reason, without values in it."""


def text(value: Any, what: str) -> str | None:
    """``value`` as a string; numbers and booleans are written out. None and "" are None."""
    if isinstance(value, str):
        return value or None
    if value is None:
        return None
    if isinstance(value, int | float):
        return str(value)
    raise BrokenError(f"{what} is not a string")


def name(value: Any, what: str, notes: list[str]) -> str | None:
    """A string of at most 4 KiB; a longer one is cut, which ``notes`` says."""
    read = text(value, what)
    if read is not None and len(read) > _SHORT and len(read.encode("utf-8", "replace")) > NAME_BYTES:
        notes.append(f"{what} longer than {NAME_BYTES} bytes: cut")
        return cut(read)
    return read


def number(value: Any, what: str) -> float | None:
    """A finite number, or None when absent."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BrokenError(f"{what} is not a number")
    if not math.isfinite(value):
        raise BrokenError(f"{what} is not finite")
    return float(value)


def unit(value: Any, what: str) -> float | None:
    """A number in [0, 1], or None when absent."""
    read = number(value, what)
    if read is not None and not 0.0 <= read <= 1.0:
        raise BrokenError(f"{what} outside 0..1")
    return read


def count(value: Any, what: str) -> int | None:
    """A whole number of 0 or more, or None when absent."""
    read = number(value, what)
    if read is None:
        return None
    if read < 0 or read > 2**53 or read != int(read):
        raise BrokenError(f"{what} is not a count")
    return int(read)


def structure(value: Any, what: str) -> Any:
    """``value`` with a JSON string read as what it says."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError as exc:
            raise BrokenError(f"{what} is not JSON") from exc
    return value


def names(value: Any, what: str, notes: list[str]) -> tuple[str, ...]:
    """A list of strings, given as such or as JSON; () when absent."""
    read = _listed(value, what)
    if set(map(type, read)) == {str} and max(map(len, read)) <= _SHORT:
        return tuple(read)
    return tuple(name(item, what, notes) or "" for item in read)


def numbers(value: Any, what: str) -> tuple[float, ...]:
    """A list of finite numbers, given as such or as JSON; () when absent."""
    return _floats(_listed(value, what), what)


def matrix(value: Any, what: str) -> tuple[tuple[float, ...], ...]:
    """Rows of finite numbers, given as JSON or as an array of arrays; () when absent."""
    rows = _listed(value, what)
    if not set(map(type, rows)) <= {list}:
        raise BrokenError(f"{what} is not a matrix")
    flat = list(chain.from_iterable(rows))
    _floats(flat, what)
    if set(map(type, flat)) == {float}:
        return tuple(map(tuple, rows))
    return tuple([tuple(map(float, row)) for row in rows])


def decision_key(value: Any, own: bytes) -> bytes:
    """Key of the decision: 24 raw bytes for the default id, else the bytes of the explicit one.

    ``own`` is the key of the span itself, for a decision that states none.
    """
    read = text(value, semconv.DECISION_ID)
    if read is None:
        return own
    if len(read) == _TRACE_HEX + 1 + _SPAN_HEX and read[_TRACE_HEX] == "/":
        digits = read[:_TRACE_HEX] + read[_TRACE_HEX + 1 :]
        if digits.isalnum():
            try:
                return bytes.fromhex(digits)
            except ValueError:
                pass
    key = read.encode("utf-8", "replace")
    if len(key) > KEY_BYTES:
        raise BrokenError(f"{semconv.DECISION_ID} longer than {KEY_BYTES} bytes")
    return key


def first(row: Mapping[str, Any], *keys: str) -> Any:
    """Value of the first of ``keys`` that is present."""
    for key in keys:
        value = row.get(key)
        if value is not None:
            return value
    return None


def _listed(value: Any, what: str) -> list[Any]:
    """The list that ``value`` is or says in JSON; empty when absent."""
    read = structure(value, what)
    if read is None or read == "":
        return []
    if not isinstance(read, list):
        raise BrokenError(f"{what} is not a list")
    return read


def _floats(read: list[Any], what: str) -> tuple[float, ...]:
    """``read`` as finite numbers: by one sum when all are floats, one by one when that sum is not finite."""
    if set(map(type, read)) <= {float} and math.isfinite(sum(read)):
        return tuple(read)
    return tuple([_entry(item, what) for item in read])


def _entry(value: Any, what: str) -> float:
    read = number(value, what)
    if read is None:
        raise BrokenError(f"{what} has a gap")
    return read
