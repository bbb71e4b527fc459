"""Every span of a trace gets its row, however little the trace makes sense."""

from dataclasses import replace

import pytest

from dashboard.waterfall import arrange, ticks
from storage.records import SpanRow, Trace

START = 1_796_090_400_000_000_000
MS = 1_000_000
BLANK = SpanRow(
    trace_id="4b" * 16,
    span_id="",
    parent_span_id=None,
    name="work",
    kind=1,
    start_unix_nano=START,
    end_unix_nano=START,
    service="gateway",
    instance="",
    scope="",
    status_code=0,
    status_message="",
    trace_state="",
    attributes={},
    events=(),
    links=(),
    resource={},
    is_decision=False,
    flagged=False,
)


def span(name: str, parent: str | None, start_ms: float, length_ms: float) -> SpanRow:
    start = START + int(start_ms * MS)
    return replace(
        BLANK,
        span_id=name,
        parent_span_id=parent,
        start_unix_nano=start,
        end_unix_nano=start + int(length_ms * MS),
    )


def trace(*spans: SpanRow, total: int | None = None) -> Trace:
    return Trace("4b" * 16, spans, len(spans) if total is None else total)


def test_rows_follow_their_parents_with_depth_offset_and_width() -> None:
    """Children come after their parent by start time; offset and width are per cent of the whole."""
    made = arrange(
        trace(span("r", None, 0, 100), span("b", "r", 50, 25), span("a", "r", 10, 20), span("c", "a", 10, 5))
    )
    assert [(row.span.span_id, row.depth) for row in made.rows] == [("r", 0), ("a", 1), ("c", 2), ("b", 1)]
    assert [(row.left, row.width) for row in made.rows] == [(0, 100), (10, 20), (10, 5), (50, 25)]
    assert (made.length_ns, made.roots) == (100 * MS, 1)


def test_a_span_without_length_keeps_its_place() -> None:
    """Zero length is a width of zero at the right offset, and a whole trace of none divides by nothing."""
    made = arrange(trace(span("r", None, 0, 100), span("z", "r", 100, 0)))
    assert (made.rows[1].left, made.rows[1].width) == (100, 0)
    alone = arrange(trace(span("z", None, 0, 0)))
    assert (alone.rows[0].left, alone.rows[0].width, alone.length_ns) == (0, 0, 0)


def test_a_child_before_its_parent_blames_the_clocks() -> None:
    """A child cannot begin first, so its row says by how much the clocks differ."""
    made = arrange(trace(span("r", None, 10, 100), span("c", "r", 7, 5)))
    assert made.rows[1].notes == ("starts 3.00 ms before its parent: their clocks differ",)
    assert made.rows[1].left == 0


def test_a_far_clock_does_not_squeeze_the_others() -> None:
    """A start hours away is pinned to the rim with a note, and the axis stays that of the rest."""
    made = arrange(
        trace(span("r", None, 0, 100), span("c", "r", -3 * 3_600_000, 5), span("d", "r", 7_200_000, 5))
    )
    assert made.length_ns == 100 * MS
    rows = {row.span.span_id: row for row in made.rows}
    assert any("earlier, off this axis" in note for note in rows["c"].notes)
    assert any("later, off this axis" in note for note in rows["d"].notes)
    assert (rows["c"].left, rows["d"].left) == (0, 100)


def test_a_missing_parent_makes_a_root_that_says_so() -> None:
    """A span whose parent never arrived stands at the left and names the parent."""
    made = arrange(trace(span("r", None, 0, 100), span("o", "gone", 5, 5)))
    assert made.roots == 2
    assert made.rows[1].notes == ("its parent gone is not in the store",)


def test_loops_of_parents_end() -> None:
    """Spans that are each other's parent, or their own, appear once each."""
    made = arrange(trace(span("a", "b", 0, 10), span("b", "a", 1, 5), span("s", "s", 2, 1)))
    assert sorted(row.span.span_id for row in made.rows) == ["a", "b", "s"]
    assert ("its parents form a loop",) in [row.notes for row in made.rows]


def test_an_end_before_its_start_is_noted() -> None:
    """A negative length is drawn as none and said."""
    made = arrange(trace(span("r", None, 0, 100), span("n", "r", 50, -20)))
    assert made.rows[1].width == 0
    assert "ends before it starts" in made.rows[1].notes


def test_a_long_trace_is_cut_around_the_decision() -> None:
    """The highlighted span and its ancestors stay whatever the limit; the whole count is kept."""
    chain = [span("r", None, 0, 1_000), *(span(f"c{i}", "r", i, 1) for i in range(1, 900))]
    late = [span("up", "r", 950, 10), span("decision", "up", 951, 1)]
    made = arrange(trace(*chain, *late, total=1_400), "decision", limit=500)
    ids = [row.span.span_id for row in made.rows]
    assert len(ids) == 500
    assert {"r", "up", "decision"} <= set(ids)
    assert made.total == 1_400
    assert [row.span.span_id for row in made.rows if row.highlighted] == ["decision"]


def test_depth_has_no_limit() -> None:
    """A chain of thousands of parents does not exhaust the stack."""
    made = arrange(
        trace(*(span(f"s{i}", f"s{i - 1}" if i else None, 0, 1) for i in range(3_000))), limit=5_000
    )
    assert made.rows[-1].depth == 2_999


def test_no_spans_make_no_rows() -> None:
    """An empty trace is empty, not an error."""
    assert arrange(trace()).rows == ()


@pytest.mark.parametrize("length", [0, 1, 999, 61_000, 1_842 * MS, 86_400_000 * MS])
def test_an_axis_has_few_round_marks(length: int) -> None:
    """Between one and six marks, the first at zero and none beyond the end."""
    marks = ticks(length)
    assert 1 <= len(marks) <= 6
    assert marks[0][0] == 0
    assert all(0 <= at <= 100 for at, _ in marks)
