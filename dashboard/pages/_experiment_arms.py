"""The arms of an experiment: who got how much, and whether the split held."""

from typing import Any
from urllib.parse import urlencode

from dash import dcc, html

from dashboard.components import attrs, number_cell, number_head
from dashboard.figures.contrast import SPLIT_ALARM, ArmShare, Reading, Split
from dashboard.figures.quantities import number, p_value, shown
from dashboard.format import NANO, count, duration, milliseconds, percent, plural
from dashboard.page import MOUNT


def arms(reading: Reading) -> Any:
    """One row per arm: exposures, share with its interval, outcomes."""
    widest = max((share.high for share in reading.arms), default=1.0) or 1.0
    rows = [_arm(reading.key, share, index, widest) for index, share in enumerate(reading.arms)]
    columns = [
        html.Th("Arm", scope="col"),
        number_head("Exposures"),
        number_head("Intended"),
        number_head("Realised"),
        html.Th("Share", scope="col", className="hide-s"),
        number_head("Outcomes"),
        number_head("Latency, mean"),
        number_head("Errors"),
        html.Th("", scope="col"),
    ]
    return html.Section(
        [
            html.Header([html.H2("Arms"), html.Span(_since(reading), className="meta")]),
            html.Div(
                html.Table([html.Thead(html.Tr(columns)), html.Tbody(rows)], className="t arms"),
                className="scroll-x",
            ),
            html.Div(_split_words(reading.split), className="note"),
        ],
        className="panel",
    )


def _since(reading: Reading) -> str:
    starts = [share.arm.first_unix_nano for share in reading.arms if share.arm.first_unix_nano]
    ends = [share.arm.last_unix_nano for share in reading.arms]
    exposures = sum(share.arm.exposures for share in reading.arms)
    length = f", over {duration((max(ends) - min(starts)) / NANO)}" if starts else ""
    return f"{plural(exposures, 'exposure')}{length}"


def _split_words(split: Split) -> str:
    said = "Shares carry a 95 % interval (Wilson)."
    if split.p_value is None:
        return f"{said} Too few exposures to check the split."
    against = "an even split, since none was stated" if split.assumed else "the intended split"
    doubt = (
        ""
        if split.fits
        else f" Below {SPLIT_ALARM}: look into the assignment before trusting the comparison."
    )
    if split.assumed and not split.fits:
        doubt = " If another split was meant, state it above."
    return f"{said} Checked against {against}: p {p_value(split.p_value)}.{doubt}"


def _arm(key: str, share: ArmShare, index: int, widest: float) -> Any:
    arm = share.arm
    half = 100 * (share.high - share.low) / 2
    query = urlencode({"experiment": key, "variant": arm.variant, "range": "24h"})
    control = urlencode({"key": key, "control": arm.variant})
    role = (
        html.Span("control", className="tag")
        if index == 0
        else dcc.Link("make control", href=f"{MOUNT}/experiments?{control}", className="link f11")
    )
    return html.Tr(
        [
            html.Td(
                html.Div(
                    [
                        html.I(className=f"dot hue-arm-{min(index, 4)}"),
                        dcc.Link(
                            shown(arm.variant, 60) or "(no name)",
                            href=f"{MOUNT}/decisions?{query}",
                            className="ell",
                            title=shown(arm.variant, 600),
                        ),
                    ],
                    className="row name",
                )
            ),
            number_cell(count(arm.exposures)),
            number_cell(percent(share.intended)),
            number_cell([percent(share.share, 2), html.Span(f" ±{number(half, 2)}", className="dim")]),
            html.Td(_share_bar(share, index, widest), className="hide-s"),
            number_cell(count(arm.outcomes)),
            number_cell(milliseconds(arm.latency_mean_ms)),
            number_cell(percent(share.error_rate, 2)),
            html.Td(role, className="num"),
        ]
    )


def _share_bar(share: ArmShare, index: int, widest: float) -> Any:
    place = {
        "left": f"{100 * share.low / widest:.2f}%",
        "width": f"{100 * (share.high - share.low) / widest:.2f}%",
    }
    return html.Div(
        [
            html.I(
                className=f"hue-arm-{min(index, 4)}", style={"width": f"{100 * share.share / widest:.2f}%"}
            ),
            html.Em(style=place),
            html.B(style={"left": f"min({100 * share.intended / widest:.2f}%, 100% - 2px)"})
            if share.intended <= widest
            else None,
        ],
        className="sh",
        role="img",
        **attrs(
            aria_label=f"{percent(share.share, 2)}, from {percent(share.low, 2)} to {percent(share.high, 2)}"
        ),
    )
