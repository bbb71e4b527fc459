"""Scores a candidate by its effective weight."""

from dataclasses import dataclass
from typing import ClassVar

from ..fleet import View
from ..model import F64, Request
from ..protocols import Scorer


@dataclass(frozen=True)
class NodeWeightScorer:
    """The weight of the profile's weight policy (the joint weight by default), as it is."""

    name: ClassVar[str] = "weight"
    signals: ClassVar[tuple[str, ...]] = ()

    def score(self, request: Request, view: View) -> F64:
        """Effective weight per candidate."""
        return view.weights


_: type[Scorer] = NodeWeightScorer
