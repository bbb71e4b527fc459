"""Tallies: bounded by sources, drained once, restored when a flush fails."""

from collector.tallies import OTHER_SOURCES, Tallies


def test_sources_beyond_the_bound_are_counted_together():
    """Invented service names cannot fill the memory."""
    tallies = Tallies(max_sources=2)
    for name in ("a", "b", "c", "d", "a"):
        tallies.of(name).accepted += 1
    assert {t.source: t.accepted for t in tallies.drain()} == {"a": 2, "b": 1, OTHER_SOURCES: 2}


def test_draining_begins_anew():
    """Each count is flushed once."""
    tallies = Tallies()
    tallies.of("a").accepted += 1
    assert len(tallies.drain()) == 1
    assert tallies.drain() == []


def test_what_could_not_be_flushed_is_added_to_what_came_since():
    """A failing store loses no counts."""
    tallies = Tallies()
    first = tallies.of("a")
    first.accepted, first.message, first.last_seen_unix_nano = 1, "old", 5
    first.rejected["r"] = 2
    drained = tallies.drain()
    tallies.of("a").rejected["r"] += 1
    tallies.restore(drained)
    (tally,) = tallies.drain()
    assert (tally.accepted, tally.rejected, tally.message, tally.last_seen_unix_nano) == (
        1,
        {"r": 3},
        "old",
        5,
    )
