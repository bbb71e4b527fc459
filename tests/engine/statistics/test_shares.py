"""Shares: reference values, rims, and invariants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from engine.statistics import allocation, effective_number, wilson


@pytest.mark.parametrize(("hits", "of"), [(0, 10), (3, 10), (10, 10), (1, 100_000), (499, 1_000)])
def test_wilson_agrees_with_scipy(hits, of):
    """The interval is that of binomtest without continuity correction."""
    expected = stats.binomtest(hits, of).proportion_ci(method="wilson")
    assert wilson(hits, of) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from([0.01, 0.05, 0.3]))
def test_a_share_lies_in_its_interval_and_that_in_the_unit_interval(hits, misses, alpha):
    """For every count, empty ones included."""
    low, high = wilson(hits, hits + misses, alpha)
    share = hits / (hits + misses) if hits + misses else 0.5
    assert 0.0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1.0


@pytest.mark.parametrize("wrong", [(-1, 5), (6, 5)])
def test_an_impossible_share_is_refused(wrong):
    """More hits than trials, or fewer than none."""
    with pytest.raises(ValueError, match="share"):
        wilson(*wrong)


def test_equal_nodes_count_fully_and_one_node_counts_once():
    """64 equal nodes are 64; one that takes all is 1; no traffic is 0."""
    assert effective_number([3.0] * 64) == pytest.approx(64.0)
    assert effective_number([0.0, 7.0, 0.0]) == 1.0
    assert effective_number([]) == 0.0
    assert effective_number([0.0, 0.0]) == 0.0


@given(st.lists(st.floats(0.0, 1e300), min_size=1, max_size=50))
def test_the_effective_number_lies_between_one_and_all(amounts):
    """Also for amounts whose squares overflow."""
    number = effective_number(amounts)
    assert number == 0.0 or 1.0 - 1e-9 <= number <= len(amounts) + 1e-9


def test_allocation_agrees_with_scipy():
    """Statistic and p value are those of chisquare."""
    seen, stated = [520, 480, 300], [500.0, 500.0, 300.0]
    expected = stats.chisquare(seen, stated)
    got = allocation(seen, stated)
    assert (got.statistic, got.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert got.degrees == 2


def test_expected_counts_are_scaled_to_what_was_observed():
    """Shares and counts mean the same."""
    assert allocation([520, 480], [0.5, 0.5]) == allocation([520, 480], [5.0, 5.0])


def test_rare_categories_are_pooled():
    """A chi-square on expected counts below five would be worthless."""
    got = allocation([500, 494, 2, 3, 1], [500, 494, 2, 2, 2])
    assert got.pooled == 3
    assert got.degrees == 2


def test_moving_weights_pass_against_their_own_shares():
    """Draws whose share moves fit the sum of their shares and not the configured split."""
    rng = np.random.default_rng(9)
    shares = 0.5 + 0.3 * np.sin(np.linspace(0.0, 2.0, 5_000))
    first = int((rng.random(5_000) < shares).sum())
    seen = [first, 5_000 - first]
    assert allocation(seen, [shares.sum(), (1 - shares).sum()]).p_value > 0.01
    assert allocation(seen, [0.5, 0.5]).p_value < 1e-6


@pytest.mark.parametrize(
    ("seen", "stated", "p"),
    [([], [], 1.0), ([0, 0], [1, 1], 1.0), ([5, 5], [0, 0], 1.0), ([10, 90], [0, 100], 0.0)],
)
def test_degenerate_allocations_have_an_answer(seen, stated, p):
    """Nothing to compare is 1; traffic where none was stated is 0."""
    assert allocation(seen, stated).p_value == p


@pytest.mark.parametrize(("seen", "stated"), [([1, 2], [1]), ([-1, 2], [1, 1]), ([1, float("nan")], [1, 1])])
def test_malformed_counts_are_refused(seen, stated):
    """Unequal lengths, negative and missing counts."""
    with pytest.raises(ValueError, match=r"same length|finite"):
        allocation(seen, stated)


def test_negative_amounts_are_refused():
    """A negative weight has no share."""
    with pytest.raises(ValueError, match="at least 0"):
        effective_number([1.0, -1.0])
