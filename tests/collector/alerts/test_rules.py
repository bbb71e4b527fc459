"""Rules: their ranges, what they match, and the false alarms a threshold costs."""

import random

import pytest

from collector.alerts.rules import DEFAULT_THRESHOLD, DriftRule, threshold_within
from engine.statistics import PageHinkley


def test_globs_match_whole_names_and_case() -> None:
    """A glob is about the whole name."""
    rule = DriftRule("r", policy="llm-*", node="gpu-?")
    assert rule.matches("any", "llm-cost", "gpu-1")
    assert not rule.matches("any", "llm-cost", "gpu-10")
    assert not rule.matches("any", "LLM-cost", "gpu-1")


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"threshold": 0.0},
        {"delta": -1.0},
        {"resolve_after_s": 0.0},
        {"labels": {"not-a-label": "x"}},
        {"labels": {"node": "x"}},
    ],
)
def test_values_outside_their_range_are_refused(wrong: dict[str, object]) -> None:
    """A rule that cannot work is refused where it is made."""
    with pytest.raises(ValueError):  # noqa: PT011  # the texts are the detector's and the rule's
        DriftRule(**({"name": "r"} | wrong))  # type: ignore[arg-type]


def test_the_threshold_follows_from_the_budget_over_all_series() -> None:
    """More series or fewer false alarms need a higher threshold, by the logarithm."""
    assert threshold_within(1, 64) == pytest.approx(DEFAULT_THRESHOLD, rel=0.05)
    assert threshold_within(1, 1_000) == pytest.approx(90, abs=1.0)
    assert threshold_within(7, 64) < threshold_within(1, 64) < threshold_within(1, 1_000)


def test_a_threshold_keeps_its_budget_on_seconds_that_resemble_each_other() -> None:
    """At a budget of one in 2,000 samples, samples as correlated as assumed stay within it."""
    rng = random.Random(5)
    rule = DriftRule(
        "r", threshold=threshold_within(302.4, 1), min_samples=60
    )  # a week holds 604,800 samples
    detector, value, alarms = PageHinkley(rule.detector()), 0.0, 0
    for _ in range(60_000):
        value = 0.65 * value + rng.gauss(0.0, 1.0)
        alarms += detector.update(value).drifted
    assert alarms <= 30
