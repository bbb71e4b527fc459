"""Many protobuf spans at once: their fields found in the wire bytes by array operations.

The library has parsed the spans before and writes them here again, so the bytes are well formed: fields
in the order of their numbers, each once, lengths as short as they can be. All spans are walked in step,
one field after the other. Whatever is not the plain case is left to the library: an attribute that is no
string, bool, number or empty, events, links and a status of one span, or, by returning False, spans that
may have to be rejected, very long fields and everything unforeseen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .attributes import NO_ATTRIBUTES, Row
from .columns import SPAN_ID_BYTES, TRACE_ID_BYTES, SpanColumns
from .decode_values import read_events, read_links, read_value
from .decode_walk import FIXED, MORE, OddError, Places, Walk
from .wire_groups import Group

_TRACE_ID, _SPAN_ID, _TRACE_STATE, _PARENT, _NAME = 0x0A, 0x12, 0x1A, 0x22, 0x2A
_KIND, _START, _END = 0x30, 0x39, 0x41
_KEY, _VALUE = 0x0A, 0x12
_STRING, _BOOL, _INT, _DOUBLE = 0x0A, 0x10, 0x18, 0x21

_LONGEST_SHARED = 64
_VARINT = 10


def fill_from_wire(columns: SpanColumns, group: Group, spans: Sequence[Any]) -> bool:
    """Append ``spans`` to ``columns``, all or, when it returns False, none."""
    walk = Walk([span.SerializeToString() for span in spans])
    try:
        found = _read(walk)
        rows, odd = _rows(walk, spans)
    except OddError:
        return False
    first = len(columns.attributes)
    columns.trace_id += found.trace_id
    columns.span_id += found.span_id
    columns.parent_span_id += found.parent
    columns.start += found.start
    columns.end += found.end
    columns.name += found.name
    columns.kind += found.kind
    columns.trace_state += found.trace_state
    columns.resource_index += [group.resource] * len(spans)
    columns.scope_index += [group.scope] * len(spans)
    columns.attributes += rows
    columns.odd.update(first + index for index in odd)
    _fill_rest(columns, spans, walk.unfinished())
    return True


@dataclass(frozen=True, slots=True)
class _Fields:
    trace_id: list[bytes]
    span_id: list[bytes]
    trace_state: list[str]
    parent: list[bytes]
    name: list[str]
    kind: list[int]
    start: list[int]
    end: list[int]


def _read(walk: Walk) -> _Fields:
    """The fields before the attributes, in the order of the wire."""
    trace_id = walk.required(_TRACE_ID, TRACE_ID_BYTES)
    span_id = walk.required(_SPAN_ID, SPAN_ID_BYTES)
    trace_state = walk.strings(_TRACE_STATE)
    parent = walk.optional(_PARENT, SPAN_ID_BYTES)
    return _Fields(
        trace_id=_cut(trace_id),
        span_id=_cut(span_id),
        trace_state=trace_state,
        parent=[b""] * len(trace_id) if parent is None else _cut(parent),
        name=walk.strings(_NAME),
        kind=walk.small(_KIND),
        start=walk.times(_START),
        end=walk.times(_END),
    )


def _rows(walk: Walk, spans: Sequence[Any]) -> tuple[list[Row], set[int]]:
    """Attributes of each span; and which spans need the slow way to JSON."""
    begin, end, present = walk.attributes()
    owner, place = np.nonzero(present)
    keyed = (walk.bytes[begin] == _KEY) & (begin < end)
    key_length, key_begin = walk.lengths(begin + 1, keyed)
    key_begin = np.where(keyed, key_begin, begin)
    key_end = np.where(keyed, key_begin + key_length, begin)
    values, left, wild = _values(walk, key_end, end)
    odd = set(owner[wild].tolist())
    for index in left:
        span, marks = int(owner[index]), list[bool]()
        values[index] = read_value(spans[span].attributes[int(place[index])].value, marks)
        if marks:
            odd.add(span)
    most = present.shape[1]
    shared = _shared_keys(walk, key_begin, key_end, most) if most and bool(present.all()) else None
    if shared is not None:
        cuts = range(0, len(values), most)
        return [dict(zip(shared, values[i : i + most], strict=True)) for i in cuts], odd
    keys, rows, start = walk.texts(key_begin, key_end), list[Row](), 0
    for count in present.sum(axis=1).tolist():
        stop = start + count
        rows.append(dict(zip(keys[start:stop], values[start:stop], strict=True)) if count else NO_ATTRIBUTES)
        start = stop
    return rows, odd


def _shared_keys(walk: Walk, begin: Places, end: Places, count: int) -> list[str] | None:
    """The keys of the first span's ``count`` attributes when all spans have the same in the same order.

    Then they are the same strings, made and hashed once. Very long keys are not compared.
    """
    sizes, begins = (end - begin).reshape(-1, count), begin.reshape(-1, count)
    if (sizes != sizes[0]).any() or sizes[0].max() > _LONGEST_SHARED:
        return None
    for k, size in enumerate(sizes[0].tolist()):
        table = walk.table(begins[:, k], size)
        if (table != table[0]).any():
            return None
    return walk.texts(begin[:count], end[:count])


def _values(walk: Walk, at: Places, end: Places) -> tuple[list[Any], list[int], Places]:
    """Values of attributes whose value fields span these places.

    Also the positions of those left to the library, and of numbers that are not finite.
    """
    values = np.empty(len(at), object)
    valued = (walk.bytes[at] == _VALUE) & (at < end)
    length, begin = walk.lengths(at + 1, valued)
    valued &= begin + length == end
    kind = np.where(valued & (length > 0), walk.bytes[begin], 0)
    begin = begin + 1
    left = (at < end) & ~(valued & (length == 0))

    double = np.flatnonzero((kind == _DOUBLE) & (begin + FIXED == end))
    numbers = walk.table(begin[double], FIXED).view("<f8").ravel()
    values[double] = np.array(numbers.tolist(), object)

    whole = np.flatnonzero(((kind == _INT) | (kind == _BOOL)) & (end - begin <= _VARINT))
    integers, read = _varints(walk.table(begin[whole], _VARINT))
    whole, integers = whole[begin[whole] + read == end[whole]], integers[begin[whole] + read == end[whole]]
    values[whole] = np.array(integers.tolist(), object)
    truth = whole[kind[whole] == _BOOL]
    values[truth] = values[truth] != 0

    string = np.flatnonzero(kind == _STRING)
    size, text = walk.lengths(begin[string], np.ones(len(string), np.bool_))
    fits = text + size == end[string]
    string = string[fits]
    values[string] = np.array(walk.texts(text[fits], end[string]), object)

    for plain in (double, whole, string):
        left[plain] = False
    return values.tolist(), np.flatnonzero(left).tolist(), double[~np.isfinite(numbers)]


def _varints(table: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.int64], Places]:
    """The signed number at the start of each row of ten bytes, and how many bytes it takes."""
    going_on = np.logical_and.accumulate(table >= MORE, axis=1)
    size = going_on.sum(axis=1) + 1
    inside = np.arange(_VARINT) < size[:, None]
    parts = np.where(inside, table & 0x7F, 0).astype(np.uint64)
    shifts = np.arange(_VARINT, dtype=np.uint64) * np.uint64(7)
    return np.bitwise_or.reduce(parts << shifts, axis=1).view(np.int64), size


def _fill_rest(columns: SpanColumns, spans: Sequence[Any], unfinished: list[int]) -> None:
    count = len(spans)
    codes, messages, events, links = [0] * count, [""] * count, [b""] * count, [b""] * count
    for index in unfinished:
        span = spans[index]
        codes[index], messages[index] = span.status.code, span.status.message
        events[index], links[index] = read_events(span.events), read_links(span.links)
    columns.status_code += codes
    columns.status_message += messages
    columns.events += events
    columns.links += links


def _cut(table: npt.NDArray[np.uint8]) -> list[bytes]:
    size, data = table.shape[1], table.tobytes()
    return [data[i : i + size] for i in range(0, len(data), size)]
