"""Confidence from the runner-up margin."""

import pytest

from engine.confidence import MarginConfidence
from engine.model import Standing


def test_reference_points():
    """One half at a tie, 0.73 at a lead of the scale, near 1 far ahead."""
    model = MarginConfidence(scale=0.05)
    assert model.confidence(Standing(0.0, 1.0, 2, 2)) == 0.5
    assert model.confidence(Standing(0.05, 1.0, 2, 1)) == pytest.approx(0.7311, abs=1e-4)
    assert model.confidence(Standing(-0.05, 1.0, 2, 1)) == pytest.approx(0.2689, abs=1e-4)
    assert model.confidence(Standing(0.5, 1.0, 2, 1)) == pytest.approx(1.0, abs=1e-4)


def test_margin_is_relative_to_the_largest_total():
    """Doubling all scorer weights changes nothing."""
    model = MarginConfidence()
    assert model.confidence(Standing(0.1, 2.0, 2, 1)) == model.confidence(Standing(0.05, 1.0, 2, 1))
