"""The weight of one node around an alert, as a line of its 1 s roll-ups."""

from collections.abc import Sequence
from typing import Any, Final

from dash import html

from dashboard.components import Svg, When, node, panel
from dashboard.format import NANO, decimal
from storage.records import AlertRow, TimeRange, WeightPoint

_BEFORE_NANO: Final = 120 * NANO
_AFTER_NANO: Final = 120 * NANO
_LONGEST_NANO: Final = 3_600 * NANO
_W: Final = 600
_H: Final = 120
_GAP_S: Final = 15
"""Seconds without a roll-up after which the line is broken: nothing was said of the weight then."""


def window(alert: AlertRow, now: int) -> TimeRange:
    """Two minutes before the alert began to two after it ended, at most an hour, never beyond now."""
    start = alert.starts_unix_nano - _BEFORE_NANO
    end = min(now, (alert.ends_unix_nano or now) + _AFTER_NANO, start + _LONGEST_NANO)
    return TimeRange(start, max(end, start + NANO))


def weight_chart(points: Sequence[WeightPoint], alert: AlertRow, time: TimeRange) -> Any:
    """The line with the moment the alert began; None where the store has nothing to draw it from."""
    if len(points) < 2:
        return None
    first, last = time.start_unix_nano / NANO, time.end_unix_nano / NANO
    low = min(0.0, *(p.weight_min for p in points))
    high = max(1.0, *(p.weight_max for p in points))

    def x(second: float) -> float:
        return round(_W * (second - first) / (last - first), 1)

    def y(weight: float) -> float:
        return round(4 + (_H - 8) * (high - weight) / (high - low), 1)

    began = x(alert.starts_unix_nano / NANO)
    thin: dict[str, Any] = {"vectorEffect": "non-scaling-stroke", "fill": "none"}
    nodes = [node("path", d=f"M0 {y(v)}H{_W}", className="grid") for v in (low, (low + high) / 2, high)]
    nodes.append(node("path", d=f"M{began} 0V{_H}", stroke="var(--mark)", strokeDasharray="2 2", **thin))
    nodes.append(node("path", d=_line(points, x, y), stroke="var(--ink)", strokeWidth=1.5, **thin))
    label = f"Weight from {decimal(points[0].weight_mean)} to {decimal(points[-1].weight_mean)}"
    drawing = Svg(
        nodes=nodes,
        viewBox=f"0 0 {_W} {_H}",
        width="100%",
        height=_H,
        label=label,
        attrs={"preserveAspectRatio": "none"},
    )
    scale = html.Div([html.Span(decimal(high, 1)), html.Span(decimal(low, 1))], className="scale")
    ends = [When(ms=at // 1_000_000, form="time") for at in (time.start_unix_nano, time.end_unix_nano)]
    began_text = html.Span(
        ["began ", When(ms=alert.starts_unix_nano // 1_000_000, form="time")], className="mid"
    )
    return panel(
        "Weight of this node",
        html.Div(
            [scale, html.Div([drawing, html.Div([ends[0], began_text, ends[1]], className="ends")])],
            className="line",
        ),
        meta="mean of each second; the dashed line is where the alert began",
    )


def _line(points: Sequence[WeightPoint], x: Any, y: Any) -> str:
    drawn: list[str] = []
    before: int | None = None
    for point in points:
        joined = before is not None and point.second - before <= _GAP_S
        drawn.append(f"{'L' if joined else 'M'}{x(point.second)} {y(point.weight_mean)}")
        before = point.second
    return "".join(drawn)
