"""Set up: what to paste, where it goes, and whether anything has arrived."""

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from dash import Dash, Input, Output, html

from dashboard.components import Pulse, Svg, attrs, badge, copy_button, icon, keys, node, panel
from dashboard.config import DashboardConfig
from dashboard.format import NANO, age, count, plural
from dashboard.page import MOUNT, NavEntry, Page, Visit
from dashboard.pages.snippets import LANGUAGES, coloured, snippet
from dashboard.state import read
from storage.errors import StoreUnavailableError
from storage.queries import Reader
from storage.records import DecisionQuery, DecisionRow, HealthView

_PERIOD_MS: Final = 2_000
_LOOKED_AT: Final = 50
_DEMO: Final = "weighbridge demo"
_SILENT_NANO: Final = 60 * NANO
_STORE_AWAY: Final = "What has arrived cannot be told until it answers again. The snippets hold all the same."
_SEND_ONE: Final = (
    "Send one span per scheduling decision to this collector and this page turns into the live view. "
    "Nothing to install on the router if it already speaks OTLP."
)
_CHECK: Final = "Check that the sender still runs and reaches one of these addresses."
_ADD_ONE: Final = (
    "Decisions arrive and are stored. To add a router, paste one of these into it; "
    "it appears under its service name."
)


@dataclass(frozen=True, slots=True)
class Arrived:
    """What the store holds so far. The last two count among the newest ``looked_at`` decisions."""

    spans: int
    decisions: int
    looked_at: int
    explained: int
    sampled: int
    sources: Sequence[str]
    last_seen_unix_nano: int


def register(app: Dash, reader: Reader, *, config: DashboardConfig, clock: Callable[[], int]) -> Page:
    """The set-up page; its figures follow the store every two seconds."""

    @app.callback(
        Output("setup-lead", "children"),
        Output("setup-listening", "children"),
        Output("setup-steps", "children"),
        Output("setup-pulse", "answered"),
        Input("setup-pulse", "n"),
        prevent_initial_call=True,
    )
    async def follow(beat: int) -> tuple[Any, ...]:
        arrived: Arrived | None = None
        with suppress(StoreUnavailableError):
            arrived = await read(look, reader)
        return lead(arrived, clock()), _listening_state(arrived, clock()), steps(arrived), beat

    def layout(visit: Visit) -> Any:
        try:
            return draw(look(reader), config, visit)
        except StoreUnavailableError:
            return draw(None, config, visit)  # the snippets are of use all the same

    return Page("setup", "/setup", "Set up", layout, NavEntry("Set up", "setup", foot=True))


def look(reader: Reader) -> Arrived:
    """Ask the store what has arrived."""
    health: HealthView = reader.health()
    newest: Sequence[DecisionRow] = ()
    if health.store.decisions:
        newest = reader.decisions(DecisionQuery(), limit=_LOOKED_AT).items
    return Arrived(
        spans=max(health.store.spans, sum(source.accepted for source in health.sources)),
        decisions=max(health.store.decisions, sum(source.decisions for source in health.sources)),
        looked_at=len(newest),
        explained=sum(1 for row in newest if row.candidates_total),
        sampled=sum(1 for row in newest if row.adjusted_count is not None),
        sources=sorted(source.source for source in health.sources),
        last_seen_unix_nano=max(
            (source.last_seen_unix_nano for source in health.sources),
            default=health.store.newest_unix_nano or 0,  # the counts follow the spans by a second
        ),
    )


def draw(arrived: Arrived | None, config: DashboardConfig, visit: Visit) -> Any:
    """The whole page."""
    language = visit.choice("lang", tuple(LANGUAGES), "python")
    text = snippet(language, otlp_grpc=config.otlp_grpc, otlp_http=config.otlp_http)
    left = [
        html.Section(lead(arrived, visit.now_unix_nano), id="setup-lead", className="lead"),
        html.Section(
            [_tabs(language, text), coloured(text, f"{LANGUAGES[language]} snippet")], className="panel"
        ),
    ]
    right = [
        _listening(arrived, config, visit.now_unix_nano),
        panel("What arrived so far", html.Div(steps(arrived), id="setup-steps")),
        *([_example()] if arrived is not None and not arrived.decisions else []),
        _keys(),
    ]
    return html.Div(
        [
            Pulse(id="setup-pulse", n=0, answered=0, period_ms=_PERIOD_MS),
            html.Div(left, className="stack"),
            html.Aside(right, className="stack"),
        ],
        className="em",
    )


def lead(arrived: Arrived | None, now: int) -> list[Any]:
    """Headline, what to do, and the next step; None: the store does not answer."""
    title, text = _headline(arrived, now)
    actions: list[Any] = []
    if arrived is not None and arrived.decisions:
        actions = [html.A("Open the live view", href=f"{MOUNT}/live", className="btn primary")]
    elif arrived is not None:
        actions = [
            html.Span("Nothing to send yet? Run", className="dim f12"),
            html.Code(_DEMO, className="inline"),
            copy_button(_DEMO, "Copy the demo command"),
            html.Span("for 64 simulated nodes.", className="dim f12"),
        ]
    return [html.H2(title), html.P(text), html.Div(actions, className="row wrap lead-actions")]


