"""Numbers, units and times as the interface writes them."""

import math

import pytest

from dashboard import format as fmt


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (fmt.count(14_206), "14,206"),
        (fmt.count(-3), "−3"),
        (fmt.count(None), "unknown"),
        (fmt.decimal(0.625), "0.62"),
        (fmt.decimal(-0.5, 1), "−0.5"),
        (fmt.decimal(math.nan), "unknown"),
        (fmt.signed(1.8, 1), "+1.8"),
        (fmt.signed(-0.3, 1), "−0.3"),
        (fmt.signed(-0.001, 1), "0.0"),
        (fmt.percent(0.1), "10.0 %"),
        (fmt.percent(0), "0 %"),
        (fmt.percent(0.00001), "< 0.1 %"),
        (fmt.percent(math.inf), "unknown"),
        (fmt.rate(14_206.2), "14,206"),
        (fmt.rate(12.34), "12.3"),
        (fmt.rate(0.017), "0.02"),
        (fmt.rate(0), "0"),
        (fmt.milliseconds(0.4167), "0.42 ms"),
        (fmt.milliseconds(31), "31.0 ms"),
        (fmt.milliseconds(212), "212 ms"),
        (fmt.milliseconds(2_900), "2.9 s"),
        (fmt.duration(9), "9 s"),
        (fmt.duration(130), "2 min 10 s"),
        (fmt.duration(4_320), "1 h 12 min"),
        (fmt.duration(604_800), "7 d"),
        (fmt.duration(-5), "−5 s"),
        (fmt.age(10**18, 10**18 - 10**9), "now"),
        (fmt.age(10**18, 10**18 - 9 * 10**9), "9 s ago"),
        (fmt.age(10**18, 0), "never"),
        (fmt.instant(1_796_091_271_400_000_000), "2026-12-01 02:14:31"),
        (fmt.instant(1_796_091_271_400_000_000, fraction=True), "2026-12-01 02:14:31.400"),
        (fmt.instant(10**30), "unknown"),
        (fmt.iso(1_796_091_271_400_000_000), "2026-12-01T02:14:31.400Z"),
        (fmt.plural(1, "source"), "1 source"),
        (fmt.plural(6, "source"), "6 sources"),
    ],
)
def test_a_quantity_is_written_with_its_unit_and_a_true_minus(shown: str, expected: str) -> None:
    """Units follow after a space, thousands are grouped, and unknown is never zero."""
    assert shown == expected


@pytest.mark.parametrize(
    ("size", "expected"),
    [(0, ("0", "B")), (1_536, ("1.5", "KiB")), (612 * 2**20, ("612", "MiB")), (None, ("unknown", ""))],
)
def test_a_size_comes_apart_from_its_unit(size: int | None, expected: tuple[str, str]) -> None:
    """A tile writes the unit smaller than the value."""
    assert fmt.byte_size(size) == expected


@pytest.mark.parametrize(
    "text",
    ["2026-12-01T02:14:31.400Z", "2026-12-01 02:14:31.4", "2026-12-01T03:14:31.400+01:00", "1796091271.4"],
)
def test_an_instant_is_read_in_every_usual_form(text: str) -> None:
    """ISO 8601 with or without a zone, and Unix seconds."""
    assert fmt.parse_instant(text) == 1_796_091_271_400_000_000


@pytest.mark.parametrize(
    "garbage",
    ["", "yesterday", "NaN", "1e999", "-5", "99999999999", "0001-01-01", "9999-12-31", "2026-13-01", "\x00"],
)
def test_what_is_no_instant_is_none(garbage: str) -> None:
    """A hand-edited address never raises."""
    assert fmt.parse_instant(garbage) is None
