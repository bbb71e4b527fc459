"""Scores a candidate by how much of the prompt it has probably cached."""

from dataclasses import dataclass
from typing import ClassVar

from ..errors import ConfigurationError
from ..fleet import View
from ..model import F64, Request
from ..protocols import Scorer


@dataclass(frozen=True)
class PrefixAffinityScorer:
    """``hits / (hits + half)`` with hits = leading blocks cached.

    It counts saved blocks, not the cached share of the prompt: by the share, a prompt of one cached block
    would score as high as one of a hundred and pull its node as hard.
    """

    name: ClassVar[str] = "prefix_affinity"
    signals: ClassVar[tuple[str, ...]] = ()

    half: float = 4.0

    def __post_init__(self) -> None:
        if not self.half > 0:
            raise ConfigurationError("half of prefix_affinity must be above 0")

    def score(self, request: Request, view: View) -> F64:
        """Score in [0, 1) per candidate."""
        hits = view.prefix_hits(request.prefix)
        score: F64 = hits / (hits + self.half)
        return score


_: type[Scorer] = PrefixAffinityScorer