def _headline(arrived: Arrived | None, now: int) -> tuple[str, str]:
    if arrived is None:
        return "The store cannot be read", _STORE_AWAY
    if not arrived.decisions:
        return "No decisions yet", _SEND_ONE
    if now - arrived.last_seen_unix_nano > _SILENT_NANO:
        last = age(now, arrived.last_seen_unix_nano)
        return "Nothing arrives now", f"The last span came {last}; what came before is kept. {_CHECK}"
    return "Receiving", _ADD_ONE


def steps(arrived: Arrived | None) -> list[Any]:
    """The checklist, from a first byte to exact shares; None: the store does not answer."""
    if arrived is None:
        return [html.Div("unknown", className="pad dim f12")]
    of = f" of {arrived.looked_at}" if arrived.looked_at else ""
    return [
        _step("A span of any kind", "port reached, bytes decoded", arrived.spans, ""),
        _step("A span with decision.node and weight", "one cell appears on Live", arrived.decisions, ""),
        _step("Candidates and scores", "decision detail can explain the choice", arrived.explained, of),
        _step("Sampling rate in tracestate", "shares become exact instead of unknown", arrived.sampled, of),
    ]


def _step(title: str, meaning: str, number: int, of: str) -> Any:
    done = number > 0
    mark = html.Span(
        icon("ok" if done else "wait", 16, label="done" if done else "waiting"),
        className="ok" if done else "dim",
    )
    return html.Div(
        [
            mark,
            html.Span(title, className="med"),
            html.Span(f"{count(number)}{of}", className="num" if done else "dim num"),
            html.Span(meaning, className="d"),
        ],
        className="step",
    )


def _tabs(language: str, text: str) -> Any:
    tabs: list[Any] = [
        html.A(
            name,
            href=f"{MOUNT}/setup?lang={key}",
            **attrs(aria_current="page" if key == language else None),
        )
        for key, name in LANGUAGES.items()
    ]
    copy = copy_button(text, f"Copy the {LANGUAGES[language]} snippet", word="Copy snippet")
    return html.Div(
        [html.Nav(tabs, className="tabs", **attrs(aria_label="Sender")), copy],
        className="tab-bar",
    )


def _listening(arrived: Arrived | None, config: DashboardConfig, now: int) -> Any:
    rows = [("OTLP gRPC", config.otlp_grpc), ("OTLP HTTP", config.otlp_http)]
    items = [
        html.Li(
            [name, html.Span(address, className="mono"), copy_button(address, f"Copy the {name} address")]
        )
        for name, address in rows
    ]
    state = html.Span(_listening_state(arrived, now), id="setup-listening")
    return panel("Listening", html.Ul(items, className="ep"), actions=(state,))


def _listening_state(arrived: Arrived | None, now: int) -> Any:
    if arrived is None:
        return badge("the store cannot be read", "crit")
    if not arrived.spans:
        return badge("waiting for the first span", "info", shape="wait")
    names = arrived.sources[0] if len(arrived.sources) == 1 else plural(len(arrived.sources), "source")
    said = f"{names}, last span {age(now, arrived.last_seen_unix_nano)}"
    if now - arrived.last_seen_unix_nano > _SILENT_NANO:
        return badge(said, "warn", shape="wait")
    return badge(said, "ok")


def _keys() -> Any:
    rows = [
        (("G", "L"), "Live"),
        (("G", "D"), "Decisions"),
        (("G", "E"), "Experiments"),
        (("G", "A"), "Alerts"),
        (("G", "H"), "Health"),
        (("S",), "Copy a link to this view"),
        (("T",), "Time range"),
        (("Space",), "Freeze the live view"),
    ]
    items = [html.Li([what, keys(*names)]) for names, what in rows]
    return html.Div(panel("Keys", html.Ul(items, className="ep key-list")), className="hide-s")


def _example() -> Any:
    """A heat map of made-up weights in the colours of the real one."""
    rng = random.Random(3)  # noqa: S311  # a picture, always the same
    stops = ("heat-0", "heat-25", "heat-50", "heat-75", "heat-100")
    cells = []
    for row in range(10):
        weight = 0.2 + 0.6 * rng.random()
        for column in range(34):
            weight = min(0.98, max(0.02, weight + rng.gauss(0, 0.03)))
            lower = min(3, int(weight * 4))
            part = round(100 * (weight * 4 - lower))
            colour = f"color-mix(in oklab, var(--{stops[lower + 1]}) {part}%, var(--{stops[lower]}))"
            cells.append(node("rect", x=column * 10, y=row * 11, width=9.6, height=9, fill=colour))
    drawing = Svg(
        nodes=cells,
        viewBox="0 0 340 110",
        width="100%",
        label="Example of a heat map with made-up weights",
        attrs={"opacity": 0.55},
    )
    return panel("What it will look like", html.Div(drawing, className="pad"), meta="example, made up")
