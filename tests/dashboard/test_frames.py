"""The binary frame: bytes that are fixed, and bytes that must be refused."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.frames import AGE_LIMIT_MS, DELTA, FULL, NARROW_CELLS, Frame, FrameError, decode, encode

VECTOR = bytes.fromhex(
    "5742484d 01 01 0200 0300 0300 07000000 0000000000409f40"  # head: 2 x 3, 3 entries, sequence 7, 2000 ms
    "0000 0100 0500"  # index 0, 1, 5
    "0000 f401 ffff"  # age 0, 500 and "65.5 s or older"
    "0000003f 0000803e 0000803f"  # 0.5, 0.25, 1.0
)


def frame(rows=2, cols=3, index=(0, 1, 5), age=(0, 500, AGE_LIMIT_MS), value=(0.5, 0.25, 1.0), kind=DELTA):
    return Frame(
        kind,
        rows,
        cols,
        7,
        2000.0,
        np.array(index, np.uint32),
        np.array(age, np.uint16),
        np.array(value, np.float32),
    )


def assert_same(left, right):
    for name in ("kind", "rows", "cols", "sequence", "server_ms"):
        assert getattr(left, name) == getattr(right, name)
    for name in ("index", "age_ms", "value"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name))


def test_a_frame_has_exactly_the_documented_bytes():
    """The wire form is fixed byte by byte, since a browser reads it at these offsets."""
    assert encode(frame()) == VECTOR
    assert_same(decode(VECTOR), frame())


def test_an_empty_delta_is_a_bare_head():
    """A beat without news costs 24 bytes."""
    data = encode(frame(index=(), age=(), value=()))
    assert len(data) == 24
    assert len(decode(data).index) == 0


def test_values_lie_on_a_multiple_of_four():
    """A browser maps a Float32Array onto the values, which needs alignment for any count."""
    for count in range(4):
        data = encode(frame(index=range(count), age=[1] * count, value=[0.5] * count))
        assert (24 + 4 * count) % 4 == 0
        assert len(data) == 24 + 8 * count


def test_a_matrix_too_large_for_16_bits_travels_as_version_2():
    """The last cell of a wide matrix keeps its index, and a full frame its true count."""
    rows, cols = 7_000, 10
    cells = rows * cols
    assert cells > NARROW_CELLS
    wide = frame(rows, cols, np.arange(cells), np.full(cells, 3), np.linspace(0, 1, cells), FULL)
    data = encode(wide)
    assert data[4] == 2
    assert len(data) == 32 + 10 * cells
    assert struct.unpack_from("<H", data, 10) == (0,)
    assert_same(decode(data), wide)


def test_the_largest_narrow_matrix_fits_all_its_cells():
    """65,535 cells are the most that a 16-bit count can tell."""
    cells = NARROW_CELLS
    data = encode(frame(cells, 1, np.arange(cells), np.zeros(cells), np.zeros(cells), FULL))
    assert data[4] == 1
    assert len(decode(data).index) == cells


def test_the_sequence_wraps():
    """A feed that runs for decades starts again at zero."""
    wrapped = Frame(
        DELTA, 1, 1, 2**32 + 5, 0.0, np.zeros(0, np.uint32), np.zeros(0, np.uint16), np.zeros(0, np.float32)
    )
    assert decode(encode(wrapped)).sequence == 5


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        VECTOR[:23],
        VECTOR[:-1],
        VECTOR + b"\0",
        b"HEAT" + VECTOR[4:],
        VECTOR[:4] + b"\x09" + VECTOR[5:],
        VECTOR[:5] + b"\x07" + VECTOR[6:],
        VECTOR[:4] + b"\x02" + VECTOR[5:24],
        VECTOR[:24] + b"\x06\x00" + VECTOR[26:],
    ],
)
def test_broken_bytes_are_refused(broken):
    """Cut, long, foreign and out-of-range frames raise the one error."""
    with pytest.raises(FrameError):
        decode(broken)


def test_a_frame_that_cannot_be_written_is_refused():
    """Too many rows, an index outside, arrays of unequal length."""
    for bad in (
        frame(rows=65_536),
        frame(index=(0, 1, 6)),
        frame(age=(0, 1)),
    ):
        with pytest.raises(FrameError):
            encode(bad)


@given(st.data(), st.integers(1, 40), st.integers(1, 9))
def test_what_is_encoded_comes_back(data, rows, cols):
    """Any matrix and any subset of its cells survives the trip."""
    index = sorted(data.draw(st.sets(st.integers(0, rows * cols - 1))))
    age = [data.draw(st.integers(0, AGE_LIMIT_MS)) for _ in index]
    value = [data.draw(st.floats(0, 1, width=32)) for _ in index]
    sent = frame(rows, cols, index, age, value, data.draw(st.sampled_from((FULL, DELTA))))
    assert_same(decode(encode(sent)), sent)
