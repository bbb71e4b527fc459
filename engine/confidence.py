"""Confidence of a decision from its lead over the runner-up.

``confidence = 1 / (1 + exp(-m / scale))`` with m = margin / largest possible total: 0.5 at a tie, rising
with the lead towards 1, below 0.5 when a random picker took a node that was not the best, and 1 where
there was nothing to choose. It is monotone in the margin but not calibrated: 0.8 does not mean "right
four times in five". A calibrated model implements the same protocol.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from .errors import ConfigurationError
from .model import Standing
from .protocols import ConfidenceModel


@dataclass(frozen=True)
class MarginConfidence:
    """Logistic in the relative margin; ``scale`` is the lead that gives 0.73."""

    name: ClassVar[str] = "margin"

    scale: float = 0.05

    def __post_init__(self) -> None:
        if not self.scale > 0:
            raise ConfigurationError("the scale of a margin confidence must be above 0")

    def confidence(self, standing: Standing) -> float:
        """Confidence in [0, 1]."""
        if standing.margin is None:
            return 1.0
        if standing.span <= 0:
            return 0.5
        # tanh saturates where exp would overflow.
        return 0.5 + 0.5 * math.tanh(0.5 * standing.margin / (standing.span * self.scale))


_: type[ConfidenceModel] = MarginConfidence
