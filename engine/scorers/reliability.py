"""Scores a candidate by how rarely it fails; without it a node that fails fast looks idle and fast."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import ConfigurationError
from ..fleet import View
from ..model import F64, Request
from ..protocols import Scorer


@dataclass(frozen=True)
class ReliabilityScorer:
    """``1 - smoothed failure rate``; a rate forgets itself with ``forget_s``, so a node is tried again."""

    name: ClassVar[str] = "reliability"
    signals: ClassVar[tuple[str, ...]] = ()

    forget_s: float = 10.0

    def __post_init__(self) -> None:
        if not self.forget_s > 0:
            raise ConfigurationError("forget_s must be above 0 seconds")

    def score(self, request: Request, view: View) -> F64:
        """Score in [0, 1] per candidate; 1 where nothing is known."""
        rate = view.derived(self.name, ("failure_rate",), _rate)
        if rate is None:
            return np.ones(len(view))
        score: F64 = 1.0 - rate * view.decay("failure_rate", self.forget_s)
        return score


def _rate(view: View) -> F64 | None:
    """Failure rate per candidate, None where nobody failed."""
    rate = view.filled("failure_rate", 0.0)
    return rate if rate.any() else None


_: type[Scorer] = ReliabilityScorer
