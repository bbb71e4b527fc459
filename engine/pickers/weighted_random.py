"""Draws in proportion to the total scores or to the effective weights."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import ConfigurationError
from ..model import F64, Pick
from ..protocols import Picker, Rng
from .ties import tied_with


@dataclass(frozen=True)
class WeightedRandomPicker:
    """Probability proportional to ``score ** sharpness`` or ``weight ** sharpness``.

    When every candidate has 0 they are drawn evenly.
    """

    name: ClassVar[str] = "weighted_random"

    by: str = "score"
    sharpness: float = 1.0

    def __post_init__(self) -> None:
        if self.by not in ("score", "weight"):
            raise ConfigurationError(f"weighted_random draws by 'score' or 'weight', not {self.by!r}")
        if not 0 < self.sharpness <= 100:
            raise ConfigurationError("the sharpness of weighted_random lies above 0, up to 100")

    def pick(self, totals: F64, weights: F64, rng: Rng) -> Pick:
        """Draw one; its propensity is the probability it was drawn with."""
        probabilities = self.probabilities(totals, weights)
        reached = np.cumsum(probabilities)
        # Scaling the draw by the last sum keeps it below it, whatever the rounding; the side steps over
        # candidates of probability 0.
        index = int(reached.searchsorted(rng.random() * reached[-1], side="right"))
        ties = int(np.count_nonzero(tied_with(totals, float(totals[index]))))
        return Pick(index, float(probabilities[index]), ties)

    def probabilities(self, totals: F64, weights: F64) -> F64:
        """Probability of each candidate."""
        share = totals if self.by == "score" else weights
        top = share.max()
        if not top > 0:
            return np.full(len(share), 1.0 / len(share))
        share = (share / top) ** self.sharpness  # over the top first: a high power must not underflow
        probabilities: F64 = share / share.sum()
        return probabilities


_: type[Picker] = WeightedRandomPicker
