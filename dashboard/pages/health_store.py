"""The lower half of the health page: processes, the store, the configuration in force."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dash import html

from dashboard.components import (
    When,
    attrs,
    badge,
    empty_state,
    key_values,
    number_cell,
    number_head,
    panel,
    table,
)
from dashboard.config import DashboardConfig
from dashboard.format import NANO, age, byte_size, count, decimal, duration
from storage.records import ProcessRow, StoreFigures

_DEAD_AFTER_S: Final = 15
_SAID_ELSEWHERE: Final = (
    "data_dir",
    "database",
    "otlp_grpc",
    "otlp_http",
    "alerts.rules",
    "alerts.destinations",
)
_NOTHING: Final = frozenset({"None", "", "[]", "()", "{}"})


def processes_panel(processes: Sequence[ProcessRow], now: int) -> Any:
    """The processes that report here and how fresh their last word is."""
    if not processes:
        return panel(
            "Processes", empty_state("No process has reported yet", "They report every second once they run.")
        )
    head = [
        "Process",
        "Instance",
        "Version",
        "Running since",
        number_head("Memory"),
        number_head("Heartbeat"),
    ]
    rows = [_process_row(p, now) for p in sorted(processes, key=lambda p: (p.role, p.instance))]
    return panel("Processes", table(head, rows, label="Processes"))


def _process_row(process: ProcessRow, now: int) -> Any:
    quiet_s = (now - process.seen_unix_nano) / NANO
    beat = (
        badge(f"silent {duration(quiet_s)}", "warn", shape="wait")
        if quiet_s > _DEAD_AFTER_S
        else age(now, process.seen_unix_nano)
    )
    memory = process.figures.get("rss_bytes")
    return html.Tr(
        [
            html.Th(process.role, scope="row", className="med"),
            html.Td(process.instance, className="mono mid"),
            html.Td(process.version),
            html.Td(When(ms=process.started_unix_nano // 1_000_000, form="full"), className="mid"),
            number_cell(" ".join(byte_size(memory)) if memory else "unknown"),
            number_cell(beat),
        ]
    )


def store_panel(store: StoreFigures) -> Any:
    """How much is kept, how far back, and when it is deleted."""
    share = store.size_bytes / store.limit_bytes if store.limit_bytes else None
    limit = " ".join(byte_size(store.limit_bytes)) if store.limit_bytes else "no size limit"
    rows: list[tuple[str, Any]] = [
        ("Size", f"{' '.join(byte_size(store.size_bytes))} of {limit}"),
        ("Spans, decisions", f"{count(store.spans)}, {count(store.decisions)}"),
        ("Kept for", duration(store.max_age_s) if store.max_age_s else "no age limit"),
        ("Oldest", _instant(store.oldest_unix_nano)),
        ("Newest", _instant(store.newest_unix_nano)),
    ]
    if store.spans and store.size_bytes:
        rows.append(("Bytes a span", decimal(store.size_bytes / store.spans, 0)))
    gauge = (
        html.Div(
            html.I(style={"width": f"{min(1.0, share):.1%}"}), className="gauge", **attrs(aria_hidden="true")
        )
        if share is not None
        else None
    )
    return panel(
        "Store",
        html.Div([gauge, key_values(*rows)], className="pad stack tight"),
        meta="beyond either limit the oldest go first",
    )


def _instant(unix_nano: int | None) -> Any:
    return "nothing yet" if unix_nano is None else When(ms=unix_nano // 1_000_000, form="full")


def configuration_panel(config: DashboardConfig, store: StoreFigures, version: str) -> Any:
    """What is in force, secrets masked before they come here."""
    rows: list[tuple[str, Any]] = [("Version, schema", f"{version}, {store.schema}")]
    if config.database:
        rows.append(("Store", _mono(config.database)))
    rows.append(("OTLP gRPC, HTTP", _mono(f"{config.otlp_grpc}, {config.otlp_http}")))
    rows.append(("Alert rules, destinations", f"{config.alert_rules}, {config.alert_destinations}"))
    rows += [(name, _mono(value)) for name, value in in_words(config.in_force)]
    meta = html.Span(config.settings_file, className="mono") if config.settings_file else None
    return panel("Configuration in force", html.Div(key_values(*rows), className="pad cfg"), meta=meta)


def _mono(value: str) -> Any:
    return html.Span(value, className="mono breaks")


def in_words(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Settings with their units, less those the panel shows in its own words."""
    for name, value in settings.items():
        if name not in _SAID_ELSEWHERE:
            yield name, _with_unit(name, value)


def _with_unit(name: str, value: str) -> str:
    if value in _NOTHING:
        return "not set"
    try:
        number = float(value)
    except ValueError:
        return value
    if name.endswith("_size"):
        return " ".join(byte_size(number))
    if name.endswith(("max_age", "interval", "_after", "timeout")):
        return duration(number)
    return value
