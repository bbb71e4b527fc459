"""Alerts: what drifted, since when, and whether the page went out."""

from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from dash import Dash, Input, Output, State, html

from dashboard.components import Pulse, attrs, badge, empty_state, error_state, icon, panel
from dashboard.components.blocks import copy_button
from dashboard.config import DashboardConfig
from dashboard.format import NANO, count, duration
from dashboard.page import MOUNT, NavEntry, Page, Visit
from dashboard.pages.alert_chart import weight_chart, window
from dashboard.pages.alert_evidence import RULE_SNIPPET, deliveries_panel, evidence, headline, tone_of
from dashboard.pages.snippets import coloured
from dashboard.state import read
from storage.errors import StoreUnavailableError
from storage.queries import Reader
from storage.records import AlertRow

_PERIOD_MS: Final = 2_000
_MOST: Final = 200
_VIEWS: Final = {"open": "firing", "past": "resolved"}


def register(app: Dash, reader: Reader, *, config: DashboardConfig, clock: Callable[[], int]) -> Page:
    """The alerts page; which list and which alert are in the address (``?view=past&alert=12``)."""

    @app.callback(
        Output("alerts-body", "children"),
        Output("alerts-pulse", "answered"),
        Input("alerts-pulse", "n"),
        State("alerts-body", "data-view"),
        State("alerts-body", "data-alert"),
        prevent_initial_call=True,
    )
    async def follow(beat: int, view: str, chosen: int | None) -> tuple[Any, int]:
        try:
            return await read(show, reader, view, chosen, config, clock()), beat
        except StoreUnavailableError as gone:
            return failing(gone), beat

    def layout(visit: Visit) -> Any:
        view = visit.choice("view", tuple(_VIEWS), "open")
        number = visit.number("alert", 0, 2**53)
        chosen = int(number) if number is not None else None
        try:
            # pinned, so that an alert that opens later does not push away the one somebody reads
            chosen = chosen if chosen is not None else _newest(reader, view)
            body: Any = show(reader, view, chosen, config, visit.now_unix_nano)
        except StoreUnavailableError as gone:
            body = failing(gone)
        state = attrs(data_view=view, data_alert=chosen)
        return [
            Pulse(id="alerts-pulse", n=0, answered=0, period_ms=_PERIOD_MS),
            html.Div(body, id="alerts-body", className="stack", **state),
        ]

    return Page("alerts", "/alerts", "Alerts", layout, NavEntry("Alerts", "alerts", "A"))


def failing(gone: StoreUnavailableError) -> Any:
    """Shown in place of the lists until the store answers again."""
    works = "Evaluation and deliveries go on in the collector; this page asks again by itself."
    return error_state("The alerts cannot be read.", works=works, detail=str(gone))


def show(reader: Reader, view: str, chosen: int | None, config: DashboardConfig, now: int) -> list[Any]:
    """Ask the store and draw what it says."""
    alerts = [alert for state in _VIEWS.values() for alert in reader.alerts(state=state, limit=_MOST)]
    return draw(alerts, view, chosen, config, now, lambda alert: _chart(reader, alert, now))


def _newest(reader: Reader, view: str) -> int | None:
    return next((alert.alert_id for alert in reader.alerts(state=_VIEWS[view], limit=1)), None)


def _chart(reader: Reader, alert: AlertRow, now: int) -> Any:
    policy, service, node = (alert.labels.get(name) for name in ("policy", "service", "node"))
    if not (policy and service and node):
        return None
    time = window(alert, now)
    return weight_chart(reader.weight_history(time, policy=policy, service=service, node=node), alert, time)


