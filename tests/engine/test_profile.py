"""Filters, then scorers, then a picker."""

import random
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from engine import ConfigurationError, Node, NoEligibleNodeError, Profile, Request
from engine.fleet import Fleet, View
from engine.pickers import WeightedRandomPicker
from engine.scorers import KvRoomScorer, NodeWeightScorer, QueueDepthScorer

NOW = 10**18


@dataclass(frozen=True)
class Fixed:
    """Scores what it was told to."""

    name: ClassVar[str] = "fixed"
    signals: ClassVar[tuple[str, ...]] = ()
    values: tuple[float, ...] = ()

    def score(self, request, view):
        values = np.array(self.values)
        return values if view.index is None else values[view.index]

    weights = score


@dataclass(frozen=True)
class Keep:
    """Keeps the nodes it was told to."""

    name: ClassVar[str] = "keep"
    places: tuple[int, ...] = ()
    why: str = "no"

    def keep(self, request, view):
        return np.isin(np.arange(len(view)), self.places)

    def reason(self, request):
        return self.why


def evaluate(profile, size, request=None):
    return profile.evaluate(
        request or Request(), View(Fleet([Node(f"n{i}") for i in range(size)]), NOW), random.Random(1)
    )


def test_total_is_the_weighted_sum():
    """Each contribution is weight times score; the totals are their sum."""
    profile = Profile("p", [(Fixed((0.5, 1.0)), 0.6), (NodeWeightScorer(), 0.4)], weights=Fixed((0.25, 0.75)))
    found = evaluate(profile, 2)
    assert found.totals.tolist() == pytest.approx([0.4, 0.9])
    assert found.weights.tolist() == [0.25, 0.75]
    assert found.pick.index == 1
    assert found.margin == pytest.approx(0.5)
    best = found.candidates()[0]
    assert [s.contribution for s in best.scores] == pytest.approx([0.6, 0.3])
    assert best.total == pytest.approx(0.9)
    assert best.node.name == "n1"


def test_scores_and_weights_are_clamped():
    """Values outside [0, 1] are brought in, NaN counts as 0."""
    wild = Fixed((-3.0, 7.0, float("nan"), float("inf"), float("-inf")))
    found = evaluate(Profile("p", [(wild, 1.0)], weights=wild), 5)
    assert found.scores[0].tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]
    assert found.weights.tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]


def test_filters_narrow_down_in_order():
    """A node is removed by the first filter that refuses it; scorers see the rest."""
    profile = Profile(
        "p", [(Fixed((0.9, 0.8, 0.7, 0.6)), 1.0)], filters=[Keep((1, 2, 3), "first"), Keep((0, 3), "second")]
    )
    found = evaluate(profile, 4)
    assert found.filtered() == {"n0": "first", "n1": "second", "n2": "second"}
    assert found.fleet[found.chosen].name == "n3"
    assert found.margin is None
    assert found.confidence == 1.0


def test_nothing_left_is_an_error_with_reasons():
    """Every node's reason is in the exception."""
    profile = Profile("p", [(NodeWeightScorer(), 1.0)], filters=[Keep((1,), "first"), Keep((), "second")])
    with pytest.raises(NoEligibleNodeError) as caught:
        evaluate(profile, 2)
    assert caught.value.reasons == {"n0": "first", "n1": "second"}


def test_no_nodes_is_the_same_error():
    """A scheduler without nodes has no eligible one."""
    with pytest.raises(NoEligibleNodeError):
        evaluate(Profile("p", [(NodeWeightScorer(), 1.0)]), 0)


@pytest.mark.parametrize(
    "scorers",
    [
        [],
        [(NodeWeightScorer(), 0.0)],
        [(NodeWeightScorer(), -1.0), (KvRoomScorer(), 2.0)],
        [(NodeWeightScorer(), float("nan"))],
        [(NodeWeightScorer(), 0.5), (NodeWeightScorer(), 0.5)],
    ],
)
def test_unusable_scorer_weights_are_refused(scorers):
    """Weights are finite, not negative, not all zero; a scorer is listed once."""
    with pytest.raises(ConfigurationError):
        Profile("p", scorers)


def test_fingerprint_follows_the_configuration():
    """Equal configurations share a fingerprint; any change, and the name, alter it."""

    def print_of(half=8.0, weight=1.0, name="p", **more):
        return Profile(name, [(QueueDepthScorer(half), weight)], **more).policy.fingerprint

    assert print_of() == print_of()
    others = [
        print_of(half=9.0),
        print_of(weight=2.0),
        print_of(name="q"),
        print_of(picker=WeightedRandomPicker()),
    ]
    assert len({print_of(), *others}) == 5
    assert len(print_of()) == 16


def test_fingerprint_is_stable_across_processes():
    """The value itself is part of the contract: it marks charts across restarts."""
    assert Profile("p", [(QueueDepthScorer(8.0), 1.0)]).policy.fingerprint == "05817d9f8e67d352"


def test_signals_are_those_of_weights_and_scorers():
    """The age of a decision is taken over what the profile reads."""
    profile = Profile("p", [(QueueDepthScorer(), 1.0), (KvRoomScorer(), 1.0)])
    assert profile.signals == ("cpu_utilisation", "memory_utilisation", "kv_utilisation", "queue_depth")


def test_order_puts_the_chosen_first_among_equals():
    """Best first, and the winner leads its equals."""
    found = evaluate(Profile("p", [(Fixed((0.5, 0.9, 0.9, 0.1)), 1.0)]), 4)
    assert found.order()[0] == found.pick.index
    assert sorted(found.order()[:2].tolist()) == [1, 2]
    assert found.order()[2:].tolist() == [0, 3]
