"""Comparison of arms: reference values, error under continuous looking, power, invariants."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from engine.statistics import Moments, always_valid_p, boundary, compare, compare_rates, welch

LOOKS = np.arange(100, 3_001, 20)


def moments(values):
    """Moments of the growing sample at every look."""
    total, squares = np.cumsum(values)[LOOKS - 1], np.cumsum(np.square(values))[LOOKS - 1]
    variances = (squares - total * total / LOOKS) / (LOOKS - 1)
    return [
        Moments(*m) for m in zip(LOOKS.tolist(), (total / LOOKS).tolist(), variances.tolist(), strict=True)
    ]


def looks(rng, effect, draw):
    """Moments of both arms at every look of one run; arm b is shifted by ``effect``."""
    return list(zip(moments(draw(rng, LOOKS[-1])), moments(draw(rng, LOOKS[-1]) + effect), strict=True))


def normal(rng, n):
    return rng.normal(10.0, 1.0, n)


def skewed(rng, n):
    """Latencies: log-normal with the spread of output lengths."""
    return rng.lognormal(0.0, 0.8, n)


def test_welch_agrees_with_scipy():
    """Difference, p value, degrees of freedom and interval are those of ttest_ind."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(10, 2, 40), rng.normal(11, 5, 25)
    expected = stats.ttest_ind(b, a, equal_var=False)
    interval = expected.confidence_interval(0.95)
    got = welch(Moments(40, a.mean(), a.var(ddof=1)), Moments(25, b.mean(), b.var(ddof=1)))
    assert got.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert got.degrees == pytest.approx(expected.df, rel=1e-9)
    assert (got.low, got.high) == pytest.approx((interval.low, interval.high), rel=1e-9)


def test_the_published_example_gives_its_p_value():
    """A click-through of 4.21 % against 3.87 % on 59,100 units an arm has a p value of 0.003."""
    a, b = (Moments(59_100, p, p * (1 - p)) for p in (0.0387, 0.0421))
    assert welch(a, b).p_value == pytest.approx(0.003, abs=0.0005)


@pytest.mark.parametrize("draw", [normal, skewed])
def test_looking_all_the_time_costs_the_sequence_nothing_and_welch_its_validity(draw):
    """400 A/A runs looked at every 20 samples: at most 6 % false alarms against more than 20 %."""
    false = {"sequence": 0, "welch": 0}
    for seed in range(400):
        pairs = looks(np.random.default_rng(seed), 0.0, draw)
        false["sequence"] += any(
            compare(a, b, tolerance=0.0).verdict in ("better", "worse") for a, b in pairs
        )
        false["welch"] += any(welch(a, b).p_value < 0.05 for a, b in pairs)
    assert false["sequence"] / 400 <= 0.06
    assert false["welch"] / 400 > 0.20


def test_a_real_effect_is_found():
    """A tenth of a deviation is found in more than 85 % of the runs, never with the wrong sign."""
    verdicts = []
    for seed in range(100):
        run = (compare(a, b).verdict for a, b in looks(np.random.default_rng(seed), -0.1, normal))
        verdicts.append(next((v for v in run if v in ("better", "worse")), "none"))
    assert verdicts.count("better") > 85
    assert verdicts.count("worse") == 0


def test_rates_are_valid_under_continuous_looking():
    """400 A/A runs of a 3 % error rate looked at every 50 samples: at most 6 % false alarms."""
    false = 0
    for seed in range(400):
        a, b = (np.cumsum(np.random.default_rng((seed, arm)).random(4_000) < 0.03) for arm in (0, 1))
        runs = (compare_rates((int(a[n - 1]), n), (int(b[n - 1]), n)) for n in range(100, 4_001, 50))
        false += any(c.verdict in ("better", "worse") for c in runs)
    assert false / 400 <= 0.06


def test_a_rate_that_doubled_is_worse():
    """1.2 % against 0.5 % of 10,000 each."""
    result = compare_rates((50, 10_000), (120, 10_000))
    assert result.verdict == "worse"
    assert result.difference == pytest.approx(0.007)
    assert result.relative_difference == pytest.approx(1.4)


def test_a_metric_where_more_is_better_turns_the_verdict():
    """The same numbers are better or worse by what the metric means."""
    a, b = Moments(5_000, 10.0, 1.0), Moments(5_000, 9.0, 1.0)
    assert compare(a, b).verdict == "better"
    assert compare(a, b, lower_is_better=False).verdict == "worse"


