"""Arms of an experiment compared with its control: shares, one figure per metric, a word for each. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from engine.statistics.shares import allocation, wilson
from engine.statistics.significance import Comparison, Moments, compare, compare_rates
from storage.records import ArmSummary, ExperimentSummary

ALPHA: Final = 0.05
"""Chance of ever calling a difference where there is none, over all arms of an experiment."""

SPLIT_ALARM: Final = 0.001
"""p value of the split below which the assignment is doubted."""

LATENCY, ERRORS = "Outcome latency", "Error rate"
_CONTROL_WORDS = ("control", "baseline")
_CONTROL_NAMES = ("a", "off", "default")


@dataclass(frozen=True, slots=True)
class ArmShare:
    """One arm and its share of the exposures with a 95 % Wilson interval; shares are in [0, 1].

    ``intended`` is the share it was meant to have. ``error_rate`` is None without outcomes.
    """

    arm: ArmSummary
    share: float
    low: float
    high: float
    intended: float
    error_rate: float | None


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of one arm against the control. ``of`` counts what it rests on (control, arm).

    ``comparison`` is None where it cannot be made; ``refusal`` then says why.
    """

    name: str
    control: float | None
    value: float | None
    of: tuple[int, int]
    comparison: Comparison | None
    refusal: str = ""

    @property
    def verdict(self) -> str:
        """better, worse, inside or settling; "no call" where no comparison can be made."""
        return self.comparison.verdict if self.comparison else "no call"


@dataclass(frozen=True, slots=True)
class Contrast:
    """One arm against the control in every metric, latency first."""

    arm: ArmSummary
    metrics: tuple[Metric, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """Whether the exposures fit the intended split. ``assumed``: nobody stated one, so an even one is taken.

    ``p_value`` is None where there are too few exposures to tell.
    """

    p_value: float | None
    assumed: bool

    @property
    def fits(self) -> bool:
        """Whether the split gives no reason for doubt."""
        return self.p_value is None or self.p_value >= SPLIT_ALARM


@dataclass(frozen=True, slots=True)
class Reading:
    """An experiment as it stands. ``arms`` begins with the control; ``alpha`` is that of each interval."""

    key: str
    arms: tuple[ArmShare, ...]
    contrasts: tuple[Contrast, ...]
    split: Split
    alpha: float


def read_experiment(
    experiment: ExperimentSummary, control: str | None = None, split: Sequence[float] = ()
) -> Reading:
    """Compare every arm with the control. ``split`` are the intended shares, control first, in any unit."""
    arms = ordered(experiment.arms, control)
    stated = len(split) == len(arms) and all(share > 0 and math.isfinite(share) for share in split)
    intended = tuple(split) if stated else (1.0,) * len(arms)
    others = arms[1:]
    alpha = ALPHA / max(1, len(others))
    contrasts = tuple(Contrast(arm, _metrics(arms[0], arm, alpha)) for arm in others)
    return Reading(
        experiment.key, _shares(arms, intended), contrasts, _split(arms, intended, not stated), alpha
    )


def ordered(arms: Sequence[ArmSummary], control: str | None = None) -> tuple[ArmSummary, ...]:
    """The arms with the control first: the one asked for, else one named so, else the largest."""
    chosen = next((arm for arm in arms if arm.variant == control), None) or _by_name(arms)
    if chosen is None:
        chosen = max(arms, key=lambda arm: arm.exposures, default=None)
    return () if chosen is None else (chosen, *(arm for arm in arms if arm is not chosen))


def _by_name(arms: Sequence[ArmSummary]) -> ArmSummary | None:
    names = [(arm.variant.lower(), arm) for arm in arms]
    wordy = next((arm for name, arm in names if any(word in name for word in _CONTROL_WORDS)), None)
    return wordy or next((arm for wanted in _CONTROL_NAMES for name, arm in names if name == wanted), None)


def _shares(arms: Sequence[ArmSummary], intended: Sequence[float]) -> tuple[ArmShare, ...]:
    total, whole = sum(arm.exposures for arm in arms), sum(intended)
    made = []
    for arm, meant in zip(arms, intended, strict=True):
        low, high = wilson(arm.exposures, total)
        rate = arm.errors / arm.outcomes if arm.outcomes else None
        made.append(ArmShare(arm, arm.exposures / total if total else 0.0, low, high, meant / whole, rate))
    return tuple(made)


def _split(arms: Sequence[ArmSummary], intended: Sequence[float], assumed: bool) -> Split:
    found = allocation([arm.exposures for arm in arms], list(intended)) if len(arms) > 1 else None
    return Split(found.p_value if found and found.degrees else None, assumed)


def _metrics(control: ArmSummary, arm: ArmSummary, alpha: float) -> tuple[Metric, ...]:
    return _latency(control, arm, alpha), _errors(control, arm, alpha)


def _latency(control: ArmSummary, arm: ArmSummary, alpha: float) -> Metric:
    of = (control.latencies, arm.latencies)
    means = (control.latency_mean_ms, arm.latency_mean_ms)
    a, b = _moments(control), _moments(arm)
    if a is None or b is None:
        without = arm.variant if b is None else control.variant
        return Metric(LATENCY, *means, of, None, f"no outcome latency has arrived for {without}")
    return Metric(LATENCY, *means, of, _possible(compare(a, b, alpha)))


def _errors(control: ArmSummary, arm: ArmSummary, alpha: float) -> Metric:
    of = (control.outcomes, arm.outcomes)
    rates = [one.errors / one.outcomes if one.outcomes else None for one in (control, arm)]
    if not all(of):
        without = arm.variant if not arm.outcomes else control.variant
        return Metric(ERRORS, rates[0], rates[1], of, None, f"no outcome has arrived for {without}")
    hits = [(min(one.errors, one.outcomes), one.outcomes) for one in (control, arm)]
    return Metric(ERRORS, rates[0], rates[1], of, _possible(compare_rates(hits[0], hits[1], alpha)))


def _possible(found: Comparison) -> Comparison:
    """The same with an interval that ends at −100 %: neither metric can fall below zero."""
    low = found.relative_low
    return found if low is None else replace(found, relative_low=max(-1.0, low))


def _moments(arm: ArmSummary) -> Moments | None:
    if arm.latency_mean_ms is None or not arm.latencies:
        return None
    try:
        return Moments(arm.latencies, arm.latency_mean_ms, arm.latency_variance_ms2 or 0.0)
    except ValueError:
        return None
