"""Experiments and their arms out of the per-minute roll-up."""

from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Row, func, select

from storage.records import ArmSummary, ExperimentSummary
from storage.tables import experiment_minute


def summaries(connection: Connection) -> tuple[ExperimentSummary, ...]:
    """All experiments by key, their arms by variant."""
    minute = experiment_minute.c
    chosen = (
        select(
            minute.experiment,
            minute.variant,
            *(
                func.sum(minute[name]).label(name)
                for name in (
                    "exposures",
                    "outcomes",
                    "errors",
                    "latencies",
                    "latency_sum_ms",
                    "latency_sumsq_ms2",
                )
            ),
            func.min(minute.first_unix_nano).label("first_unix_nano"),
            func.max(minute.last_unix_nano).label("last_unix_nano"),
        )
        .group_by(minute.experiment, minute.variant)
        .order_by(minute.experiment, minute.variant)
    )
    grouped = groupby(connection.execute(chosen).all(), key=lambda row: row.experiment)
    return tuple(ExperimentSummary(key, tuple(_arm(row) for row in rows)) for key, rows in grouped)


def _arm(row: Row[*tuple[Any, ...]]) -> ArmSummary:
    n = row.latencies
    mean = row.latency_sum_ms / n if n else None
    variance = max(0.0, (row.latency_sumsq_ms2 - row.latency_sum_ms**2 / n) / (n - 1)) if n > 1 else None
    return ArmSummary(
        variant=row.variant,
        exposures=row.exposures,
        outcomes=row.outcomes,
        errors=row.errors,
        latency_mean_ms=mean,
        latency_variance_ms2=variance,
        first_unix_nano=row.first_unix_nano,
        last_unix_nano=row.last_unix_nano,
        latencies=n,
    )
