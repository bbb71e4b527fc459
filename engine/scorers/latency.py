"""Scores a candidate by its latency weight, relative to the best candidate's."""

from dataclasses import dataclass
from typing import ClassVar

from ..errors import ConfigurationError
from ..fleet import View
from ..model import F64, Request
from ..protocols import Scorer
from ..weights.latency import relative_latency_weight


@dataclass(frozen=True)
class LatencyScorer:
    """``max(0.01, 1000 / ewma_ms)`` over the largest of the candidates; ages towards the mean.

    ``relax_s`` is the time constant with which an old latency loses its say.
    """

    name: ClassVar[str] = "latency"
    signals: ClassVar[tuple[str, ...]] = ()

    relax_s: float = 10.0

    def __post_init__(self) -> None:
        if not self.relax_s > 0:
            raise ConfigurationError("relax_s must be above 0 seconds")

    def score(self, request: Request, view: View) -> F64:
        """1 for the fastest candidate, in proportion for the others."""
        return relative_latency_weight(view, self.relax_s)


_: type[Scorer] = LatencyScorer
