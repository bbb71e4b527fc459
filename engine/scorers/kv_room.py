"""Scores a candidate by the room its KV cache would have left after the prompt."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..fleet import View
from ..model import F64, Request
from ..protocols import Scorer

UNKNOWN_SCORE = 0.5


def kv_after(request: Request, view: View) -> F64:
    """KV cache share in use once the prompt is in, NaN where the node reports none. Shape (n,)."""
    used = view.signal("kv_utilisation")
    if not request.tokens:
        return used
    return view.once("kv_after", lambda view: used + request.tokens * view.kv_share())


@dataclass(frozen=True)
class KvRoomScorer:
    """``1 - share in use``; a node that reports no cache scores one half."""

    name: ClassVar[str] = "kv_room"
    signals: ClassVar[tuple[str, ...]] = ("kv_utilisation",)

    def score(self, request: Request, view: View) -> F64:
        """Score in [0, 1] per candidate."""
        room = np.maximum(0.0, 1.0 - kv_after(request, view))
        return np.where(np.isnan(room), UNKNOWN_SCORE, room)


_: type[Scorer] = KvRoomScorer
