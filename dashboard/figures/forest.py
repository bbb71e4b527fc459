"""Intervals of relative differences on one axis, in per cent of its width. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

_LEAST, _MOST = 0.05, 0.60
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)


@dataclass(frozen=True, slots=True)
class Mark:
    """One interval on the axis: ``left``, ``right`` and ``middle`` in per cent of its width, clipped to it.

    ``more_left`` and ``more_right`` tell that it reaches beyond. ``outside`` is -1 or 1 when the difference
    itself lies beyond that end, else 0.
    """

    left: float
    right: float
    middle: float
    more_left: bool
    more_right: bool
    outside: int


@dataclass(frozen=True, slots=True)
class Axis:
    """A symmetric axis from -``reach`` to +``reach`` (relative difference) with its ``ticks``."""

    reach: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> float:
        """Place of a relative difference in per cent of the width, clipped."""
        return min(100.0, max(0.0, 50.0 * (1.0 + value / self.reach)))

    def place(self, difference: float | None, low: float | None, high: float | None) -> Mark | None:
        """The interval's place; None where there is none or it is infinite both ways."""
        if difference is None or low is None or high is None or not math.isfinite(difference):
            return None
        if not (math.isfinite(low) and math.isfinite(high)):
            return None
        beyond = (low < -self.reach, high > self.reach)
        outside = 0 if abs(difference) <= self.reach else 1 if difference > 0 else -1
        return Mark(self.at(low), self.at(high), self.at(difference), *beyond, outside)


def axis(intervals: Sequence[tuple[float | None, float | None]]) -> Axis:
    """An axis that holds the (low, high) intervals, between 5 % and 60 % to either side."""
    ends = [abs(end) for pair in intervals for end in pair if end is not None and math.isfinite(end)]
    reach = min(_MOST, max(_LEAST, 1.12 * max(ends, default=_LEAST)))
    step = next((size for size in _STEPS if reach / size <= 4), _STEPS[-1])
    count = int(reach / step)
    return Axis(reach, tuple(step * k for k in range(-count, count + 1)))
