"""Intervals of every arm's change against control, drawn and written."""

from typing import Any

from dash import html

from dashboard.components import attrs
from dashboard.figures.contrast import ERRORS, Metric, Reading
from dashboard.figures.forest import Axis, Mark, axis
from dashboard.figures.quantities import p_value, shown
from dashboard.format import UNKNOWN, count, milliseconds, percent, signed
from dashboard.pages._experiment_head import change_words, interval_words, verdict_badge

_TOLERANCE = {ERRORS: "10 %"}


def forest(reading: Reading) -> Any:
    """A row per arm and metric: both values, the interval drawn and written, p, and the word."""
    metrics = [metric for contrast in reading.contrasts for metric in contrast.metrics]
    found = [metric.comparison for metric in metrics if metric.comparison]
    scale = axis([(one.relative_low, one.relative_high) for one in found])
    rows = [_head_row(reading, scale)]
    for contrast in reading.contrasts:
        if len(reading.contrasts) > 1:
            rows.append(html.Div(shown(contrast.arm.variant, 80), className="arm-head ell"))
        rows += [_row(metric, scale, contrast.arm.variant) for metric in contrast.metrics]
    level = percent(1 - reading.alpha, 1 if len(reading.contrasts) > 1 else 0)
    return html.Section(
        [
            html.Header(
                [
                    html.H2("Change against control"),
                    html.Span(f"{level} interval, valid however often you look", className="meta"),
                ]
            ),
            html.Div(rows, className="fr", role="table", **attrs(aria_label="Change against control")),
            html.Div(_method(reading, level), className="note"),
        ],
        className="panel",
    )


def _method(reading: Reading, level: str) -> str:
    said = (
        "Interval and p value come from a confidence sequence: they hold at every look, so the experiment "
        "may be stopped whenever the answer is clear."
    )
    others = len(reading.contrasts)
    if others > 1:
        said += f" {count(others)} arms share the 5 % chance of a false call, so each interval is at {level}."
    return said + " Each metric is judged on its own."


def _head_row(reading: Reading, scale: Axis) -> Any:
    marks = [
        html.Span(
            f"{signed(100 * tick, 0)}" + (" %" if tick == scale.ticks[-1] else ""),
            style={"left": f"{scale.at(tick):.2f}%"},
        )
        for tick in scale.ticks
    ]
    control = shown(reading.arms[0].arm.variant, 24) if reading.arms else "control"
    arm = shown(reading.contrasts[0].arm.variant, 24) if len(reading.contrasts) == 1 else "arm"
    cells = [
        html.Span("Metric", role="columnheader"),
        html.Span(control, className="num ell", role="columnheader"),
        html.Span(arm, className="num ell", role="columnheader"),
        html.Span(marks, className="ax", **attrs(aria_hidden="true")),
        html.Span("change, interval", className="num", role="columnheader"),
        html.Span("p", className="num", title="always-valid p value", role="columnheader"),
        html.Span("verdict", role="columnheader"),
    ]
    return html.Div(cells, className="r h", role="row")


def _row(metric: Metric, scale: Axis, variant: str) -> Any:
    found = metric.comparison
    tolerance = _TOLERANCE.get(metric.name, "5 %")
    return html.Div(
        [
            html.Span(
                [
                    html.Span(metric.name, className="med"),
                    html.Small(f"lower is better, equal in {tolerance}"),
                ],
                role="cell",
            ),
            html.Span(_value(metric, metric.control), className="num dim", role="cell"),
            html.Span(_value(metric, metric.value), className="num", role="cell"),
            html.Div(
                _drawn(metric, scale),
                className="pl",
                role="cell",
                **attrs(aria_label=_spoken(metric, variant)),
            ),
            html.Span(_written(metric), className="num", role="cell"),
            html.Span(p_value(found.p_value) if found else "–", className="num", role="cell"),
            html.Span([verdict_badge(metric), _more(metric)], role="cell", className="vd"),
        ],
        className="r",
        role="row",
    )


def _value(metric: Metric, value: float | None) -> str:
    return percent(value, 2) if metric.name == ERRORS else milliseconds(value)


def _written(metric: Metric) -> Any:
    found = metric.comparison
    if found is None:
        return html.Small(shown(metric.refusal, 80))
    if found.relative_difference is None:
        points = (
            f"{signed(100 * found.difference, 2)} pp"
            if metric.name == ERRORS
            else f"{signed(found.difference)} ms"
        )
        return [html.Span(points, className="med"), html.Small("control is at 0")]
    interval = interval_words(found.relative_low, found.relative_high)
    return [
        html.Span(
            f"{signed(100 * found.relative_difference, 1)} %", className=f"med {_tone(metric)}".strip()
        ),
        html.Small(interval if interval != UNKNOWN else "interval unknown"),
    ]


def _tone(metric: Metric) -> str:
    return {"better": "ok", "worse": "crit"}.get(metric.verdict, "")


def _drawn(metric: Metric, scale: Axis) -> Any:
    grid = [
        html.I(className="g zero" if tick == 0 else "g", style={"left": f"{scale.at(tick):.2f}%"})
        for tick in scale.ticks
    ]
    found = metric.comparison
    mark = scale.place(found.relative_difference, found.relative_low, found.relative_high) if found else None
    if mark is None:
        return grid
    ends = f"{'cut-left ' if mark.more_left else ''}{'cut-right' if mark.more_right else ''}".strip()
    return [
        *grid,
        html.Div(
            className=f"band {_tone(metric)} {ends}".strip(),
            style={"left": f"{mark.left:.2f}%", "width": f"{mark.right - mark.left:.2f}%"},
        ),
        _gem(mark, _tone(metric)),
    ]


def _gem(mark: Mark, tone: str) -> Any:
    """The difference itself; an arrow at the rim when it lies beyond the axis."""
    if mark.outside:
        side = "right" if mark.outside > 0 else "left"
        return html.Span("›" if mark.outside > 0 else "‹", className=f"beyond {side} {tone}".strip())
    return html.Div(className=f"gem {tone}".strip(), style={"left": f"{mark.middle:.2f}%"})


def _spoken(metric: Metric, variant: str) -> str:
    found = metric.comparison
    if found is None:
        return metric.refusal
    change = change_words(found.relative_difference, found.difference)
    interval = interval_words(found.relative_low, found.relative_high)
    return f"{metric.name} of {shown(variant, 60)} is {change}, interval {interval}"


def _more(metric: Metric) -> Any:
    found = metric.comparison
    if found is None or found.verdict != "settling":
        return None
    return html.Small(
        f"about {count(found.needed)} more" if found.needed else "more outcomes, number unknown"
    )
