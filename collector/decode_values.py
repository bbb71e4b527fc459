"""Attributes, events and links of protobuf messages, read through the library.

The loops are written for cost: a message field read through the library is about 0.1 us, so a value's
kind is only asked for when its plain reading was empty.
"""

from math import isfinite
from typing import Any

import numpy as np

from .attributes import NO_ATTRIBUTES, Row, to_json

_LONG = 8
"""Arrays from this length on are worth trying as doubles at once."""

_DOUBLE_HEAD = bytes((0x0A, 9, 0x21))


def read_row(pairs: Any, odd: list[bool]) -> Row:
    """Attributes as a dict; ``odd`` grows when one of them needs the slow way to JSON."""
    row: Row = {}
    for pair in pairs:
        value = pair.value
        plain = value.string_value or value.double_value or value.int_value
        if not plain:
            plain = read_value(value, odd)
        elif plain.__class__ is float and not isfinite(plain):
            odd.append(True)
        row[pair.key] = plain
    return row or NO_ATTRIBUTES


def read_value(value: Any, odd: list[bool]) -> Any:
    """One AnyValue; an unset or unknown kind is None. ``odd`` as in read_row."""
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return _list(value.array_value, odd)
    if kind == "kvlist_value":
        return dict(read_row(value.kvlist_value.values, odd))
    if kind == "double_value":
        number = value.double_value
        if not isfinite(number):
            odd.append(True)
        return number
    if kind == "bytes_value":
        odd.append(True)
        return value.bytes_value
    return getattr(value, kind) if kind in ("string_value", "bool_value", "int_value") else None


def _list(array: Any, odd: list[bool]) -> list[Any]:
    values = array.values
    if len(values) >= _LONG:
        doubles = _doubles(array.SerializeToString(), len(values))
        if doubles is not None:
            if not all(map(isfinite, doubles)):
                odd.append(True)
            return doubles
    items: list[Any] = []
    for value in values:
        plain = value.string_value or value.double_value or value.int_value
        if not plain:
            plain = read_value(value, odd)
        elif plain.__class__ is float and not isfinite(plain):
            odd.append(True)
        items.append(plain)
    return items


def _doubles(wire: bytes, count: int) -> list[float] | None:
    """``count`` numbers when ``wire``, an ArrayValue, holds doubles alone, else None.

    Such an array is one pattern repeated: tag and length of the element, tag of ``double_value``, eight
    bytes. Reading it at once is several times cheaper than value by value.
    """
    if len(wire) != count * (len(_DOUBLE_HEAD) + 8):
        return None
    elements = np.frombuffer(wire, np.uint8).reshape(count, -1)
    if (elements[:, : len(_DOUBLE_HEAD)] != np.frombuffer(_DOUBLE_HEAD, np.uint8)).any():
        return None
    numbers: list[float] = elements[:, len(_DOUBLE_HEAD) :].copy().view("<f8").ravel().tolist()
    return numbers


def read_events(events: Any) -> bytes:
    """Span events as a JSON array, empty when there are none."""
    if not events:
        return b""
    return to_json(
        [
            {"name": e.name, "time_unix_nano": e.time_unix_nano, "attributes": read_row(e.attributes, [])}
            for e in events
        ]
    )


def read_links(links: Any) -> bytes:
    """Span links as a JSON array, empty when there are none."""
    if not links:
        return b""
    return to_json(
        [
            {
                "trace_id": link.trace_id.hex(),
                "span_id": link.span_id.hex(),
                "trace_state": link.trace_state,
                "attributes": read_row(link.attributes, []),
            }
            for link in links
        ]
    )
