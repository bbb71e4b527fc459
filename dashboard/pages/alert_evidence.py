"""One alert in full: what it says, what it is about, and what became of its messages."""

import re
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from dash import html

from dashboard.components import (
    Tone,
    When,
    badge,
    empty_state,
    key_values,
    number_cell,
    number_head,
    panel,
    table,
)
from dashboard.format import NANO, age, count, decimal, duration, iso, plural
from dashboard.page import MOUNT
from storage.records import AlertRow, DeliveryRow

RULE_SNIPPET: Final = """\
# weighbridge.toml
[[alerts.rules]]
name = "weight-drift"
policy = "*"                 # every policy, every node
min_samples = 60             # seconds of weights seen before a node can alert
severity = "warning"

[[alerts.destinations]]
name = "on-call"
url = "https://hooks.example.com/weighbridge"
format = "alertmanager"      # or "standard"
"""
"""A first rule and a first destination, with the names weighbridge/settings.py knows."""

_AROUND_NANO: Final = 300 * NANO
_TRACE_ID: Final = re.compile(r"[0-9a-f]{32}")
_STATES: Final[dict[str, tuple[Tone, str]]] = {
    "pending": ("wait", "waiting"),
    "delivered": ("ok", "delivered"),
    "failed": ("crit", "given up"),
    "disabled": ("warn", "destination disabled"),
}


def headline(alert: AlertRow) -> str:
    """What happened, in a few words."""
    node = alert.labels.get("node")
    return f"Weight drifted on {node}" if node else alert.rule


def tone_of(alert: AlertRow) -> Tone:
    """Amber for a warning, red for anything graver, green once it is over."""
    if alert.state != "firing":
        return "ok"
    return "warn" if alert.labels.get("severity") in {"warning", "info"} else "crit"


def evidence(alert: AlertRow, now: int) -> Any:
    """The alert's sentence, its labels and the way to the decisions it is about."""
    firing = alert.state == "firing"
    lasted = duration(max(0.0, ((alert.ends_unix_nano or now) - alert.starts_unix_nano) / NANO))
    state = badge(f"firing {lasted}", tone_of(alert)) if firing else badge(f"resolved after {lasted}", "ok")
    title = html.Div([html.H2(headline(alert)), state], className="row wrap")
    head = html.Div(
        [
            html.Div([title, html.P(alert.annotations.get("summary", ""))], className="grow"),
            html.Div(_links(alert), className="row wrap"),
        ],
        className="ah",
    )
    facts: list[tuple[str, Any]] = [
        ("Began", _when(alert.starts_unix_nano)),
        ("Ended", _when(alert.ends_unix_nano) if alert.ends_unix_nano else "still firing"),
        ("Last weight", decimal(alert.value, 3)),
        ("Rule", alert.rule),
    ]
    labels = [(name, _value(value)) for name, value in sorted(alert.labels.items())]
    told = [(name, _value(value)) for name, value in sorted(alert.annotations.items()) if name != "summary"]
    columns = [
        html.Div([html.H3("When and what"), key_values(*facts)]),
        html.Div([html.H3("Labels"), key_values(*labels) if labels else html.P("none", className="dim")]),
    ]
    rest = html.Div([html.H3("Also said"), key_values(*told)], className="pad sub") if told else None
    return html.Section([head, html.Div(columns, className="evg"), rest], className="panel")


def _value(text: str) -> Any:
    if _TRACE_ID.fullmatch(text):
        return html.A(text, href=f"{MOUNT}/decisions?{urlencode({'text': text})}", className="link mono")
    return html.Span(text, className="breaks")


def _when(unix_nano: int) -> Any:
    return When(ms=unix_nano // 1_000_000, form="full")


def _links(alert: AlertRow) -> list[Any]:
    """Decisions of the node from five minutes before the alert began to five after it ended."""
    about = {name: value for name in ("node", "policy", "service") if (value := alert.labels.get(name))}
    if not about:
        return []
    until = (alert.ends_unix_nano or alert.starts_unix_nano) + _AROUND_NANO
    around = {"from": iso(alert.starts_unix_nano - _AROUND_NANO), "to": iso(until)}
    what = "Decisions of this node" if "node" in about else "Decisions it is about"
    return [html.A(what, href=f"{MOUNT}/decisions?{urlencode({**about, **around})}", className="btn primary")]


def deliveries_panel(alert: AlertRow, now: int) -> Any:
    """Whom the alert was told to and what they answered."""
    if not alert.deliveries:
        text = "No destination is set, or none was told yet. Destinations are set under alerts.destinations."
        return panel("Deliveries", empty_state("Nobody has been told", text, shape="alerts"))
    head = ["Destination", "State", number_head("Attempts"), number_head("Answer"), "When", "Last error"]
    rows = [_delivery(d, now) for d in alert.deliveries]
    return panel("Deliveries", table(head, rows, label="Deliveries"), meta=_waiting(alert.deliveries))


def _waiting(deliveries: Sequence[DeliveryRow]) -> str:
    waiting = sum(1 for d in deliveries if d.state == "pending")
    return f"{plural(waiting, 'message')} waiting in the outbox" if waiting else "none waiting"


def _delivery(delivery: DeliveryRow, now: int) -> Any:
    tone, word = _STATES.get(delivery.state, ("", delivery.state))
    when: Any = ""
    if delivery.delivered_unix_nano is not None:
        when = _when(delivery.delivered_unix_nano)
    elif delivery.state == "pending" and delivery.next_attempt_unix_nano is not None:
        wait_s = (delivery.next_attempt_unix_nano - now) / NANO
        when = (
            f"next in {duration(wait_s)}"
            if wait_s > 0
            else f"due {age(now, delivery.next_attempt_unix_nano)}"
        )
    return html.Tr(
        [
            html.Th(delivery.destination, scope="row", className="med"),
            html.Td(badge(word, tone)),
            number_cell(count(delivery.attempts)),
            number_cell(str(delivery.last_status) if delivery.last_status is not None else "none"),
            html.Td(when, className="mid"),
            html.Td(
                html.Span(delivery.last_error, className="breaks"), className="dim", title=delivery.webhook_id
            ),
        ]
    )
