"""Smoothing factors are bound to their stage."""

import pytest

from engine import ConfigurationError, SchedulerConfig
from engine.signals import Stage, checked_alpha


@pytest.mark.parametrize(
    ("stage", "low", "default", "high"), [(Stage.SCORING, 0.3, 0.5, 0.7), (Stage.REBALANCING, 0.05, 0.1, 0.2)]
)
def test_range_and_default(stage, low, default, high):
    """Both ends of a stage's range are allowed, beyond them is an error."""
    assert checked_alpha(stage) == default
    assert checked_alpha(stage, low) == low
    assert checked_alpha(stage, high) == high
    for outside in (low - 0.01, high + 0.01, float("nan")):
        with pytest.raises(ConfigurationError, match=stage.value):
            checked_alpha(stage, outside)


def test_filtering_does_not_smooth():
    """Filtering works on hard constraints; any alpha is an error."""
    with pytest.raises(ConfigurationError, match="smooths nothing"):
        checked_alpha(Stage.FILTERING)


def test_scheduler_refuses_an_alpha_of_another_stage():
    """A scheduler smooths latency in the scoring stage."""
    with pytest.raises(ConfigurationError):
        SchedulerConfig(latency_alpha=0.1)
