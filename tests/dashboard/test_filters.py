"""Filters survive the address bar, and garbage in it does no harm."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.filters import Filters, active, narrower, of, parse, render, without

NOW = 1_796_090_400_000_000_000
SECOND = 1_000_000_000


def test_an_empty_address_means_the_last_fifteen_minutes() -> None:
    """Without a query string the default range is in force and nothing else is asked."""
    query = parse("").query(NOW)
    assert query.time is not None
    assert query.time.end_unix_nano - query.time.start_unix_nano == 900 * SECOND
    assert (query.node, query.policy, query.weight_min, query.text) == (None, None, None, None)
    assert render(Filters()) == ""


def test_every_filter_comes_back_from_its_address() -> None:
    """What is rendered into an address parses to the same filters."""
    filters = Filters(
        range="6h",
        service="gate way",
        policy="p&q=1",
        node="gpu-ü#%/?",
        weight_min=0.1,
        weight_max=1e-7,
        confidence_min=0.2,
        outcome="error",
        experiment="exp",
        variant="b",
        text="abc",
    )
    filters = parse(render(filters))
    assert filters == parse(render(filters))
    assert filters.node == "gpu-ü#%/?"
    assert filters.policy == "p&q=1"


def test_bounds_the_wrong_way_round_are_turned() -> None:
    """A minimum above its maximum is what somebody typed in a hurry, so the two change places."""
    filters = parse("weight_min=0.8&weight_max=0.2&confidence_min=0.9&confidence_max=0.1")
    assert (filters.weight_min, filters.weight_max) == (0.2, 0.8)
    assert (filters.confidence_min, filters.confidence_max) == (0.1, 0.9)


def test_a_custom_range_replaces_the_relative_one() -> None:
    """Both ends given and in order make an absolute range, down to the millisecond, in UTC."""
    filters = parse("?from=2026-12-01T01:44:00.250Z&to=2026-12-01T02:14:00%2B00:00&range=6h")
    time = filters.time(0)
    assert time.end_unix_nano - time.start_unix_nano == 1_799_750_000_000
    assert filters.span_words == "from 2026-12-01 01:44:00 to 2026-12-01 02:14:00 UTC"
    assert parse(render(filters)).time(0) == time


@pytest.mark.parametrize(
    "search",
    [
        "from=2026-12-01T02:00:00Z",
        "to=2026-12-01T02:00:00Z",
        "from=2026-12-01T02:00:00Z&to=2026-12-01T01:00:00Z",
        "from=yesterday&to=tomorrow",
        "from=9999999999999999&to=1e400",
    ],
)
def test_half_a_custom_range_falls_back_to_the_relative_one(search: str) -> None:
    """A range that lacks an end, runs backwards or cannot be read is not guessed at."""
    assert parse(search) == Filters()


@pytest.mark.parametrize(
    "search",
    [
        "weight_min=NaN",
        "weight_max=inf",
        "confidence_min=high",
        "outcome=fine",
        "range=2y",
        "node=%20%20",
        "a&b&&=;%zz%",
        "node",
        "&".join(f"k{i}=1" for i in range(500)),
    ],
)
def test_what_means_nothing_is_ignored(search: str) -> None:
    """Values of the wrong kind and unknown keys leave the defaults."""
    assert parse(search) == Filters()


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_no_address_raises(search: str) -> None:
    """Any text at all parses, and what it parses to renders and parses to itself."""
    filters = parse(search)
    assert parse(render(filters)) == filters


@settings(max_examples=60, deadline=None)
@given(st.text(min_size=1, max_size=60).filter(lambda s: s.strip() and s.isprintable()))
def test_a_name_survives_whatever_it_holds(node: str) -> None:
    """Any printable node name comes back unchanged."""
    assert parse(render(Filters(node=node))).node == node


def test_chips_name_each_filter_once() -> None:
    """Two bounds of one figure are one chip; the range is no chip."""
    chips = active(of({"node": "a", "weight_min": "0.1", "weight_max": "0.5", "confidence_max": "0.7"}))
    assert chips == (
        ("node", "node", "a"),
        ("weight", "weight", "0.1 to 0.5"),
        ("confidence", "confidence", "≤ 0.7"),
    )


def test_dropping_a_chip_drops_both_of_its_bounds() -> None:
    """``without`` undoes exactly what the chip stands for; an unknown name changes nothing."""
    filters = of({"node": "a", "weight_min": "0.1", "weight_max": "0.5"})
    assert without(filters, "weight") == Filters(node="a")
    assert without(filters, "range") == filters
    assert without(filters, "nonsense") == filters


def test_a_range_narrows_to_the_default() -> None:
    """Narrower goes back to the default range, and nowhere from there."""
    assert narrower(Filters(range="7d")) == Filters()
    assert narrower(Filters()) is None
