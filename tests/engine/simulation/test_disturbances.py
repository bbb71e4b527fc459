"""Disturbances: in order, in pairs, on one node at a time, the same for the same seed."""

import math
from itertools import islice, pairwise

import pytest

from engine.simulation import Calendar, disturbances


def test_they_come_in_order_and_follow_the_seed():
    """Times rise; the same seed repeats them."""
    first = list(islice(disturbances(16, 4), 500))
    assert first == list(islice(disturbances(16, 4), 500))
    assert first != list(islice(disturbances(16, 5), 500))
    assert all(a.time <= b.time for a, b in pairwise(first))


def test_a_node_has_one_trouble_at_a_time_and_gets_well():
    """Each episode begins once, keeps its kind and ends before the next on that node begins."""
    open_kind = {}
    for change in islice(disturbances(4, 9), 2_000):
        if change.begins:
            assert change.node not in open_kind
            open_kind[change.node] = change.kind
        assert open_kind[change.node] == change.kind
        assert 0.0 < change.speed <= 1.0
        assert 0.0 <= change.error_rate <= 1.0
        if change.ends:
            del open_kind[change.node]


def test_all_kinds_occur_within_the_first_minutes():
    """A demo looked at for four minutes shows each of them."""
    seen = set()
    for change in disturbances(64, 1):
        if change.time > 240.0:
            break
        seen.add(change.kind)
    assert seen == {"antagonist", "degrade", "drain", "failing"}


def test_kinds_can_be_turned_off():
    """A pause of inf means never; all of them off is an empty calendar."""
    only = Calendar(antagonist=math.inf, drain=math.inf, failing=math.inf)
    assert {d.kind for d in islice(disturbances(8, 1, only), 300)} == {"degrade"}
    assert list(disturbances(8, 1, Calendar(math.inf, math.inf, math.inf, math.inf))) == []


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_fleet_smaller_than_the_troubles_still_works(nodes):
    """When every node is already in trouble, an episode is left out."""
    assert len(list(islice(disturbances(nodes, 3), 200))) == 200
