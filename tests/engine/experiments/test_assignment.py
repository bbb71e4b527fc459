"""Sticky assignment."""

from collections import Counter

import pytest

from engine import Assignment, ConfigurationError


def test_assignment_is_sticky_and_stable():
    """The same unit has the same arm, here and in any other process."""
    first, second = (Assignment("exp", {"control": 1, "treatment": 1}) for _ in range(2))
    arms = [first.variant(f"user-{i}") for i in range(200)]
    assert arms == [second.variant(f"user-{i}") for i in range(200)]
    assert arms[:6] == ["control"] * 5 + ["treatment"]


def test_shares_are_met():
    """Units spread by the arms' shares."""
    assignment = Assignment("exp", {"a": 6, "b": 3, "c": 1})
    assert assignment.shares == pytest.approx({"a": 0.6, "b": 0.3, "c": 0.1})
    counts = Counter(assignment.variant(f"u{i}") for i in range(20_000))
    for variant, share in assignment.shares.items():
        assert counts[variant] / 20_000 == pytest.approx(share, abs=0.015)


def test_experiments_assign_independently():
    """Of two experiments' arms, all four combinations come up evenly."""
    one, two = (Assignment(key, {"a": 1, "b": 1}) for key in ("one", "two"))
    pairs = Counter((one.variant(f"u{i}"), two.variant(f"u{i}")) for i in range(8_000))
    assert len(pairs) == 4
    assert all(abs(count / 8_000 - 0.25) < 0.03 for count in pairs.values())


def test_key_and_unit_do_not_run_together():
    """Key "a" with unit "b:c" is not key "a:b" with unit "c"."""
    shares = {str(i): 1.0 for i in range(1_000)}
    assert Assignment("a", shares).variant("b:c") != Assignment("a:b", shares).variant("c")


def test_the_ends_of_the_range():
    """Points 0 and just below 1 belong to the first and last arm."""
    assignment = Assignment("exp", {"a": 0.1, "b": 0.2, "c": 0.7})
    assert (assignment.at(0.0), assignment.at(0.1), assignment.at(1 - 2**-53)) == ("a", "b", "c")


def test_hostile_units_are_assigned():
    """Any text can be a unit, lone surrogates included."""
    assert Assignment("exp\ud800", {"a": 1}).variant("\ud800\x00") == "a"


@pytest.mark.parametrize(
    "shares", [{}, {"a": 0}, {"a": -1, "b": 2}, {"a": float("nan")}, {"a": float("inf")}]
)
def test_unusable_shares_are_refused(shares):
    """Shares are positive and finite, and there is at least one arm."""
    with pytest.raises(ConfigurationError):
        Assignment("exp", shares)
