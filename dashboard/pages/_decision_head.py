"""The head of a decision: the verdict in a sentence, the way onwards, and the figures as tiles."""

from typing import Any
from urllib.parse import urlencode

from dash import dcc, html

from dashboard.components import Tone, attrs, icon
from dashboard.figures.quantities import apart, brief, number, shown
from dashboard.figures.standings import SAME
from dashboard.format import UNKNOWN, count, milliseconds, percent, plural
from dashboard.page import MOUNT
from dashboard.verdict import Verdict
from storage.records import DecisionRow

STEPS = "decision-steps"
"""Id of the place where the links to the neighbouring decisions go."""


def hero(row: DecisionRow, verdict: Verdict) -> Any:
    """The sentence, what stands behind it, and where to go from here."""
    live = f"{MOUNT}/live?{urlencode({'node': row.node})}"
    same = f"{MOUNT}/decisions?{urlencode({'node': row.node})}"
    return html.Div(
        [
            html.Div(
                [
                    html.H2(verdict.headline, title=shown(row.node, 600)),
                    html.P(verdict.explanation) if verdict.explanation else None,
                ],
                className="grow",
            ),
            html.Div(
                [
                    html.Div(id=STEPS, className="row"),
                    dcc.Link([icon("decisions", 14), "Same node"], href=same, className="btn"),
                    dcc.Link([icon("live", 14), "On Live"], href=live, className="btn"),
                ],
                className="row onward",
            ),
        ],
        className="hero",
    )


def facts(row: DecisionRow, verdict: Verdict) -> Any:
    """Eight tiles; what the sender did not state reads unknown."""
    return html.Section(
        [
            _score(verdict),
            _margin(row, verdict),
            _fact(
                "Confidence",
                number(row.confidence, 2),
                note="stated by the source" if row.confidence is not None else "not stated",
            ),
            _fact(
                "Propensity",
                number(row.propensity, 2),
                note=shown(row.strategy, 60) if row.strategy else "strategy unknown",
            ),
            _fact("Weight", number(row.weight), note=_age(row)),
            _fact("Decided in", *apart(brief(row.duration_nano)), note=_policy(row)),
            _fact("Latency", *apart(milliseconds(row.outcome_latency_ms)), note="of the outcome"),
            _outcome(row),
        ],
        className="tiles facts",
        **attrs(aria_label="The decision in figures"),
    )


def _fact(caption: str, value: str, unit: str = "", *, note: str = "", tone: Tone = "") -> Any:
    """One tile; an unknown value is written small, so that what is known stands out."""
    shade = "unknown" if value == UNKNOWN else tone
    return html.Div(
        [
            html.Div(caption, className="cap"),
            html.Div([value, html.Small(unit)] if unit else value, className=f"v {shade}".strip()),
            html.Div(note, className="s", title=note),
        ],
        className="tile",
    )


def _score(verdict: Verdict) -> Any:
    chosen, rival = verdict.standings.chosen, verdict.standings.rival
    score = chosen.score if chosen else None
    if not verdict.standings.rows:
        note = "no candidates sent"
    elif chosen is None:
        note = "not among the candidates"
    elif rival is None:
        note = "no other candidate"
    elif rival.score is None:
        note = "runner-up unknown"
    else:
        word = "runner-up" if chosen.rank < rival.rank else "the best had"
        note = f"{word} {number(rival.score)}"
    return _fact("Winner score", number(score), note=note)


def _margin(row: DecisionRow, verdict: Verdict) -> Any:
    margin, chosen = verdict.margin, verdict.standings.chosen
    tied = max(verdict.standings.tied, (row.tie_count or 1) - 1)
    if margin is None:
        return _fact("Margin", UNKNOWN, note="cannot be told")
    if abs(margin) <= SAME:
        note = f"tied with {plural(tied, 'other')}" if tied else "a tie"
    elif margin < 0:
        note = "the best was not taken"
    elif chosen and chosen.score:
        note = f"{percent(margin / abs(chosen.score))} of the score"
    else:
        note = "as stated by the source"
    return _fact("Margin", number(margin), note=note)


def _age(row: DecisionRow) -> str:
    if row.signal_age_ms is None:
        return "signal age unknown"
    return f"signals {milliseconds(row.signal_age_ms)} old"


def _policy(row: DecisionRow) -> str:
    version = f" {shown(row.policy_version, 24)}" if row.policy_version else ""
    return f"{shown(row.policy, 48)}{version}"


def _outcome(row: DecisionRow) -> Any:
    if row.outcome is None:
        return _fact("Outcome", UNKNOWN, note="none has arrived")
    tones: dict[str, Tone] = {"error": "crit", "dropped": "warn"}
    note = "sampled, rate unknown" if row.adjusted_count is None else _stands_for(row.adjusted_count)
    return _fact("Outcome", shown(row.outcome, 24), note=note, tone=tones.get(row.outcome, ""))


def _stands_for(adjusted: float) -> str:
    return "not sampled" if adjusted <= 1 else f"stands for about {count(adjusted)}"
