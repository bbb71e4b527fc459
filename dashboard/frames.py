"""The binary frame of the live heat map: pure encoding and decoding.

Little endian. A frame is a 24-byte head and three arrays of ``count`` entries::

    magic 4s "WBHM" | version u8 | kind u8 | rows u16 | cols u16 | count u16 | sequence u32 | server_ms f64
    index u16[count] | age_ms u16[count] | value f32[count]

``index`` is ``row * cols + col``. Both u16 arrays together take 4 bytes per entry, so the values start on
a multiple of four without padding. A matrix of more than 65,535 cells cannot be addressed that way; it
travels as version 2, whose head says count 0 and is followed by the true count::

    head (version 2, count 0) | count u32 | reserved u32
    index u32[count] | value f32[count] | age_ms u16[count]

The version follows from the shape alone, so one channel never mixes both between two layouts.
"""

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

MAGIC = b"WBHM"
FULL = 0
"""Kind of a frame that lists every cell there is; a cell it does not list has no value."""
DELTA = 1
"""Kind of a frame that lists the cells that changed since the frame before; may be empty."""

NARROW = 1
WIDE = 2
NARROW_CELLS = 65_535
"""Largest matrix of a version 1 frame, in cells."""
AGE_LIMIT_MS = 65_535
"""Ages saturate here: this value means "this old or older"."""

_HEAD = struct.Struct("<4sBBHHHId")
_WIDE_COUNT = struct.Struct("<II")

U32 = npt.NDArray[np.uint32]
U16 = npt.NDArray[np.uint16]
F32 = npt.NDArray[np.float32]


class FrameError(ValueError):
    """The bytes are not a frame of a known version."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Changed cells of a rows x cols matrix.

    ``index`` (u32), ``age_ms`` (u16, milliseconds since the value was decided, at ``server_ms``) and
    ``value`` (f32) are aligned. ``sequence`` grows by one per frame of a channel and wraps at 2^32.
    ``server_ms`` ticks steadily in milliseconds; only its differences mean anything to a viewer.
    """

    kind: int
    rows: int
    cols: int
    sequence: int
    server_ms: float
    index: U32
    age_ms: U16
    value: F32


def encode(frame: Frame) -> bytes:
    """Bytes of a frame. Raises FrameError when rows, cols or an index cannot be written."""
    if not (0 <= frame.rows <= 0xFFFF and 0 <= frame.cols <= 0xFFFF):
        raise FrameError(f"{frame.rows} rows by {frame.cols} columns do not fit a frame")
    count, cells = len(frame.index), frame.rows * frame.cols
    if len(frame.age_ms) != count or len(frame.value) != count:
        raise FrameError("index, age and value differ in length")
    if count and int(frame.index.max()) >= cells:
        raise FrameError("an index lies outside the matrix")
    if cells > NARROW_CELLS:
        head = _head(frame, WIDE, 0) + _WIDE_COUNT.pack(count, 0)
        body = (frame.index.astype("<u4"), frame.value.astype("<f4"), frame.age_ms.astype("<u2"))
    else:
        head = _head(frame, NARROW, count)
        body = (frame.index.astype("<u2"), frame.age_ms.astype("<u2"), frame.value.astype("<f4"))
    return head + b"".join(part.tobytes() for part in body)


def _head(frame: Frame, version: int, count: int) -> bytes:
    sequence = frame.sequence & 0xFFFFFFFF
    return _HEAD.pack(MAGIC, version, frame.kind, frame.rows, frame.cols, count, sequence, frame.server_ms)


def decode(data: bytes) -> Frame:
    """The frame in ``data``. Raises FrameError when it is cut, too long or of an unknown version."""
    if len(data) < _HEAD.size:
        raise FrameError(f"{len(data)} bytes are less than a head")
    magic, version, kind, rows, cols, count, sequence, server_ms = _HEAD.unpack_from(data)
    if magic != MAGIC or version not in {NARROW, WIDE} or kind not in {FULL, DELTA}:
        raise FrameError("not a frame of a known version and kind")
    start = _HEAD.size
    if version == WIDE:
        if len(data) < start + _WIDE_COUNT.size:
            raise FrameError("a wide frame without its count")
        count, _ = _WIDE_COUNT.unpack_from(data, start)
        start += _WIDE_COUNT.size
    per_entry = 10 if version == WIDE else 8
    if len(data) != start + per_entry * count:
        raise FrameError(f"{len(data)} bytes, {start + per_entry * count} expected for {count} entries")
    index, age, value = _arrays(data, version, start, count)
    if count and int(index.max()) >= rows * cols:
        raise FrameError("an index lies outside the matrix")
    return Frame(kind, rows, cols, sequence, server_ms, index, age, value)


def _arrays(data: bytes, version: int, start: int, count: int) -> tuple[U32, U16, F32]:
    if version == WIDE:
        index = np.frombuffer(data, "<u4", count, start).astype(np.uint32)
        value = np.frombuffer(data, "<f4", count, start + 4 * count).astype(np.float32)
        age = np.frombuffer(data, "<u2", count, start + 8 * count).astype(np.uint16)
        return index, age, value
    index = np.frombuffer(data, "<u2", count, start).astype(np.uint32)
    age = np.frombuffer(data, "<u2", count, start + 2 * count).astype(np.uint16)
    value = np.frombuffer(data, "<f4", count, start + 4 * count).astype(np.float32)
    return index, age, value