def draw(
    alerts: Sequence[AlertRow],
    view: str,
    chosen: int | None,
    config: DashboardConfig,
    now: int,
    chart: Callable[[AlertRow], Any] = lambda _: None,
) -> list[Any]:
    """The whole page for one answer of the store.

    An unknown ``view`` shows the open alerts; ``chart`` draws the chosen alert's evidence.
    """
    view = view if view in _VIEWS else "open"
    by_view = {name: [a for a in alerts if a.state == state] for name, state in _VIEWS.items()}
    shown = by_view[view]
    if not alerts:
        body = _first_rule(config)
    elif not shown:
        body = _none(view, len(by_view["past"]))
    else:
        current = next((a for a in alerts if a.alert_id == chosen), shown[0])
        listing = panel_list(shown, current.alert_id, view, now)
        body = html.Div(
            [
                listing,
                html.Div(
                    [evidence(current, now), chart(current), deliveries_panel(current, now)],
                    className="stack",
                ),
            ],
            className="al",
        )
    return [_tabs(view, {name: len(rows) for name, rows in by_view.items()}), body]


def _href(view: str, alert_id: int | None = None) -> str:
    query = {"view": view} if alert_id is None else {"view": view, "alert": alert_id}
    return f"{MOUNT}/alerts?{urlencode(query)}"


def _tabs(view: str, counts: dict[str, int]) -> Any:
    names = {"open": "Open", "past": "Past"}
    tabs = []
    for key, name in names.items():
        shown = count(counts[key]) + ("+" if counts[key] >= _MOST else "")
        label: list[Any] = [name, html.Span(shown, className="n")]
        tabs.append(html.A(label, href=_href(key), **attrs(aria_current="page" if key == view else None)))
    return html.Nav(tabs, className="tabs", **attrs(aria_label="Alert views"))


def panel_list(alerts: Sequence[AlertRow], chosen: int, view: str, now: int) -> Any:
    """The list on the left; each entry leads to its evidence."""
    items = [html.Li(_entry(a, a.alert_id == chosen, view, now)) for a in alerts]
    return html.Section(
        html.Ul(items, className="all"), className="panel", **attrs(aria_label=f"{view.capitalize()} alerts")
    )


def _entry(alert: AlertRow, chosen: bool, view: str, now: int) -> Any:
    firing = alert.state == "firing"
    tone = tone_of(alert)
    lasted = ((alert.ends_unix_nano or now) - alert.starts_unix_nano) / NANO
    policy = alert.labels.get("policy", "")
    return html.A(
        [
            html.Span(
                icon(tone, 14, label="firing" if firing else "resolved"), className=tone if firing else "dim"
            ),
            html.Span(headline(alert), className="med ell"),
            html.Span(duration(max(0.0, lasted)), className="dim num"),
            html.Span(", ".join(filter(None, (alert.rule, policy))), className="d ell"),
        ],
        href=_href(view, alert.alert_id),
        **attrs(aria_current="true" if chosen else None),
    )


def _first_rule(config: DashboardConfig) -> Any:
    if config.alert_rules:
        watching = f"{count(config.alert_rules)} rule{'s' if config.alert_rules > 1 else ''} in force"
        return html.Section(
            empty_state(
                "Nothing has drifted",
                f"{watching}. An alert appears here within seconds of a drift, and is kept under Past.",
                badge("watching", "ok"),
                html.A("Open the live view", href=f"{MOUNT}/live", className="btn"),
                shape="ok",
            ),
            className="panel",
        )
    text = "Paste this into weighbridge.toml and start again: it watches the weight of every node."
    return html.Div(
        [
            html.Section(empty_state("No rule is set", text, shape="alerts"), className="panel"),
            panel(
                "weighbridge.toml",
                coloured(RULE_SNIPPET, "Settings of a first alert rule"),
                actions=(copy_button(RULE_SNIPPET, "Copy the settings"),),
            ),
        ],
        className="stack",
    )


def _none(view: str, past: int) -> Any:
    if view == "past":
        return html.Section(
            empty_state("No alert is over yet", "Those that fire are under Open.", shape="alerts"),
            className="panel",
        )
    more = html.A(f"See {count(past)} past", href=_href("past"), className="btn")
    return html.Section(
        empty_state("Nothing fires now", "Every alert so far is resolved.", more, shape="ok"),
        className="panel",
    )
