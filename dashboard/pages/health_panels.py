"""The parts of the health page; each takes what the reader answered and returns a component."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

from dash import html

from dashboard.components import (
    attrs,
    badge,
    empty_state,
    icon,
    number_cell,
    number_head,
    panel,
    table,
    tile,
    tiles,
)
from dashboard.format import (
    NANO,
    age,
    byte_size,
    count,
    duration,
    milliseconds,
    percent,
    plural,
    rate,
)
from storage.records import HealthView, ProcessRow, SourceRow, StoreFigures

SILENT_AFTER_S: Final = 15
"""A source that sent within a quarter of an hour and then nothing for this long is marked."""
_FORGOTTEN_AFTER_S: Final = 900
_MOST_REASONS: Final = 12
_REJECTED_LIMIT: Final = 0.01
_DUPLICATE_LIMIT: Final = 0.02
_BAR_END: Final = 0.08
"""Share at which the bar of what was not clean is full."""
_FULL_STORE: Final = 0.95


def intake_tiles(view: HealthView, now: int) -> Any:
    """Accepted, rejected, queue, commit, lag, store: whether the intake is well, in one row."""
    return tiles(
        _accepted(view.sources),
        _rejected(view.sources),
        _queue(view.processes),
        _commit(view.processes),
        _lag(view.store, view.sources, now),
        _store(view.store),
        label="Intake now",
    )


def _accepted(sources: Sequence[SourceRow]) -> Any:
    total = sum(source.accepted for source in sources)
    return tile(
        "Accepted",
        rate(sum(s.rate for s in sources)),
        "spans/s",
        note=f"{count(total)} in all, each durable",
    )


def _rejected(sources: Sequence[SourceRow]) -> Any:
    rejected = sum(sum(source.rejected.values()) for source in sources)
    seen = rejected + sum(source.accepted + source.duplicated for source in sources)
    reasons = len({reason for source in sources for reason in source.rejected})
    share = rejected / seen if seen else 0.0
    note = f"{plural(rejected, 'span')}, {plural(reasons, 'reason')}" if rejected else "nothing was refused"
    return tile(
        "Rejected", *_split(percent(share, 2)), note=note, tone="warn" if share >= _REJECTED_LIMIT else ""
    )


def _split(text: str) -> tuple[str, str]:
    """Value and unit apart, so that the unit is written smaller."""
    value, _, unit = text.rpartition(" ")
    return (value, unit) if value else (unit, "")


def _figure(processes: Sequence[ProcessRow], name: str) -> float | None:
    values = [p.figures[name] for p in processes if name in p.figures]
    return sum(values) if values else None


def _queue(processes: Sequence[ProcessRow]) -> Any:
    spans, size = _figure(processes, "queue_spans"), _figure(processes, "inflight_bytes")
    refused = _figure(processes, "refused_requests")
    value, unit = byte_size(size)
    parts = [f"{value} {unit} inside"] if size is not None else []
    if refused is not None:
        parts.append(f"busy answers {count(refused)}")
    return tile(
        "Queue",
        count(spans),
        "spans" if spans is not None else "",
        note=", ".join(parts) or "no collector reports",
    )


def _commit(processes: Sequence[ProcessRow]) -> Any:
    collectors = [p for p in processes if "write_ms" in p.figures]
    writes = sum(p.figures.get("writes", 0.0) for p in collectors)
    if not collectors:
        return tile("Commit", "unknown", note="no collector reports")
    if not writes:
        return tile("Commit", "idle", note="no write since the last report")
    weighted = sum(p.figures["write_ms"] * p.figures.get("writes", 0.0) for p in collectors)
    longest = max(p.figures.get("write_max_ms", 0.0) for p in collectors)
    batch = (_figure(collectors, "written_spans") or 0.0) / writes
    note = f"longest {milliseconds(longest)}, {count(batch)} spans a batch"
    return tile("Commit, mean", *_split(milliseconds(weighted / writes)), note=note)


def _lag(store: StoreFigures, sources: Sequence[SourceRow], now: int) -> Any:
    if store.newest_unix_nano is None:
        return tile("Newest span ended", "never", note="nothing is stored yet")
    seconds = (now - store.newest_unix_nano) / NANO
    sending = any(now - s.last_seen_unix_nano < SILENT_AFTER_S * NANO for s in sources)
    if seconds < 0:
        return tile(
            "Newest span ended",
            *_split(duration(-seconds)),
            note="ahead: a sender's clock is wrong",
            tone="warn",
        )
    late = sending and seconds > SILENT_AFTER_S
    note = "ago, while spans arrive: they come late" if late else "ago, as this page sees it"
    return tile(
        "Newest span ended", *_split(milliseconds(seconds * 1_000)), note=note, tone="warn" if late else ""
    )


def _store(store: StoreFigures) -> Any:
    value, unit = byte_size(store.size_bytes)
    if store.limit_bytes is None:
        return tile("Store", value, unit, note="no limit set")
    limit = " ".join(byte_size(store.limit_bytes))
    share = store.size_bytes / store.limit_bytes if store.limit_bytes else 0.0
    note = f"{percent(share, 0)} of {limit}" if share < _FULL_STORE else f"of {limit}: the oldest are deleted"
    return tile("Store", value, unit, note=note)


def sources_panel(sources: Sequence[SourceRow], now: int) -> Any:
    """Who sends, how fast, and how clean."""
    if not sources:
        return panel(
            "Sources",
            empty_state(
                "No source has sent a span yet",
                "A source appears here with its first request, rejected ones included.",
                html.A("See how to send", href="/ui/setup", className="btn"),
            ),
        )
    active = sum(1 for s in sources if now - s.last_seen_unix_nano < SILENT_AFTER_S * NANO)
    meta = f"{count(active)} sending" + (
        f", {count(len(sources) - active)} silent" if active < len(sources) else ""
    )
    legend = [_key("--s6", "rejected"), _key("--s1", "duplicate"), _key("--s2", "broken decision")]
    head = [
        "Source",
        number_head("Spans/s"),
        "Not clean, 0 to 8 %",
        number_head("Accepted"),
        number_head("Decisions"),
        number_head("Rejected"),
        number_head("Duplicate"),
        number_head("No decision"),
        number_head("Last span"),
    ]
    ordered = sorted(sources, key=lambda s: (-s.rate, s.source))
    body = table(head, [_source_row(s, now) for s in ordered], label="Sources", class_name="src")
    return panel("Sources", body, meta=meta, actions=(html.Span(legend, className="row wrap hide-s"),))


def _key(colour: str, text: str) -> Any:
    return html.Span([html.I(style={"background": f"var({colour})"}), text], className="key")


def _source_row(source: SourceRow, now: int) -> Any:
    rejected = sum(source.rejected.values())
    seen = source.accepted + source.duplicated + rejected
    shares = [number / seen if seen else 0.0 for number in (rejected, source.duplicated, source.unmapped)]
    kept = sum(source.warned.values()) / seen if seen else 0.0
    quiet_s = (now - source.last_seen_unix_nano) / NANO
    name: list[Any] = [html.Span(source.source, className="ell", title=source.source)]
    recently = SILENT_AFTER_S <= quiet_s < _FORGOTTEN_AFTER_S
    if recently:
        name.append(badge(f"silent {duration(quiet_s)}", "warn", shape="wait"))
    parts = ((shares[0], "--s6"), (shares[1], "--s1"), (kept, "--s2"))
    bar = [
        html.I(style={"width": f"{min(1.0, share / _BAR_END):.1%}", "background": f"var({colour})"})
        for share, colour in parts
        if share
    ]
    last = html.Span(age(now, source.last_seen_unix_nano))
    return html.Tr(
        [
            html.Th(html.Span(name, className="row"), scope="row", className="med"),
            number_cell(rate(source.rate)),
            html.Td(html.Div(bar, className="mix", **attrs(aria_hidden="true"))),
            number_cell(count(source.accepted)),
            number_cell(count(source.decisions)),
            _share(shares[0], _REJECTED_LIMIT),
            _share(shares[1], _DUPLICATE_LIMIT),
            _share(shares[2], 2.0),
            number_cell(last, "warn" if recently else "dim"),
        ]
    )


def _share(share: float, limit: float) -> Any:
    return number_cell(
        percent(share, 2) if share else "0", "warn med" if share >= limit else "" if share else "dim"
    )


def rejects_panel(sources: Sequence[SourceRow]) -> Any:
    """Why spans were refused, and why some were kept without a decision, the most frequent first."""
    refused = _reasons(sources, "rejected")
    kept = _reasons(sources, "warned")
    if not refused and not kept:
        clean = html.Div([icon("ok", 16), "Nothing has been rejected."], className="row pad ok")
        return panel("Rejected, by reason", clean)
    most = max(number for _, _, number in chain(refused, kept))
    items = [_reason_row(row, most, "--s6") for row in refused[:_MOST_REASONS]]
    if kept:
        items.append(html.Li("Kept as plain spans, without a decision", className="sub"))
        items += [_reason_row(row, most, "--s2") for row in kept[:_MOST_REASONS]]
    meta = f"{plural(sum(n for _, _, n in refused), 'span')} since the store was made"
    return panel("Rejected, by reason", html.Ul(items, className="rej"), meta=meta)


def _reasons(sources: Sequence[SourceRow], which: str) -> list[tuple[str, str, int]]:
    rows = [(why, s.source, n) for s in sources for why, n in getattr(s, which).items()]
    return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))


def _reason_row(row: tuple[str, str, int], most: int, colour: str) -> Any:
    reason, source, number = row
    bar = html.I(style={"width": f"{number / most:.1%}", "background": f"var({colour})"})
    return html.Li(
        [
            html.Span(reason, className="ell", title=reason),
            html.Span(source, className="why ell", title=source),
            html.Span(bar, className="tr", **attrs(aria_hidden="true")),
            html.Span(count(number), className="num"),
        ]
    )


def messages_panel(sources: Sequence[SourceRow]) -> Any:
    """The last thing each source was told, word for word."""
    told = [s for s in sources if s.message]
    if not told:
        return None
    items = [
        html.Li([html.Span(s.source, className="med"), html.Span(s.message, className="mid")]) for s in told
    ]
    return panel(
        "Last answer with a complaint", html.Ul(items, className="told"), meta="what the sender was told"
    )
