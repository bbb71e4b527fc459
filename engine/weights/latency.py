"""Node weight from smoothed latency: ``max(0.01, 1000 / ewma_ms)``.

A node that answers in a second weighs 1, one that answers in 100 ms weighs 10. The weight never reaches
zero, and a latency of zero does not divide by zero. The window of interest is the last ten requests: with
the smallest alpha of scoring, 0.3, what is older makes up less than 3 % of the average.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import ConfigurationError
from ..fleet import View
from ..model import F64, Request
from ..protocols import WeightPolicy

FLOOR = 0.01
SHORTEST_MS = 1e-3
"""Latencies below a microsecond are taken as one; this is what keeps the weight finite."""


def latency_weight(ewma_ms: F64) -> F64:
    """Weight per node of its smoothed latency in ms; NaN stays NaN. Shape as given."""
    weights = np.maximum(SHORTEST_MS, ewma_ms)
    np.divide(1000.0, weights, out=weights)
    return np.maximum(FLOOR, weights, out=weights)


def relative_latency_weight(view: View, relax_s: float) -> F64:
    """Latency weight over the largest among the candidates, in (0, 1]. Shape (n,).

    A node without samples has the mean weight of those with; without any samples all have 1. A weight
    relaxes to the mean as its newest sample ages, with time constant ``relax_s``: a node that was slow
    once and is avoided since would otherwise never be tried again.
    """
    weights = latency_weight(view.signal("latency_ms"))
    mean = float(np.add.reduce(weights)) / len(weights)
    if math.isnan(mean):  # some have no sample yet
        unknown = np.isnan(weights)
        if unknown.all():
            return np.ones(len(weights))
        mean = float(weights[~unknown].mean())
        weights = np.where(unknown, mean, weights)
    weights -= mean
    weights *= view.decay("latency_ms", relax_s)
    weights += mean
    weights /= np.maximum.reduce(weights)
    return weights


@dataclass(frozen=True)
class LatencyWeight:
    """Effective weight = latency weight relative to the best candidate."""

    name: ClassVar[str] = "latency"
    signals: ClassVar[tuple[str, ...]] = ()

    relax_s: float = 10.0

    def __post_init__(self) -> None:
        if not self.relax_s > 0:
            raise ConfigurationError("relax_s must be above 0 seconds")

    def weights(self, request: Request, view: View) -> F64:
        """Weight in (0, 1] per candidate."""
        return relative_latency_weight(view, self.relax_s)


_: type[WeightPolicy] = LatencyWeight
