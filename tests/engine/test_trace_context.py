"""W3C trace context."""

import pytest

from engine.trace_context import (
    MAX_THRESHOLD,
    format_threshold,
    format_traceparent,
    parse_traceparent,
    sampling_fields,
    threshold_of_rate,
    with_threshold,
)

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def test_round_trip():
    """What is written is read back."""
    context = parse_traceparent(f"00-{TRACE}-{SPAN}-01", "a=b")
    assert (f"{context.trace_id:032x}", f"{context.span_id:016x}", context.sampled) == (TRACE, SPAN, True)
    assert context.trace_state == "a=b"
    assert format_traceparent(context.trace_id, context.span_id, sampled=True) == f"00-{TRACE}-{SPAN}-01"


@pytest.mark.parametrize(
    ("flags", "sampled"), [("00", False), ("01", True), ("02", False), ("03", True), ("ff", True)]
)
def test_sampled_is_the_lowest_flag(flags, sampled):
    """Other flags do not matter."""
    assert parse_traceparent(f"00-{TRACE}-{SPAN}-{flags}").sampled is sampled


@pytest.mark.parametrize(
    "header",
    [
        "",
        "00",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-1",
        f"00-{TRACE}-{SPAN}-01\n",
        f" 00-{TRACE}-{SPAN}-01",
        "\ud800" * 55,
    ],
)
def test_invalid_headers_start_a_new_trace(header):
    """A header that breaks the format counts as absent."""
    assert parse_traceparent(header) is None


def test_higher_versions_are_read_by_their_first_four_fields():
    """An unknown version may carry more behind."""
    assert parse_traceparent(f"cc-{TRACE}-{SPAN}-01-what-the-future-brings") is not None
    assert parse_traceparent(f"cc-{TRACE}-{SPAN}-01") is not None
    assert parse_traceparent(f"cc-{TRACE}-{SPAN}-01.x") is None


@pytest.mark.parametrize(("rate", "text"), [(1.0, "0"), (0.5, "8"), (0.25, "c"), (0.1, "e6666666666666")])
def test_threshold_text(rate, text):
    """Trailing zeros are dropped; the text gives the threshold back."""
    threshold = threshold_of_rate(rate)
    assert format_threshold(threshold) == text
    assert sampling_fields(f"ot=th:{text}") == (threshold, None)
    assert MAX_THRESHOLD / (MAX_THRESHOLD - threshold) == pytest.approx(1 / rate)


def test_rate_zero_keeps_nothing():
    """The threshold of rate 0 lies above every randomness."""
    assert threshold_of_rate(0.0) == MAX_THRESHOLD


@pytest.mark.parametrize(
    "state", ["", "x=y", "ot=", "ot=th:", "ot=th:xyz", "ot=th:123456789abcdef", "ot=rv:12", "othe=th:8"]
)
def test_absent_or_broken_sampling_fields_are_unknown(state):
    """Nothing is guessed from a broken entry."""
    assert sampling_fields(state) == (None, None)


def test_explicit_randomness():
    """``rv`` is read beside ``th``."""
    assert sampling_fields("vendor=1, ot=rv:0000000000000f;th:8") == (0x80000000000000, 15)


def test_setting_a_threshold_keeps_the_rest():
    """Other vendors' entries and other fields of ``ot`` stay."""
    assert (
        with_threshold("a=1,ot=th:0;rv:0000000000000f,b=2", 0x80000000000000)
        == "ot=th:8;rv:0000000000000f,a=1,b=2"
    )
    assert with_threshold("", 0) == "ot=th:0"
