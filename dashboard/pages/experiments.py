"""Experiments: which arm is better, whether that can be trusted yet, and whether the split held."""

import math
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from dash import ClientsideFunction, Dash, Input, Output, State, dcc, html, no_update

from dashboard.components import Pulse, attrs, code_block, copy_button, empty_state
from dashboard.figures.contrast import Reading, read_experiment
from dashboard.figures.quantities import shown
from dashboard.format import count, plural
from dashboard.page import MOUNT, NavEntry, Page, Visit
from dashboard.pages._experiment_arms import arms
from dashboard.pages._experiment_forest import forest
from dashboard.pages._experiment_head import head, verdict_badge
from dashboard.state import read
from engine.semconv import FEATURE_FLAG_KEY, FEATURE_FLAG_VARIANT
from storage.errors import StorageError
from storage.queries import Reader
from storage.records import ExperimentSummary

_PULSE_MS = 10_000
_MOST_ARMS = 20
_SNIPPET = f"""span.set_attribute("{FEATURE_FLAG_KEY}", "prefix-affinity-05")
span.set_attribute("{FEATURE_FLAG_VARIANT}", "treatment")"""


def register(app: Dash, reader: Reader) -> Page:
    """Register the page's callbacks on ``app`` and describe the page."""

    def layout(visit: Visit) -> Any:
        asked = {name: visit.query.get(name, "") for name in ("key", "control", "split")}
        return html.Div(
            [
                dcc.Store(id="experiments-asked", data=asked),
                dcc.Store(id="experiments-applied"),
                Pulse(id="experiments-pulse", n=0, answered=0, period_ms=_PULSE_MS),
                html.Div(_body(reader.experiments(), asked), id="experiments-body"),
            ]
        )

    @app.callback(
        Output("experiments-body", "children"),
        Output("experiments-pulse", "answered"),
        Input("experiments-pulse", "n"),
        State("experiments-asked", "data"),
        prevent_initial_call=True,
    )
    async def refresh(n: int, asked: dict[str, str]) -> tuple[Any, int]:
        try:
            return _body(await read(reader.experiments), asked), n
        except StorageError:
            return no_update, n  # what is shown stays; the next beat asks again

    app.clientside_callback(
        ClientsideFunction("experiments", "split"),
        Output("experiments-applied", "data"),
        Input("experiments-split", "value"),
        State("experiments-asked", "data"),
        prevent_initial_call=True,
    )
    return Page(
        name="experiments",
        path="/experiments",
        title="Experiments",
        layout=layout,
        nav=NavEntry("Experiments", "experiments", "E"),
    )


def parse_split(text: str) -> tuple[float, ...]:
    """Intended shares written as "50:50", "90 / 10" or "90,10"; empty when they cannot be read."""
    for mark in ":/,;":
        text = text.replace(mark, " ")
    try:
        shares = tuple(float(part.rstrip("%")) for part in text.split())
    except ValueError:
        return ()
    return shares if all(math.isfinite(share) and share > 0 for share in shares) else ()


def _body(experiments: Sequence[ExperimentSummary], asked: dict[str, str]) -> Any:
    if not experiments:
        return _none_yet()
    recent = sorted(experiments, key=_last, reverse=True)
    chosen = next((one for one in recent if one.key == asked["key"]), None if asked["key"] else recent[0])
    return html.Div([_list(recent, chosen), _one(chosen, asked)], className="ex")


def _last(experiment: ExperimentSummary) -> int:
    return max((arm.last_unix_nano for arm in experiment.arms), default=0)


def _one(chosen: ExperimentSummary | None, asked: dict[str, str]) -> Any:
    if chosen is None:
        text = f"Nothing named {shown(asked['key'], 60)} has been seen, or retention has removed it."
        return html.Section(empty_state("There is no such experiment", text), className="panel")
    kept = ExperimentSummary(chosen.key, chosen.arms[:_MOST_ARMS])
    reading = read_experiment(kept, asked["control"] or None, parse_split(asked["split"]))
    parts: list[Any] = [head(reading), _split_form(reading, asked), arms(reading)]
    if reading.contrasts:
        parts.append(forest(reading))
    else:
        parts.append(_one_arm(reading))
    if len(chosen.arms) > _MOST_ARMS:
        parts.append(
            html.Div(
                f"{count(_MOST_ARMS)} of {plural(len(chosen.arms), 'arm')} are compared.", className="note"
            )
        )
    return html.Div(parts, className="exm")


def _split_form(reading: Reading, asked: dict[str, str]) -> Any:
    if len(reading.arms) < 2:
        return None
    even = " : ".join("1" for _ in reading.arms)
    return html.Div(
        [
            html.Label("Intended split, control first", htmlFor="experiments-split", className="dim f12"),
            dcc.Input(
                id="experiments-split",
                className="inp",
                type="text",
                value=asked["split"],
                placeholder=even,
                debounce=True,
                size="12",
                autoComplete="off",
            ),
        ],
        className="row split",
    )


def _one_arm(reading: Reading) -> Any:
    name = shown(reading.arms[0].arm.variant, 60) if reading.arms else "none"
    return html.Section(
        empty_state(
            "Only one arm has been seen",
            f"A comparison needs two; so far every exposure is {name}.",
            shape="experiments",
        ),
        className="panel",
    )


def _list(experiments: Sequence[ExperimentSummary], chosen: ExperimentSummary | None) -> Any:
    items = [_item(one, one is chosen) for one in experiments]
    title = html.Header([html.H2("All experiments"), html.Span(count(len(items)), className="meta")])
    return html.Section([title, html.Ul(items, className="exl")], className="panel")


def _item(experiment: ExperimentSummary, lit: bool) -> Any:
    reading = read_experiment(ExperimentSummary(experiment.key, experiment.arms[:_MOST_ARMS]))
    exposures = plural(sum(arm.exposures for arm in experiment.arms), "exposure")
    verdict = verdict_badge(reading.contrasts[0].metrics[0]) if len(reading.contrasts) == 1 else None
    return html.Li(
        dcc.Link(
            [
                html.Span(shown(experiment.key, 80), className="med ell", title=shown(experiment.key, 600)),
                html.Span(verdict),
                html.Span(f"{plural(len(experiment.arms), 'arm')}, {exposures}", className="d"),
            ],
            href=f"{MOUNT}/experiments?{urlencode({'key': experiment.key})}",
        ),
        className="on" if lit else None,
        **attrs(aria_current="true" if lit else None),
    )


def _none_yet() -> Any:
    return html.Section(
        [
            empty_state(
                "No experiment yet",
                "Two attributes on a decision's span make it an exposure; "
                "the outcome's span carries them again.",
                shape="experiments",
            ),
            html.Div(
                [
                    code_block(_SNIPPET, "Attributes of an exposure"),
                    copy_button(_SNIPPET, "Copy the snippet", word="Copy"),
                ],
                className="snip",
            ),
        ],
        className="panel",
    )
