"""What is particular to a picker; what all share is in the conformance tests."""

import random

import numpy as np
import pytest

from engine.pickers import ArgmaxPicker, TwoChoicesPicker, WeightedRandomPicker


def test_argmax_treats_rounding_as_a_tie():
    """Totals that differ by rounding only are equal."""
    totals = np.array([0.1 + 0.2, 0.3, 0.2])
    picks = {ArgmaxPicker().pick(totals, totals, random.Random(seed)).index for seed in range(20)}
    assert picks == {0, 1}
    assert ArgmaxPicker().probabilities(totals, totals).tolist() == [0.5, 0.5, 0.0]


def test_weighted_random_by_weight():
    """Draws by the effective weights, not the totals, when told so."""
    weights, totals = np.array([0.1, 0.3]), np.array([0.9, 0.1])
    assert WeightedRandomPicker("weight").probabilities(totals, weights) == pytest.approx([0.25, 0.75])
    assert WeightedRandomPicker("score").probabilities(totals, weights) == pytest.approx([0.9, 0.1])


def test_sharpness_approaches_argmax_without_underflow():
    """A high power of small scores still gives probabilities."""
    totals = np.array([1e-9, 2e-9])
    assert WeightedRandomPicker(sharpness=100).probabilities(totals, totals) == pytest.approx(
        [0.0, 1.0], abs=1e-20
    )


def test_two_choices_never_takes_the_strictly_worst():
    """Against any other the worst of three loses."""
    totals = np.array([0.1, 0.5, 0.9])
    assert TwoChoicesPicker().probabilities(totals, totals) == pytest.approx([0.0, 1 / 3, 2 / 3])
