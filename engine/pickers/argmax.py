"""Picks the highest total; equals are drawn from evenly."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..model import F64, Pick
from ..protocols import Picker, Rng
from .ties import TOLERANCE, tied_with


@dataclass(frozen=True)
class ArgmaxPicker:
    """The candidate with the highest total. Always taking the first of equals would herd."""

    name: ClassVar[str] = "argmax"

    def pick(self, totals: F64, weights: F64, rng: Rng) -> Pick:
        """The best candidate; its propensity is 1 over the number of equals."""
        best = int(totals.argmax())
        tied = np.flatnonzero(totals >= totals[best] - TOLERANCE)
        ties = len(tied)
        if ties > 1:
            best = int(tied[int(rng.random() * ties)])
        return Pick(best, 1.0 / ties, ties)

    def probabilities(self, totals: F64, weights: F64) -> F64:
        """1 over the number of equals for the best, 0 for the others."""
        tied = tied_with(totals, float(totals.max()))
        probabilities: F64 = tied / tied.sum()
        return probabilities


_: type[Picker] = ArgmaxPicker
