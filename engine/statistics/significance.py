"""Is one arm of an experiment better than the other: intervals and verdicts from moments.

``compare`` and ``compare_rates`` use the always-valid sequence (``sequence.py``), since a panel is read
whenever somebody likes. ``welch`` is the fixed-horizon answer, true for one look planned before the start
(B. L. Welch, Biometrika 34, 1947).
"""

import math
from dataclasses import dataclass
from typing import Literal

from scipy.special import stdtr, stdtrit

from .sequence import always_valid_p, boundary

Verdict = Literal["better", "worse", "inside", "settling"]

MINIMUM_OUTCOMES = 100
"""Outcomes each arm needs before its mean is near enough to normal for the asymptotics."""

MINIMUM_EVENTS = 10
"""Errors, and successes, both arms together need before a rate is compared."""


@dataclass(frozen=True, slots=True)
class Moments:
    """Count, mean and unbiased variance of one arm. n >= 0, variance >= 0; raises ValueError otherwise."""

    n: int
    mean: float
    variance: float

    def __post_init__(self) -> None:
        if self.n < 0 or not self.variance >= 0 or not math.isfinite(self.mean + self.variance):
            raise ValueError("moments need n >= 0, a finite mean and a finite variance >= 0")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Arm b against arm a (the control).

    ``difference`` is b - a in the metric's units, [``low``, ``high``] its interval (infinite without data),
    the ``relative_*`` values the same over the control's mean, None when that is 0. ``verdict``:

    * "better", "worse": the interval excludes zero;
    * "inside": it holds zero and lies wholly within the tolerance, so any difference is too small to matter;
    * "settling": neither; ``needed`` estimates how many more outcomes of both arms together decide it if
      the difference stays as it is, None when that cannot be told yet.

    ``method`` names how the interval was made: "confidence sequence", valid at every look.
    """

    difference: float
    low: float
    high: float
    p_value: float
    relative_difference: float | None
    relative_low: float | None
    relative_high: float | None
    method: str
    verdict: Verdict
    needed: int | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    """A fixed-horizon interval of a difference with its p value; ``degrees`` of freedom of the t test."""

    difference: float
    low: float
    high: float
    p_value: float
    degrees: float


def welch(a: Moments, b: Moments, alpha: float = 0.05) -> Interval:
    """Interval and two-sided p of b - a by Welch's t test. Valid for one look only.

    Fewer than two samples in an arm give an infinite interval and p = 1.
    Raises ValueError for alpha outside (0, 1).
    """
    _check_alpha(alpha)
    difference = b.mean - a.mean
    if min(a.n, b.n) < 2:
        return Interval(difference, -math.inf, math.inf, 1.0, 0.0)
    va, vb = a.variance / a.n, b.variance / b.n
    error = math.sqrt(va + vb)
    if error == 0.0:
        return Interval(difference, difference, difference, 1.0 if difference == 0 else 0.0, math.inf)
    # Shares of the summed variance, not the variances: their squares would underflow for tiny units.
    sa, sb = va / (va + vb), vb / (va + vb)
    degrees = 1.0 / (sa * sa / (a.n - 1) + sb * sb / (b.n - 1))
    half = float(stdtrit(degrees, 1.0 - alpha / 2.0)) * error
    p = 2.0 * float(stdtr(degrees, -abs(difference) / error))
    return Interval(difference, difference - half, difference + half, min(1.0, p), degrees)


def compare(
    a: Moments, b: Moments, alpha: float = 0.05, *, lower_is_better: bool = True, tolerance: float = 0.05
) -> Comparison:
    """Compare the means of two arms so that the answer may be read at any time.

    ``a`` is the control. ``tolerance`` >= 0 is the relative difference (of the control's mean) below which
    two arms count as equal. Under no difference, the chance that this ever says "better" or "worse" is
    ``alpha``, asymptotically, however often it is asked. Raises ValueError for alpha outside (0, 1).
    """
    _check_alpha(alpha)
    missing = MINIMUM_OUTCOMES - min(a.n, b.n)
    return _judge(a, b, alpha, _Rule(lower_is_better, abs(a.mean) * tolerance, max(0, missing)))


def compare_rates(
    events_a: tuple[int, int],
    events_b: tuple[int, int],
    alpha: float = 0.05,
    *,
    lower_is_better: bool = True,
    tolerance: float = 0.1,
) -> Comparison:
    """Compare two shares, such as error rates, so that the answer may be read at any time.

    Each arm is (events, of), 0 <= events <= of, else ValueError. Variances come from the shares with one
    event and one non-event added to each arm (Agresti and Caffo, 2000), so an arm without errors is not
    taken as certain; the reported difference is the plain one.
    """
    _check_alpha(alpha)
    a, b = _rate(events_a), _rate(events_b)
    hits, total = events_a[0] + events_b[0], events_a[1] + events_b[1]
    rarest = min(hits, total - hits)
    missing = max(0, MINIMUM_OUTCOMES - min(a.n, b.n))
    if rarest < MINIMUM_EVENTS and total:
        missing = max(missing, math.ceil(total * (MINIMUM_EVENTS - rarest) / max(1, rarest) / 2))
    return _judge(a, b, alpha, _Rule(lower_is_better, a.mean * tolerance, missing))


@dataclass(frozen=True, slots=True)
class _Rule:
    lower_is_better: bool
    tolerance: float  # in the metric's units
    missing: int  # outcomes an arm lacks before anything may be said


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise ValueError("alpha must lie in (0, 1)")


def _rate(events: tuple[int, int]) -> Moments:
    hits, of = events
    if not 0 <= hits <= of:
        raise ValueError("a share needs 0 <= events <= of")
    smoothed = (hits + 1) / (of + 2)
    return Moments(of, hits / of if of else 0.0, smoothed * (1.0 - smoothed))


def _judge(a: Moments, b: Moments, alpha: float, rule: _Rule) -> Comparison:
    difference, total = b.mean - a.mean, a.n + b.n
    low, high, p = -math.inf, math.inf, 1.0
    error = math.sqrt(a.variance / a.n + b.variance / b.n) if min(a.n, b.n) >= 2 else math.inf
    if error == 0.0:
        low, high, p = difference, difference, 1.0 if difference == 0 else 0.0
    elif math.isfinite(error):
        half = error * boundary(total, alpha)
        low, high = difference - half, difference + half
        p = always_valid_p(difference / error, total, alpha)
    verdict: Verdict
    if rule.missing or not math.isfinite(error):
        verdict = "settling"
    elif low > 0 or high < 0:
        verdict = "better" if (difference < 0) == rule.lower_is_better else "worse"
    else:
        verdict = "inside" if max(-low, high) <= rule.tolerance else "settling"
    needed = _needed(a, b, alpha, rule) if verdict == "settling" else None
    scale = abs(a.mean) or None
    return Comparison(
        difference,
        low,
        high,
        p,
        relative_difference=difference / scale if scale else None,
        relative_low=low / scale if scale else None,
        relative_high=high / scale if scale else None,
        method="confidence sequence",
        verdict=verdict,
        needed=needed,
    )


def _needed(a: Moments, b: Moments, alpha: float, rule: _Rule) -> int | None:
    """More outcomes, both arms together, until the band clears zero or fits into the tolerance."""
    if min(a.n, b.n) < 2:
        return 2 * rule.missing or None
    difference, total = abs(b.mean - a.mean), a.n + b.n
    error = math.sqrt(a.variance / a.n + b.variance / b.n)
    target = max(difference, rule.tolerance - difference)
    low, high = 1.0, 1.0
    while error / math.sqrt(high) * boundary(total * high, alpha) > target:
        low, high = high, 2.0 * high
        if high > 1e9:
            return None
    for _ in range(20):
        middle = 0.5 * (low + high)
        wide = error / math.sqrt(middle) * boundary(total * middle, alpha) > target
        low, high = (middle, high) if wide else (low, middle)
    return max(2 * rule.missing, math.ceil(total * (high - 1.0)), 1)
