"""Candidates of one decision in their order, with what each scorer gave them, and who was filtered out.

A scorer's contribution to a candidate is its weight times its score. Some schedulers divide the sum by the
summed weights; whichever of the two reproduces the stated scores is used. Where neither does, the
contributions are shown but never given as the reason.
"""

import math
from dataclasses import dataclass

from storage.records import CandidateDetail, DecisionRow

SAME = 1e-6
"""Scores closer than this are a tie: senders round them to six decimals."""

_ROUNDING = 1e-4  # what six decimals in every score and weight may add up to over many scorers


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one scorer gave one candidate: ``value`` = weight x score, scaled as the scores are.

    ``scorer`` is its index. ``score`` may be NaN where the sender said nothing.
    """

    scorer: int
    value: float
    score: float
    weight: float


@dataclass(frozen=True, slots=True)
class Standing:
    """One candidate in its place. ``lead`` is its score less the chosen one's; None where unknown."""

    rank: int
    node: str
    score: float | None
    lead: float | None
    weight: float | None
    chosen: bool
    rival: bool
    contributions: tuple[Contribution, ...]


@dataclass(frozen=True, slots=True)
class Standings:
    """All candidates, best first. ``explains``: the contributions add up to the scores.

    ``rival`` is the best candidate that was not chosen. ``considered`` counts the candidates there were,
    of which the sender may have listed only some.
    """

    rows: tuple[Standing, ...]
    explains: bool
    considered: int

    @property
    def chosen(self) -> Standing | None:
        """The candidate that was chosen, None when the list lacks it."""
        return next((row for row in self.rows if row.chosen), None)

    @property
    def rival(self) -> Standing | None:
        """The best of the others, None without one or without a chosen one."""
        return next((row for row in self.rows if row.rival), None)

    @property
    def tied(self) -> int:
        """How many others have the chosen one's score."""
        return sum(
            1 for row in self.rows if not row.chosen and row.lead is not None and abs(row.lead) <= SAME
        )


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """One reason that took nodes out; ``remaining`` counts those left after it."""

    reason: str
    removed: int
    remaining: int
    nodes: tuple[str, ...]


def stand(row: DecisionRow, detail: CandidateDetail) -> Standings:
    """Put the candidates in order of score; of equals the chosen one, then the higher weight, is first."""
    explains, scale = _scale(detail)
    size = len(detail.candidates)
    scores, weights = _padded(detail.scores, size), _padded(detail.weights, size)
    winner = next((i for i in range(size) if detail.candidates[i] == row.node), None)
    order = sorted(range(size), key=lambda i: (_descending(scores[i]), i != winner, _descending(weights[i])))
    rival = next((i for i in order if i != winner), None) if winner is not None else None
    base = scores[winner] if winner is not None else None
    made = []
    for rank, i in enumerate(order, 1):
        score = scores[i]
        lead = score - base if score is not None and base is not None else None
        parts = _contributions(detail, i, scale)
        made.append(
            Standing(rank, detail.candidates[i], score, lead, weights[i], i == winner, i == rival, parts)
        )
    return Standings(tuple(made), explains, max(row.candidates_total or 0, size))


def funnel(detail: CandidateDetail, considered: int) -> tuple[FunnelStep, ...]:
    """Nodes filtered out, grouped by reason in the order the reasons first appear."""
    reasons = (*detail.filter_reasons, *[""] * len(detail.filtered))[: len(detail.filtered)]
    groups: dict[str, list[str]] = {}
    for node, reason in zip(detail.filtered, reasons, strict=True):
        groups.setdefault(reason, []).append(node)
    left, steps = considered + len(detail.filtered), []
    for reason, nodes in groups.items():
        left -= len(nodes)
        steps.append(FunnelStep(reason, len(nodes), left, tuple(nodes)))
    return tuple(steps)


def _scale(detail: CandidateDetail) -> tuple[bool, float]:
    """Whether the contributions add up to the scores, and the factor with which they do."""
    names, weights, matrix = detail.scorer_names, detail.scorer_weights, detail.scorer_scores
    if not names or not matrix or not len(detail.scores) == len(matrix) == len(detail.candidates):
        return False, 1.0
    if len(weights) != len(names) or any(len(line) != len(names) for line in matrix):
        return False, 1.0
    sums = [sum(w * s for w, s in zip(weights, line, strict=True)) for line in matrix]
    whole = sum(weights)
    for factor in (1.0, 1.0 / whole if whole else 1.0):
        pairs = zip(sums, detail.scores, strict=True)
        if all(abs(total * factor - score) <= _ROUNDING * max(1.0, abs(score)) for total, score in pairs):
            return True, factor
    return False, 1.0


def _contributions(detail: CandidateDetail, index: int, scale: float) -> tuple[Contribution, ...]:
    names, weights = detail.scorer_names, detail.scorer_weights
    line = detail.scorer_scores[index] if index < len(detail.scorer_scores) else ()
    if not len(line) == len(weights) == len(names):
        return ()
    return tuple(
        Contribution(k, w * s * scale if math.isfinite(w * s) else 0.0, s, w)
        for k, (w, s) in enumerate(zip(weights, line, strict=True))
    )


def _descending(value: float | None) -> float:
    return math.inf if value is None else -value


def _padded(values: tuple[float, ...], size: int) -> list[float | None]:
    kept: list[float | None] = [value if math.isfinite(value) else None for value in values[:size]]
    return kept + [None] * (size - len(kept))
