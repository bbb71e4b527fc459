"""Drift detection: sensitivity, silence, scale, and exact resumption."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.statistics import DriftConfig, PageHinkley, threshold_for

WEEK_OF_64_SERIES = threshold_for(64 * 604_800)


def alarms(values, config=None):
    """Indices and states of the samples that raised an alarm."""
    detector = PageHinkley(config)
    states = [detector.update(float(v)) for v in values]
    return [(i, s) for i, s in enumerate(states) if s.drifted]


@pytest.mark.parametrize(("shift", "direction"), [(1.25, "up"), (-1.25, "down")])
def test_a_step_of_1_25_sigma_is_found_soon_with_its_direction_and_size(shift, direction):
    """The median delay over seeds stays below 60 samples and the shift is estimated within a third."""
    delays, sizes = [], []
    for seed in range(20):
        values = np.random.default_rng(seed).normal(0.0, 1.0, 600)
        values[300:] += shift
        found = alarms(values)
        assert found[0][0] >= 300
        assert found[0][1].direction == direction
        delays.append(found[0][0] - 300)
        sizes.append(found[0][1].magnitude)
    assert np.median(delays) < 60
    assert np.median(sizes) == pytest.approx(shift, rel=1 / 3)


def test_steady_noise_raises_no_alarm():
    """100,000 independent samples at the threshold of a weekly budget pass in silence."""
    values = np.random.default_rng(7).normal(3.0, 2.0, 100_000)
    assert alarms(values, DriftConfig(threshold=1.5 * WEEK_OF_64_SERIES, memory=math.inf)) == []


def test_the_run_length_matches_the_formula():
    """With a known reference the mean time to a false alarm is within a third of the one asked for."""
    config = DriftConfig(
        threshold=threshold_for(1_000), standardise=False, burn_in=2, memory=math.inf, clip=50.0
    )
    rng, lengths = np.random.default_rng(11), []
    for _ in range(60):
        detector = PageHinkley(config)
        detector._count, detector._mean = 10**9, 0.0  # a reference that is known, not learnt
        for length in range(1, 20_000):
            if detector.update(float(rng.normal())).drifted:
                lengths.append(length)
                break
    assert np.mean(lengths) == pytest.approx(1_000, rel=1 / 3)


def test_a_lone_outlier_is_no_alarm():
    """One sample a thousand deviations away is clipped."""
    values = np.random.default_rng(3).normal(0.5, 0.01, 400)
    values[200] = 10.0
    assert alarms(values) == []


def test_a_constant_series_with_rounding_noise_is_no_alarm():
    """The deviation's floor keeps steps of 1e-9 from counting."""
    assert alarms([0.5 + 1e-9 * (i % 7) for i in range(2_000)]) == []


def test_after_an_alarm_the_new_level_is_normal():
    """One step raises exactly one alarm."""
    values = np.random.default_rng(5).normal(0.0, 1.0, 2_000)
    values[500:] += 4.0
    assert [s.direction for _, s in alarms(values)] == ["up"]


def test_forgetting_forgives_a_slow_creep_that_full_memory_finds():
    """A creep whose excess leaks away faster than it adds up is only found without forgetting."""
    rng = np.random.default_rng(2)
    values = rng.normal(0.0, 1.0, 3_000)
    values[500:] += 1.2
    patient = DriftConfig(memory=math.inf)
    assert alarms(values, patient)
    assert not alarms(values, DriftConfig(memory=math.inf, forgetting=0.7))


def test_without_standardising_the_numbers_have_the_units_of_the_series():
    """A drift of 0.1 a sample over a threshold of 1 takes about ten samples."""
    config = DriftConfig(delta=0.0, threshold=1.0, burn_in=10, memory=math.inf, standardise=False)
    found = alarms([0.0] * 100 + [0.1] * 30, config)
    assert 9 <= found[0][0] - 100 <= 14


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=120),
    st.integers(0, 120),
    st.floats(0.5, 1.0),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_a_restored_detector_continues_bit_for_bit(values, cut, forgetting, standardise):
    """Dump, JSON and restore change no later state."""
    config = DriftConfig(burn_in=5, threshold=3.0, forgetting=forgetting, standardise=standardise)
    whole, first = PageHinkley(config), PageHinkley(config)
    expected = [whole.update(v) for v in values]
    seen = [first.update(v) for v in values[:cut]]
    second = PageHinkley.restore(json.loads(json.dumps(first.dump())))
    assert second.config == config
    assert seen + [second.update(v) for v in values[cut:]] == expected


@given(st.lists(st.floats(-100, 100), min_size=40, max_size=150), st.sampled_from([0.25, 4.0, 1024.0]))
@settings(max_examples=60, deadline=None)
def test_mirroring_and_scaling_a_series_mirrors_the_verdict(values, scale):
    """Up becomes down, and a standardised test does not see the scale."""
    config = DriftConfig(burn_in=5, threshold=3.0, floor=1e-3)
    wide = DriftConfig(burn_in=5, threshold=3.0, floor=1e-3 * scale)
    flip = {"up": "down", "down": "up", "none": "none"}
    plain = [(i, s.direction) for i, s in alarms(values, config)]
    mirrored = [(i, flip[s.direction]) for i, s in alarms([-scale * v for v in values], wide)]
    assert plain == mirrored


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_sample_that_is_no_number_is_refused(value):
    """It would poison the sums for ever."""
    with pytest.raises(ValueError, match="finite"):
        PageHinkley().update(value)


@pytest.mark.parametrize(
    "wrong", [{"delta": -1}, {"threshold": 0}, {"burn_in": 1}, {"forgetting": 0}, {"floor": 0}, {"clip": 0.1}]
)
def test_senseless_parameters_are_refused(wrong):
    """Each is named by a ValueError at construction."""
    with pytest.raises(ValueError, match="must"):
        DriftConfig(**wrong)


def test_a_threshold_needs_a_positive_delta():
    """The formula divides by it."""
    with pytest.raises(ValueError, match="delta"):
        threshold_for(1_000, 0.0)
