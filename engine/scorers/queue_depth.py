"""Scores a candidate by how few requests wait on it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import ConfigurationError
from ..fleet import View
from ..model import F64, Request
from ..protocols import Scorer


def waiting(view: View) -> F64:
    """Requests waiting per node, shape (n,).

    The last reported queue plus what was dispatched there since: decisions made on one and the same
    report must not all go to one node. Without a report, the requests in flight stand in for it.
    """
    return view.once("waiting", _waiting)


def _waiting(view: View) -> F64:
    reported = view.signal("queue_depth")
    queued = reported + view.signal("dispatched")
    return np.where(np.isnan(queued), view.signal("inflight"), queued)


@dataclass(frozen=True)
class QueueDepthScorer:
    """``1 / (1 + waiting / half)``: 1 for an empty queue, one half at ``half`` requests.

    The scale is absolute: one request more or less matters little when all queues are short.
    """

    name: ClassVar[str] = "queue_depth"
    signals: ClassVar[tuple[str, ...]] = ("queue_depth",)

    half: float = 8.0

    def __post_init__(self) -> None:
        if not self.half > 0:
            raise ConfigurationError("half of queue_depth must be above 0")

    def score(self, request: Request, view: View) -> F64:
        """Score in (0, 1] per candidate."""
        score: F64 = self.half / (self.half + waiting(view))
        return score


_: type[Scorer] = QueueDepthScorer
