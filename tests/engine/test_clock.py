"""Clocks."""

import pytest

from engine import ManualClock, SystemClock


def test_manual_clock_moves_by_hand():
    """Both clocks move together, and only forward."""
    clock = ManualClock(100)
    clock.advance(1.5)
    assert (clock.time_ns(), clock.monotonic_ns()) == (1_500_000_100, 1_500_000_000)
    with pytest.raises(ValueError, match="backwards"):
        clock.advance(-1)


def test_system_clock_runs():
    """The system's clocks are nanoseconds."""
    clock = SystemClock()
    assert clock.time_ns() > 1_600_000_000 * 10**9
    assert clock.monotonic_ns() <= clock.monotonic_ns()
