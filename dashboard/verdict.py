"""Why a decision went where it went: a sentence, and the facts under it. Pure.

The sentence never says more than the sender did: without scores there is no margin, without parts that add
up to the scores there is no reason, and a choice made by chance is called one.
"""

import math
from dataclasses import dataclass

from dashboard.figures.quantities import listed, number, shown, spoken
from dashboard.figures.standings import SAME, FunnelStep, Standings, funnel, stand
from dashboard.format import count, percent, plural
from storage.records import CandidateDetail, DecisionDetail, DecisionRow

NARROW = 0.05
"""A lead below this share of the winner's score is called narrow."""

_CHANCE = ("random", "gumbel", "softmax", "thompson", "epsilon", "bandit", "sample")
_SUBSET = ("two_choices", "two-choices", "p2c", "power_of")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The headline, what stands behind it, and the facts both were made of.

    ``margin`` is the chosen score less the best other one (negative when the best was not taken), None
    when it cannot be told.
    """

    headline: str
    explanation: str
    standings: Standings
    margin: float | None
    funnel: tuple[FunnelStep, ...]


def judge(decision: DecisionDetail) -> Verdict:
    """The verdict on a decision, whatever of it the sender stated."""
    row, detail = decision.row, decision.detail
    standings = stand(row, detail)
    case = _Case(row, detail, standings, _margin(row, standings))
    steps = funnel(detail, standings.considered)
    return Verdict(_headline(case), _explanation(case), standings, case.margin, steps)


@dataclass(frozen=True, slots=True)
class _Case:
    row: DecisionRow
    detail: CandidateDetail
    standings: Standings
    margin: float | None

    @property
    def node(self) -> str:
        return shown(self.row.node)

    @property
    def rival(self) -> str:
        return shown(self.standings.rival.node) if self.standings.rival else ""

    @property
    def lost(self) -> bool:
        return self.margin is not None and self.margin < -SAME

    def gains(self) -> list[tuple[str, float]]:
        """Per scorer, the chosen one's contribution less the rival's, largest first; empty without both."""
        chosen, rival = self.standings.chosen, self.standings.rival
        if not self.standings.explains or chosen is None or rival is None:
            return []
        pairs = zip(chosen.contributions, rival.contributions, strict=True)
        gains = [(spoken(self.detail.scorer_names[a.scorer]), a.value - b.value) for a, b in pairs]
        return sorted(gains, key=lambda gain: -gain[1])


def _margin(row: DecisionRow, standings: Standings) -> float | None:
    rival = standings.rival
    if rival is not None and rival.lead is not None:
        return -rival.lead
    return row.margin if row.margin is not None and math.isfinite(row.margin) else None


def _headline(case: _Case) -> str:
    chosen, considered = case.standings.chosen, case.standings.considered
    if not case.standings.rows:
        return f"{case.node} was chosen" + (f" of {count(considered)} candidates" if considered > 1 else "")
    if chosen is None:
        return f"{case.node} was chosen, but is not among the candidates it came with"
    if considered == 1:
        return f"{case.node} was the only candidate"
    if chosen.score is None or case.margin is None or not case.rival:
        return _headline_by_weight(case)
    return _headline_by_score(case, number(chosen.score))


def _headline_by_score(case: _Case, score: str) -> str:
    margin = case.margin or 0.0
    if case.lost:
        return f"{case.node} was picked, {number(-margin)} behind {case.rival}"
    if case.standings.tied > 1:
        return f"{case.node} was picked out of {case.standings.tied + 1} tied at {score}"
    if margin <= SAME:
        return f"{case.node} was picked over {case.rival}, tied at {score}"
    gains = case.gains()
    reason = f", on its {gains[0][0]}" if gains and gains[0][1] > SAME else ""
    return f"{case.node} won by {number(margin)}{reason}"


def _headline_by_weight(case: _Case) -> str:
    chosen, considered = case.standings.chosen, case.standings.considered
    weights = [row.weight for row in case.standings.rows if row.weight is not None]
    if chosen is None or chosen.weight is None or len(weights) < 2:
        return f"{case.node} was chosen from {count(considered)} candidates"
    higher = sum(1 for weight in weights if weight > chosen.weight + SAME)
    place = "the highest" if higher == 0 else f"number {higher + 1}"
    return f"{case.node} was chosen with weight {number(chosen.weight)}, {place} of {count(considered)}"


def _explanation(case: _Case) -> str:
    parts = [_comparison(case), _chance(case)]
    if case.row.reason:
        parts.append(f"Stated reason: {shown(case.row.reason, 160)}.")
    if case.row.inferred:
        parts.append("The choice is inferred: the source does not say which node it took.")
    return " ".join(part for part in parts if part)


def _comparison(case: _Case) -> str:
    standings, gone = case.standings, len(case.detail.filtered)
    if not standings.rows:
        return "The source sent no candidates, so there is nothing to compare it with."
    if standings.considered == 1:
        removed = (
            f"{plural(gone, 'other node')} {'was' if gone == 1 else 'were'} filtered out before scoring."
        )
        return removed if gone else "Nothing competed with it."
    if standings.chosen is None:
        return "So neither its place nor its margin can be told."
    if case.margin is None or standings.chosen.score is None:
        return "The source sent no scores, so the margin is unknown."
    return _weighed(case, case.margin, abs(standings.chosen.score))


def _weighed(case: _Case, margin: float, score: float) -> str:
    """Which scorers decided it, and whether by little."""
    if case.detail.scorer_names and not case.standings.explains:
        return "The scorers' parts do not add up to the scores, so none is given as the reason."
    narrow = (
        f" A narrow win: {percent(margin / score)} of the score." if SAME < margin < NARROW * score else ""
    )
    return (_balance(case) + narrow).strip()


def _balance(case: _Case) -> str:
    """Who led on what, and which side weighed more."""
    gains = case.gains()
    ahead = [gain for gain in gains if gain[1] > SAME]
    behind = [gain for gain in reversed(gains) if gain[1] < -SAME]
    if not behind:
        return f"{case.rival} led on no scorer." if ahead else ""
    won, lost = sum(gain for _, gain in ahead), -sum(gain for _, gain in behind)
    led = f"{case.rival} led on {listed([name for name, _ in behind])}, by {number(lost)}"
    if not ahead:
        return f"{led}; no scorer favoured {case.node}."
    verb = "outweighed" if won > lost + SAME else "balanced" if won >= lost - SAME else "did not outweigh"
    names = listed([name for name, _ in ahead])
    return f"{led}. {names[:1].upper()}{names[1:]} {verb} it, by {number(won)}."


def _chance(case: _Case) -> str:
    """What chance had to do with it, as far as the strategy's name tells."""
    strategy, name = (case.row.strategy or "").lower(), shown(case.row.strategy or "", 40)
    if any(word in strategy for word in _SUBSET):
        drawn = f"{name} compares a few nodes drawn by chance, so the best may not be among them."
        return drawn if case.lost else ""
    if any(word in strategy for word in _CHANCE):
        known = case.row.propensity is not None and math.isfinite(case.row.propensity)
        odds = f"a probability of {percent(case.row.propensity)}" if known else "an unknown probability"
        return f"{name} picks by chance; {case.node} had {odds}."
    if not case.lost:
        return ""
    if name:
        return f"The strategy {name} did not take the highest score."
    return "Why the highest score was not taken is unknown."
