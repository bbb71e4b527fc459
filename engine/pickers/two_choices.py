"""Draws two different candidates evenly and takes the better (power of two choices).

M. Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", 2001. Of n candidates, one with
L strictly lower and E equal others wins with probability ``2 (L + E/2) / (n (n - 1))``.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..model import F64, Pick
from ..protocols import Picker, Rng
from .ties import TOLERANCE, tied_with


@dataclass(frozen=True)
class TwoChoicesPicker:
    """The better of two drawn evenly; of two equal ones the first drawn."""

    name: ClassVar[str] = "two_choices"

    def pick(self, totals: F64, weights: F64, rng: Rng) -> Pick:
        """Draw, compare, and say how probable the winner was over all draws."""
        n = len(totals)
        if n == 1:
            return Pick(0, 1.0, 1)
        first = int(rng.random() * n)
        second = int(rng.random() * (n - 1))
        second += second >= first
        index = second if totals[second] > totals[first] + TOLERANCE else first
        chosen = float(totals[index])
        lower = int(np.count_nonzero(totals < chosen - TOLERANCE))
        ties = int(np.count_nonzero(tied_with(totals, chosen)))
        return Pick(index, 2.0 * (lower + 0.5 * (ties - 1)) / (n * (n - 1)), ties)

    def probabilities(self, totals: F64, weights: F64) -> F64:
        """Probability of each candidate."""
        n = len(totals)
        if n == 1:
            return np.ones(1)
        lower = (totals[:, None] > totals[None, :] + TOLERANCE).sum(axis=1)
        ties = (abs(totals[:, None] - totals[None, :]) <= TOLERANCE).sum(axis=1) - 1
        found: F64 = 2.0 * (lower + 0.5 * ties) / (n * (n - 1))
        return found


_: type[Picker] = TwoChoicesPicker
