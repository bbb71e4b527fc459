"""The candidates of a decision: a row each, with what every scorer gave it as a stacked bar."""

from collections.abc import Sequence
from typing import Any

from dash import html

from dashboard.figures.quantities import gap, number, shown, spoken
from dashboard.figures.standings import SAME, Contribution, Standing, Standings
from dashboard.format import count, plural
from dashboard.pages._decision_parts import Candidates
from dashboard.verdict import Verdict
from storage.records import CandidateDetail

SHOWN = 128
"""Rows drawn at most, besides the chosen one."""

_HUES = (1, 2, 3, 4, 6, 5)  # the grey one last


def candidates(detail: CandidateDetail, verdict: Verdict) -> Any:
    """The panel; says so when the sender listed none or only some."""
    standings = verdict.standings
    names = [spoken(name) for name in detail.scorer_names]
    filtered = len(detail.filtered)
    total = standings.considered + filtered
    meta = (
        f"{count(standings.considered)} of {plural(total, 'node')} scored"
        if filtered
        else plural(total, "candidate")
    )
    head = [html.H2("Candidates"), html.Span(meta, className="meta"), _legend(detail, names)]
    if not standings.rows:
        return html.Section(
            [html.Header(head), html.Div("The source sent no list of candidates.", className="pad dim")],
            className="panel",
        )
    return html.Section(
        [html.Header(head, className="legend-head"), _table(standings, names), _note(standings)],
        className="panel cand",
    )


def _table(standings: Standings, names: Sequence[str]) -> Any:
    scale = _Scale(standings)
    rows = [_row(row, names, scale) for row in standings.rows if row.rank <= SHOWN or row.chosen]
    return Candidates(title=scale.title, rows=rows)


class _Scale:
    """What the bars show, and the value that fills them."""

    def __init__(self, standings: Standings) -> None:
        rows = standings.rows
        self.stacked = any(row.contributions for row in rows)
        if self.stacked:
            self.title = "Contribution per scorer"
            sums = [sum(max(0.0, part.value) for part in row.contributions) for row in rows]
        elif any(row.score is not None for row in rows):
            self.title = "Score"
            sums = [max(0.0, row.score or 0.0) for row in rows]
        else:
            self.title = "Weight"
            sums = [max(0.0, row.weight or 0.0) for row in rows]
        self.full = max(sums, default=0.0)

    def width(self, value: float) -> float:
        """A share of the widest bar in per cent."""
        return round(max(0.0, min(100.0, 100.0 * value / self.full)), 2) if self.full > 0 else 0.0


def _row(row: Standing, names: Sequence[str], scale: _Scale) -> dict[str, Any]:
    tied = row.lead is not None and abs(row.lead) <= SAME and not row.chosen
    said = ", ".join(f"{names[part.scorer]} {number(part.value)}" for part in row.contributions[:12])
    return {
        "rank": str(row.rank),
        "node": shown(row.node, 120),
        "node_title": shown(row.node, 600),
        "tag": "chosen"
        if row.chosen
        else "tied"
        if tied
        else "runner-up"
        if row.rival and row.rank == 2
        else "",
        "parts": _parts(row, names, scale),
        "spoken": said or "no contributions",
        "score": number(row.score),
        "behind": "–" if row.chosen else gap(row.lead),
        "weight": number(row.weight),
        "won": row.chosen,
    }


def _parts(row: Standing, names: Sequence[str], scale: _Scale) -> list[list[Any]]:
    if not scale.stacked:
        value = (row.score if scale.title == "Score" else row.weight) or 0.0
        return [["hue-plain", scale.width(value), number(value)]]
    return [
        [hue(part.scorer), scale.width(part.value), f"{names[part.scorer]}: {_terms(part)}"]
        for part in row.contributions
        if part.value > 0
    ]


def hue(scorer: int) -> str:
    """CSS class of a scorer's colour; from the seventh on the six repeat, paler."""
    return f"hue-{_HUES[scorer % len(_HUES)]}" + (" pale" if scorer >= len(_HUES) else "")


def _terms(part: Contribution) -> str:
    return f"{number(part.value)}, from score {number(part.score)} at weight {number(part.weight)}"


def _legend(detail: CandidateDetail, names: Sequence[str]) -> Any:
    weights = detail.scorer_weights
    keys = [
        html.Span(
            [
                html.I(className=hue(k)),
                html.Span(name, className="ell"),
                html.Span(f"×{number(weights[k], 2)}", className="dim") if k < len(weights) else None,
            ],
            className="key",
            title=shown(detail.scorer_names[k], 600),
        )
        for k, name in enumerate(names[:24])
    ]
    return html.Div(keys, className="x legend") if keys else None


def _note(standings: Standings) -> Any:
    said = []
    missing = standings.considered - len(standings.rows)
    if missing > 0:
        said.append(
            f"The source listed {count(len(standings.rows))} of {plural(standings.considered, 'candidate')}."
        )
    if len(standings.rows) > SHOWN:
        said.append(f"The first {count(SHOWN)} are shown.")
    if any(part.value < 0 for row in standings.rows for part in row.contributions):
        said.append("Negative contributions have no bar.")
    if any(row.contributions for row in standings.rows) and not standings.explains:
        said.append("The parts do not add up to the scores.")
    return html.Div(" ".join(said), className="note") if said else None
