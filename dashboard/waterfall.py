"""Spans of a trace laid out as rows: depth, offset and width in per cent of the time shown. Pure.

Traces come from many machines, so nothing about them is trusted: a parent may be missing or be the
span's own child, clocks disagree, an end may lie before its start. Every span gets a row all the same,
and the row says what is odd about it.
"""

from dataclasses import dataclass

from dashboard.figures.quantities import brief
from storage.records import SpanRow, Trace

LIMIT = 500
"""Rows drawn at most."""

_NEAR_NS = 3_600 * 1_000_000_000  # a start farther off than this would squeeze all others to nothing


@dataclass(frozen=True, slots=True)
class WaterfallRow:
    """One span. ``left`` and ``width`` are per cent of the axis, 0..100, ``left + width`` at most 100.

    ``notes`` says what is odd: a missing parent, a clock that disagrees, an end before the start.
    """

    span: SpanRow
    depth: int
    left: float
    width: float
    notes: tuple[str, ...]
    highlighted: bool


@dataclass(frozen=True, slots=True)
class Waterfall:
    """Rows by depth-first order; the axis begins at ``start_unix_nano`` and is ``length_ns`` long.

    ``total`` counts the spans of the trace, of which ``rows`` may show only some. ``roots`` counts rows
    without a parent among them.
    """

    rows: tuple[WaterfallRow, ...]
    start_unix_nano: int
    length_ns: int
    total: int
    roots: int


def arrange(trace: Trace, highlight: str | None = None, limit: int = LIMIT) -> Waterfall:
    """Lay out a trace. ``highlight`` is a span id; it and the spans above it are kept whatever the limit."""
    if not trace.spans:
        return Waterfall((), 0, 0, trace.total, 0)
    order, notes = _walk(trace.spans)
    spans = {span.span_id: span for span in trace.spans}
    anchor = spans.get(highlight or "") or order[0][0]
    start, length = _axis([span for span, _ in order], anchor)
    kept = _kept(order, spans, anchor.span_id if highlight in spans else None, limit)
    rows = tuple(
        _row(
            span,
            depth,
            (start, length),
            (*notes.get(span.span_id, ()), *_skew(span, spans)),
            span.span_id == highlight,
        )
        for span, depth in order
        if span.span_id in kept
    )
    return Waterfall(
        rows, start, length, max(trace.total, len(spans)), sum(1 for _, depth in order if depth == 0)
    )


def ticks(length_ns: int, most: int = 5) -> tuple[tuple[float, str], ...]:
    """Round marks of an axis as (per cent, words), at most ``most`` of them after zero."""
    if length_ns <= 0:
        return ((0.0, "0 ms"),)
    step = 1
    while length_ns / step > most:
        digit = str(step)[0]
        step = step * 5 // 2 if digit == "2" else step * 2
    return tuple((100.0 * at / length_ns, brief(at) if at else "0") for at in range(0, length_ns + 1, step))


def _walk(spans: tuple[SpanRow, ...]) -> tuple[list[tuple[SpanRow, int]], dict[str, tuple[str, ...]]]:
    """Every span once, parents before children, with its depth and what is odd about its parent."""
    known = {span.span_id: span for span in spans}
    children: dict[str, list[SpanRow]] = {}
    notes: dict[str, tuple[str, ...]] = {}
    roots = []
    for span in sorted(known.values(), key=_by_time):
        if span.parent_span_id in known and span.parent_span_id is not None:
            children.setdefault(span.parent_span_id, []).append(span)
            continue
        roots.append(span)
        if span.parent_span_id:
            notes[span.span_id] = (f"its parent {span.parent_span_id} is not in the store",)
    order: list[tuple[SpanRow, int]] = []
    seen: set[str] = set()
    _descend(roots, children, order, seen)
    for span in sorted(known.values(), key=_by_time):
        if span.span_id not in seen:  # only a loop of parents is out of reach of every root
            notes[span.span_id] = ("its parents form a loop",)
            _descend([span], children, order, seen)
    return order, notes


def _descend(
    roots: list[SpanRow], children: dict[str, list[SpanRow]], order: list[tuple[SpanRow, int]], seen: set[str]
) -> None:
    stack = [(span, 0) for span in reversed(roots)]
    while stack:
        span, depth = stack.pop()
        if span.span_id in seen:
            continue
        seen.add(span.span_id)
        order.append((span, depth))
        stack.extend((child, depth + 1) for child in reversed(children.get(span.span_id, [])))


def _axis(spans: list[SpanRow], anchor: SpanRow) -> tuple[int, int]:
    near = [span for span in spans if abs(span.start_unix_nano - anchor.start_unix_nano) <= _NEAR_NS]
    start = min(span.start_unix_nano for span in near)
    end = max(max(span.start_unix_nano, span.end_unix_nano) for span in near)
    return start, end - start


def _kept(
    order: list[tuple[SpanRow, int]], spans: dict[str, SpanRow], highlight: str | None, limit: int
) -> frozenset[str]:
    must: list[str] = []
    at = highlight
    while at in spans and at not in must and len(must) < limit:
        must.append(at)
        at = spans[at].parent_span_id
    rest = [span.span_id for span, _ in order if span.span_id not in set(must)]
    return frozenset(must + rest[: max(0, limit - len(must))])


def _row(
    span: SpanRow, depth: int, axis: tuple[int, int], notes: tuple[str, ...], highlighted: bool
) -> WaterfallRow:
    start, length = axis
    if span.end_unix_nano < span.start_unix_nano:
        notes = (*notes, "ends before it starts")
    left = _percent(span.start_unix_nano - start, length)
    right = max(left, _percent(span.end_unix_nano - start, length))
    if not 0 <= span.start_unix_nano - start <= max(length, 0):
        way = "later" if span.start_unix_nano > start else "earlier"
        notes = (
            *notes,
            f"starts {brief(abs(span.start_unix_nano - start))} {way}, off this axis",
        )
    return WaterfallRow(span, depth, left, right - left, notes, highlighted)


def _percent(offset: int, length: int) -> float:
    return min(100.0, max(0.0, 100.0 * offset / length)) if length > 0 else 0.0


def _skew(span: SpanRow, spans: dict[str, SpanRow]) -> tuple[str, ...]:
    parent = spans.get(span.parent_span_id or "")
    if parent is None or parent is span or span.start_unix_nano >= parent.start_unix_nano:
        return ()
    early = brief(parent.start_unix_nano - span.start_unix_nano)
    return (f"starts {early} before its parent: their clocks differ",)


def _by_time(span: SpanRow) -> tuple[int, int, str]:
    return span.start_unix_nano, -span.end_unix_nano, span.span_id
