"""What each scorer prefers."""

import numpy as np
import pytest

from engine import Node, Request
from engine.fleet import Fleet, View
from engine.scorers import (
    KvRoomScorer,
    LatencyScorer,
    NodeWeightScorer,
    PrefixAffinityScorer,
    QueueDepthScorer,
    ReliabilityScorer,
)

NAN = float("nan")


def test_node_weight_is_taken_as_it_is(fleet_view):
    """The profile's effective weights are the scores."""
    view = fleet_view({"loss": [0.0, 0.0]})
    view.weights = np.array([0.3, 0.7])
    assert NodeWeightScorer().score(Request(), view).tolist() == [0.3, 0.7]


def test_latency_is_relative_to_the_fastest(fleet_view):
    """The fastest scores 1."""
    assert LatencyScorer().score(Request(), fleet_view({"latency_ms": [20.0, 40.0]})).tolist() == [1.0, 0.5]


def test_queue_depth_counts_own_dispatches(fleet_view):
    """Reported queue plus what was sent since; what is in flight where nothing was reported."""
    view = fleet_view(
        {"queue_depth": [8.0, 0.0, NAN], "dispatched": [0.0, 8.0, 5.0], "inflight": [9.0, 9.0, 24.0]}
    )
    assert QueueDepthScorer(half=8.0).score(Request(), view).tolist() == [0.5, 0.5, 0.25]


def test_kv_room_after_the_prompt(fleet_view):
    """What would be free once the prompt is in; one half where nothing is known."""
    view = fleet_view(
        {"kv_utilisation": [0.2, 0.2, 0.9, NAN]},
        [Node("a"), Node("b", kv_capacity=100), Node("c", kv_capacity=100), Node("d")],
    )
    assert KvRoomScorer().score(Request(tokens=30), view).tolist() == pytest.approx([0.8, 0.5, 0.0, 0.5])


def test_prefix_affinity_counts_blocks_not_shares():
    """Four cached blocks score one half, whatever the length of the prompt."""
    fleet = Fleet([Node("a"), Node("b")])
    fleet.prefix.add((1, 2, 3, 4), 0)
    view = View(fleet, 0)
    scorer = PrefixAffinityScorer(half=4.0)
    assert scorer.score(Request(prefix=(1, 2, 3, 4, 5, 6, 7)), view).tolist() == [0.5, 0.0]
    assert scorer.score(Request(prefix=(1,)), view).tolist() == [0.2, 0.0]
    assert scorer.score(Request(), view).tolist() == [0.0, 0.0]


def test_reliability_forgets():
    """A failure rate counts in full at first and by 1/e after its time constant."""
    fleet = Fleet([Node("bad"), Node("good")])
    fleet.set("failure_rate", 0, 0.8, 10**18)
    scorer = ReliabilityScorer(forget_s=10.0)
    assert scorer.score(Request(), View(fleet, 10**18)).tolist() == pytest.approx([0.2, 1.0])
    assert scorer.score(Request(), View(fleet, 10**18 + 10**10)).tolist() == pytest.approx(
        [1 - 0.8 / np.e, 1.0]
    )
