"""Exponentially weighted moving average: ``ewma = alpha * sample + (1 - alpha) * ewma``."""

import math

from .reading import Reading
from .stages import Stage, checked_alpha


def smooth(previous: float, sample: float, alpha: float) -> float:
    """One step; NaN as ``previous`` means there is none yet, then the sample itself is the average."""
    if math.isnan(previous):
        return sample
    return alpha * sample + (1 - alpha) * previous


class Ewma:
    """A smoothed signal; alpha must lie in the range of the stage that uses it."""

    def __init__(self, stage: Stage = Stage.SCORING, alpha: float | None = None) -> None:
        self.alpha = checked_alpha(stage, alpha)
        self.samples = 0
        self._value = math.nan
        self._taken_ns = 0

    def update(self, sample: float, taken_ns: int) -> float:
        """Take a sample in and return the new average; NaN or infinity raises ValueError."""
        if not math.isfinite(sample):
            raise ValueError(f"a sample must be finite, not {sample!r}")
        self._value = smooth(self._value, sample, self.alpha)
        self._taken_ns = max(self._taken_ns, taken_ns)
        self.samples += 1
        return self._value

    def read(self) -> Reading | None:
        """The average and the time of its newest sample, None before the first."""
        return Reading(self._value, self._taken_ns) if self.samples else None
