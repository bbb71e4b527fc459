"""Beside the candidates: who was filtered out and why, and where the decision came from."""

from typing import Any
from urllib.parse import urlencode

from dash import dcc, html

from dashboard.components import When, copy_button, key_values
from dashboard.figures.quantities import shown, spoken
from dashboard.format import count, plural
from dashboard.page import MOUNT
from dashboard.verdict import Verdict
from storage.records import DecisionRow

_NAMED = 4  # nodes named per reason; the rest are counted
_REASONS = 12


def funnel(verdict: Verdict) -> Any:
    """From all nodes to the scored ones, a line for each reason; None when nobody was filtered out."""
    steps = verdict.funnel
    if not steps:
        return None
    total = verdict.standings.considered + sum(step.removed for step in steps)
    left = verdict.standings.considered
    lines = [_line("all nodes", total, 0, total, "")]
    for step in steps[:_REASONS]:
        names = [shown(name, 40) for name in step.nodes[:_NAMED]]
        more = step.removed - len(names)
        why = ", ".join(names) + (f" and {count(more)} more" if more else "")
        reason = spoken(step.reason) if step.reason else "no reason given"
        lines.append(_line(reason, step.remaining, step.removed, total, why))
    rest = sum(step.removed for step in steps[_REASONS:])
    if rest:
        lines.append(_line(f"{plural(len(steps) - _REASONS, 'more reason')}", left, rest, total, ""))
    return html.Section(
        [
            html.Header(
                [
                    html.H2("Filter funnel"),
                    html.Span(f"{count(total)} to {plural(left, 'node')}", className="meta"),
                ]
            ),
            html.Ul(lines, className="fun"),
        ],
        className="panel",
    )


def _line(reason: str, remaining: int, removed: int, total: int, why: str) -> Any:
    bars: list[Any] = [html.I(style={"width": _share(remaining, total)})]
    if removed:
        bars.append(html.Em(style={"left": _share(remaining, total), "width": _share(removed, total)}))
    return html.Li(
        [
            html.Span(reason, className="ell", title=reason),
            html.Span(bars, className="tr"),
            html.Span(
                [count(remaining), html.Span(f" −{count(removed)}" if removed else "", className="dim")],
                className="num",
            ),
            html.Span(why, className="why", title=why) if why else None,
        ]
    )


def _share(part: int, total: int) -> str:
    return f"{100 * part / total:.2f}%" if total else "0"


def origin(row: DecisionRow) -> Any:
    """Where and when the decision was made, and by which policy."""
    pairs: list[tuple[str, Any]] = [
        ("Time", When(ms=row.time_unix_nano / 1e6, form="exact", className="mono")),
        ("Policy", _named(row.policy, "policy")),
        ("Version", _text(row.policy_version)),
        ("Fingerprint", _text(row.policy_fingerprint, mono=True)),
        ("Strategy", _text(row.strategy)),
        ("Service", _named(row.service, "service")),
        ("Instance", _text(row.instance)),
        ("Tenant", _text(row.tenant)),
        ("Model", _text(row.model)),
        ("Experiment", _arm(row)),
        (
            "Decision id",
            html.Span(
                [
                    html.Span(shown(row.decision_id, 80), className="mono ell"),
                    copy_button(row.decision_id, "Copy the decision id"),
                ],
                className="row",
            ),
        ),
    ]
    kept = [(name, value) for name, value in pairs if value is not None]
    return html.Section(
        [html.Header(html.H2("Origin")), html.Div(key_values(*kept), className="pad")],
        className="panel origin",
    )


def _text(value: str | None, *, mono: bool = False) -> Any:
    return (
        html.Span(shown(value, 120), className="mono ell" if mono else "ell", title=shown(value, 600))
        if value
        else None
    )


def _named(value: str, key: str) -> Any:
    href = f"{MOUNT}/decisions?{urlencode({key: value})}"
    return (
        dcc.Link(shown(value, 120), href=href, className="link", title=f"Decisions of this {key}")
        if value
        else None
    )


def _arm(row: DecisionRow) -> Any:
    if not row.experiment:
        return None
    href = f"{MOUNT}/experiments?{urlencode({'key': row.experiment})}"
    arm = f", arm {shown(row.variant, 60)}" if row.variant else ""
    return html.Span([dcc.Link(shown(row.experiment, 80), href=href, className="link"), arm])
