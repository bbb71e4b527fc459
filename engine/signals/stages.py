"""Which smoothing a stage of scheduling may use.

Filtering works with hard constraints and smooths nothing. Scoring smooths latency, load and affinity
with alpha 0.3 to 0.7. Rebalancing smooths long-run load variance and topology distance with 0.05 to 0.2.
"""

from collections.abc import Mapping
from enum import Enum

from ..errors import ConfigurationError


class Stage(Enum):
    """A stage of scheduling."""

    FILTERING = "filtering"
    SCORING = "scoring"
    REBALANCING = "rebalancing"


ALPHAS: Mapping[Stage, tuple[float, float, float]] = {
    Stage.SCORING: (0.3, 0.5, 0.7),
    Stage.REBALANCING: (0.05, 0.1, 0.2),
}
"""Smallest, default and largest alpha of the stages that smooth."""


def checked_alpha(stage: Stage, alpha: float | None = None) -> float:
    """The smoothing factor to use in a stage: ``alpha``, or the stage's default.

    ConfigurationError when it lies outside the stage's range, or when the stage does not smooth.
    """
    if stage not in ALPHAS:
        raise ConfigurationError(f"stage {stage.value} works on hard constraints and smooths nothing")
    low, default, high = ALPHAS[stage]
    if alpha is None:
        return default
    if not low <= alpha <= high:
        raise ConfigurationError(f"alpha {alpha!r} is outside {low}..{high}, the range of {stage.value}")
    return alpha
