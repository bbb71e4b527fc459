"""``experiments``: arms, their moments, and each arm compared with the control."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Response

from dashboard.api.context import ApiContext, answer, columns, new_router
from dashboard.api.schemas import Arm, ArmComparison, Experiment, Items
from engine.statistics import Moments, compare, compare_rates
from storage.records import ArmSummary, ExperimentSummary

CONTROL_NAMES = ("control", "baseline", "default", "off", "stable", "a")
"""Variants taken as the control when no other is named, in this order; else the first by name."""


def experiments_router(context: ApiContext) -> APIRouter:
    """Routes of the noun ``experiments``."""
    router = new_router("experiments")

    @router.get("/experiments", response_model=Items[Experiment], summary="Experiments and their arms")
    async def experiments(
        alpha: Annotated[
            float, Query(gt=0, lt=1, allow_inf_nan=False, description="False alarms allowed.")
        ] = 0.05,
        control: Annotated[
            str | None, Query(max_length=1024, description="The variant to compare with.")
        ] = None,
    ) -> Response:
        """Latency and error rate of each arm against the control; the intervals stay valid while watched."""
        found = await context.store.ask(context.reader.experiments)
        return answer(Items[Experiment](items=[_experiment(e, alpha, control) for e in found]))

    return router


def control_of(arms: Sequence[ArmSummary], wanted: str | None = None) -> ArmSummary | None:
    """The arm the others are compared with; None without arms."""
    by_name = {arm.variant.casefold(): arm for arm in reversed(arms)}
    names = ([wanted.casefold()] if wanted else []) + list(CONTROL_NAMES)
    return next((by_name[name] for name in names if name in by_name), arms[0] if arms else None)


def _experiment(found: ExperimentSummary, alpha: float, wanted: str | None) -> Experiment:
    control = control_of(found.arms, wanted)
    compared = [
        comparison
        for arm in found.arms
        if control is not None and arm is not control
        for comparison in (_latency(control, arm, alpha), _errors(control, arm, alpha))
        if comparison is not None
    ]
    return Experiment(
        key=found.key,
        control=control.variant if control else None,
        arms=[Arm(**columns(arm)) for arm in found.arms],
        comparisons=compared,
    )


def _moments(arm: ArmSummary) -> Moments | None:
    if arm.latency_mean_ms is None or arm.latency_variance_ms2 is None:
        return None
    try:
        return Moments(arm.outcomes, arm.latency_mean_ms, arm.latency_variance_ms2)
    except ValueError:  # a sender's latencies may have overflowed
        return None


def _latency(control: ArmSummary, arm: ArmSummary, alpha: float) -> ArmComparison | None:
    a, b = _moments(control), _moments(arm)
    if a is None or b is None:
        return None
    return ArmComparison(variant=arm.variant, metric="latency_ms", **asdict(compare(a, b, alpha)))


def _errors(control: ArmSummary, arm: ArmSummary, alpha: float) -> ArmComparison:
    pair = [(min(max(0, x.errors), x.outcomes), x.outcomes) for x in (control, arm)]
    return ArmComparison(
        variant=arm.variant, metric="error_rate", **asdict(compare_rates(pair[0], pair[1], alpha))
    )
