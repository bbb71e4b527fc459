"""The moving average."""

import math

import pytest

from engine.signals import Ewma, Stage, smooth


def test_first_sample_initialises():
    """Before the first sample there is nothing; then it is the average."""
    ewma = Ewma()
    assert ewma.read() is None
    assert ewma.update(80.0, 5) == 80.0
    assert ewma.read().value == 80.0
    assert ewma.read().taken_ns == 5


def test_formula():
    """alpha * sample + (1 - alpha) * previous."""
    ewma = Ewma(Stage.SCORING, 0.3)
    ewma.update(100.0, 1)
    assert ewma.update(200.0, 2) == pytest.approx(130.0)
    assert smooth(math.nan, 7.0, 0.5) == 7.0


def test_time_never_steps_back():
    """A late sample counts, and does not make the reading older."""
    ewma = Ewma()
    ewma.update(1.0, 10)
    ewma.update(2.0, 4)
    assert ewma.read().taken_ns == 10


@pytest.mark.parametrize("sample", [math.nan, math.inf])
def test_samples_must_be_finite(sample):
    """A sample that is not finite would stay in the average for ever."""
    with pytest.raises(ValueError, match="finite"):
        Ewma().update(sample, 1)


def test_age_of_a_reading():
    """Age is in milliseconds; a time ahead of the clock counts as fresh."""
    ewma = Ewma()
    ewma.update(1.0, 2_000_000)
    assert ewma.read().age_ms(5_500_000) == 3.5
    assert ewma.read().age_ms(1_000_000) == 0.0
