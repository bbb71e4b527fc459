"""The sliding window."""

import pytest

from engine.signals import SlidingWindow


def test_older_samples_leave():
    """Only the newest sixteen count."""
    window = SlidingWindow()
    for at in range(20):
        window.add(float(at), at)
    assert len(window) == 16
    assert window.mean().value == pytest.approx(sum(range(4, 20)) / 16)
    assert window.mean().taken_ns == 19
    assert window.quantile(1.0).value == 19.0


def test_jitter_is_the_mean_step():
    """Mean absolute difference of consecutive samples; none before the second."""
    window = SlidingWindow(4)
    assert window.mean() is None
    assert window.quantile(0.5) is None
    window.add(10.0, 1)
    assert window.jitter() is None
    window.add(14.0, 2)
    window.add(12.0, 3)
    assert window.jitter().value == pytest.approx(3.0)


def test_a_window_needs_room():
    """A window of no samples is refused."""
    with pytest.raises(ValueError, match="at least one"):
        SlidingWindow(0)
