"""Node pressure."""

import pytest

from engine.signals import Pressure, Reading, pressure


def test_shares():
    """0.40 CPU, 0.35 jitter, 0.25 I/O wait, each clamped to 0..1."""
    assert pressure(1, 0, 0) == pytest.approx(0.40)
    assert pressure(0, 1, 0) == pytest.approx(0.35)
    assert pressure(0, 0, 1) == pytest.approx(0.25)
    assert pressure(9, 9, 9) == pytest.approx(1.0)
    assert pressure(-1, 0.5, 0.2) == pytest.approx(0.225)


def test_is_as_old_as_its_oldest_part():
    """The reading carries the oldest of the three times."""
    reading = Pressure(jitter_scale_ms=10.0).read(Reading(0.5, 30), Reading(5.0, 20), Reading(0.1, 25))
    assert reading.value == pytest.approx(0.4 * 0.5 + 0.35 * 0.5 + 0.25 * 0.1)
    assert reading.taken_ns == 20