def test_equal_arms_are_inside_once_the_interval_is_narrow_enough():
    """Wide it is settling and says how much is missing; narrow it is inside."""
    early = compare(Moments(500, 1_000.0, 400.0**2), Moments(500, 1_001.0, 400.0**2))
    late = compare(Moments(50_000, 1_000.0, 400.0**2), Moments(50_000, 1_001.0, 400.0**2))
    assert (early.verdict, late.verdict) == ("settling", "inside")
    assert late.needed is None
    assert early.needed is not None


def test_the_missing_outcomes_are_those_that_decide_it():
    """With the forecast's samples added and nothing else changed, the verdict is no longer settling."""
    a, b = Moments(500, 1_000.0, 400.0**2), Moments(500, 950.0, 400.0**2)
    needed = compare(a, b).needed
    more = 500 + math.ceil(needed / 2) + 1
    assert compare(Moments(more, a.mean, a.variance), Moments(more, b.mean, b.variance)).verdict == "better"
    less = 500 + needed // 2 - 20
    assert compare(Moments(less, a.mean, a.variance), Moments(less, b.mean, b.variance)).verdict == "settling"


@pytest.mark.parametrize(("n_a", "n_b"), [(0, 0), (0, 5_000), (1, 5_000), (99, 5_000)])
def test_too_little_data_is_settling_whatever_the_difference(n_a, n_b):
    """An arm with fewer than 100 outcomes decides nothing."""
    result = compare(Moments(n_a, 10.0, 1.0), Moments(n_b, 1.0, 1.0))
    assert result.verdict == "settling"
    assert result.needed is None or result.needed >= 2 * (100 - min(n_a, n_b))


def test_rates_without_any_error_are_settling():
    """No errors in two short arms are not evidence of equality."""
    result = compare_rates((0, 300), (0, 280))
    assert result.verdict == "settling"
    assert result.relative_difference is None


def test_arms_without_variance_are_compared_exactly():
    """Constant arms have an interval of width zero."""
    same, other = (
        compare(Moments(200, 5.0, 0.0), Moments(200, 5.0, 0.0)),
        compare(Moments(200, 5.0, 0.0), Moments(200, 6.0, 0.0)),
    )
    assert (same.verdict, same.p_value) == ("inside", 1.0)
    assert (other.verdict, other.p_value) == ("worse", 0.0)


@given(st.floats(0.01, 12.0), st.integers(100, 1_000_000), st.sampled_from([0.01, 0.05, 0.2]))
def test_the_p_value_and_the_band_agree(z, samples, alpha):
    """p is below alpha exactly when the band excludes zero."""
    half = boundary(samples, alpha)
    assume(abs(z / half - 1) > 1e-9)
    assert (always_valid_p(z, samples, alpha) < alpha) == (z > half)


MOMENTS = st.builds(Moments, st.integers(100, 10**6), st.floats(-1e6, 1e6), st.floats(1e-6, 1e9))


@given(MOMENTS, MOMENTS)
def test_swapping_the_arms_mirrors_everything_absolute(a, b):
    """Difference and interval change sign, the p value stays."""
    one, two = compare(a, b), compare(b, a)
    assert (one.difference, one.low, one.high) == pytest.approx((-two.difference, -two.high, -two.low))
    assert one.p_value == pytest.approx(two.p_value)
    assert one.low <= one.difference <= one.high
    assert 0.0 <= one.p_value <= 1.0


@given(MOMENTS, MOMENTS)
def test_the_band_is_wider_than_the_fixed_interval(a, b):
    """Being valid at every look costs width."""
    fixed, always = welch(a, b), compare(a, b)
    slack = 1e-9 * (abs(a.mean) + abs(b.mean))
    assert always.low <= fixed.low + slack
    assert always.high >= fixed.high - slack


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, math.nan])
def test_an_alpha_outside_its_range_is_refused(alpha):
    """By every entry point."""
    m = Moments(200, 1.0, 1.0)
    for call in (
        lambda: compare(m, m, alpha),
        lambda: welch(m, m, alpha),
        lambda: compare_rates((1, 2), (1, 2), alpha),
    ):
        with pytest.raises(ValueError, match="alpha"):
            call()


@pytest.mark.parametrize("wrong", [(-1, 0.0, 0.0), (1, math.nan, 0.0), (1, 0.0, -1.0), (1, 0.0, math.inf)])
def test_senseless_moments_are_refused(wrong):
    """At construction."""
    with pytest.raises(ValueError, match="moments"):
        Moments(*wrong)


def test_more_events_than_units_are_refused():
    """A share above one has no variance."""
    with pytest.raises(ValueError, match="events"):
        compare_rates((3, 2), (1, 2))
