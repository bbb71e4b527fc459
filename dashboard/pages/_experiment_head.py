"""The head of an experiment: its verdict as a word and in a sentence."""

import math
from typing import Any

from dash import html

from dashboard.components import badge
from dashboard.figures.contrast import Contrast, Metric, Reading, Split
from dashboard.figures.quantities import p_value, shown
from dashboard.format import UNKNOWN, count, milliseconds, percent, signed

_BADGES: dict[str, tuple[Any, str | None]] = {
    "better": ("ok", None),
    "worse": ("crit", None),
    "inside": ("", "ok"),
    "settling": ("wait", None),
    "no call": ("wait", None),
}


def verdict_badge(metric: Metric) -> Any:
    """The verdict as shape and word."""
    tone, shape = _BADGES[metric.verdict]
    return badge(metric.verdict, tone, shape=shape)


def head(reading: Reading) -> Any:
    """Name, verdict on the first metric of each arm, and the sentence that says it."""
    several = len(reading.contrasts) > 1
    badges = [verdict_badge(contrast.metrics[0]) for contrast in reading.contrasts]
    sentences: list[Any] = [html.P(sentence(contrast)) for contrast in reading.contrasts]
    if several:
        sentences = [
            html.Div([mark, said], className="row arm") for mark, said in zip(badges, sentences, strict=True)
        ]
    return html.Div(
        [
            html.Div(
                [
                    html.H2(shown(reading.key, 80), title=shown(reading.key, 600), className="ell"),
                    *([] if several else badges),
                    _split_badge(reading.split),
                ],
                className="row wrap",
            ),
            *sentences,
        ],
        className="eh",
    )


def sentence(contrast: Contrast) -> str:
    """What is known about the arm's latency so far, and what it would take to know more."""
    metric, arm = contrast.metrics[0], shown(contrast.arm.variant, 48)
    found = metric.comparison
    if found is None:
        return f"{arm}: {metric.refusal}."
    change = change_words(found.relative_difference, found.difference)
    interval = interval_words(found.relative_low, found.relative_high)
    if found.verdict == "better":
        return f"{arm} is better: its outcome latency is {change}, interval {interval}."
    if found.verdict == "worse":
        return f"{arm} is worse: its outcome latency is {change}, interval {interval}."
    if found.verdict == "inside":
        return f"{arm} is inside: any difference in outcome latency is smaller than 5 %, interval {interval}."
    more = (
        f"About {count(found.needed)} more outcomes would settle it."
        if found.needed
        else "How many more outcomes would settle it cannot be told yet."
    )
    so_far = (
        f"its outcome latency is {change} so far, interval {interval}"
        if interval != UNKNOWN
        else "too few outcomes for an interval"
    )
    return f"{arm} is settling: {so_far}. {more}"


def change_words(relative: float | None, absolute: float) -> str:
    """A difference in words: 6.1 % lower."""
    if absolute == 0:
        return "the same"
    size = percent(abs(relative)) if relative is not None else milliseconds(abs(absolute))
    return f"{size} {'lower' if absolute < 0 else 'higher'}"


def interval_words(low: float | None, high: float | None) -> str:
    """A relative interval in per cent, or unknown where there is none."""
    if low is None or high is None or not math.isfinite(low) or not math.isfinite(high):
        return UNKNOWN
    return f"{signed(100 * low, 1)} to {signed(100 * high, 1)} %"


def _split_badge(split: Split) -> Any:
    if split.p_value is None:
        return badge("split not checked", "", shape="wait")
    said = f"p {p_value(split.p_value)}"
    if split.fits:
        return badge(f"{'even split' if split.assumed else 'split'} holds, {said}", "ok")
    return badge(
        f"not an even split, {said}" if split.assumed else f"split is off, {said}",
        "warn" if split.assumed else "crit",
    )
