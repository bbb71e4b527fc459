"""What each filter removes."""

import numpy as np
import pytest

from engine import Node, Request
from engine.filters import (
    AcceleratorFilter,
    BreakerFilter,
    HealthFilter,
    KvCapacityFilter,
    ModelFilter,
    QueueCapacityFilter,
)

NAN = float("nan")


def kept(plugin, view, **request):
    mask = plugin.keep(Request(**request), view)
    return [True] * len(view) if mask is None else mask.tolist()


def test_health_removes_what_says_it_is_unhealthy(fleet_view):
    """Silence is health."""
    assert kept(HealthFilter(), fleet_view({"healthy": [1.0, 0.0, NAN]})) == [True, False, True]


def test_breaker_removes_open_ones(fleet_view):
    """Whoever runs the breaker reports it as a signal."""
    assert kept(BreakerFilter(), fleet_view({"breaker_open": [1.0, 0.0, NAN]})) == [False, True, True]


def test_model_keeps_nodes_that_serve_it(fleet_view):
    """A node that lists no models serves any; a request without a model goes anywhere."""
    view = fleet_view({}, [Node("a", frozenset({"x"})), Node("b", frozenset({"y"})), Node("c")])
    assert kept(ModelFilter(), view, model="x") == [True, False, True]
    assert kept(ModelFilter(), view) == [True, True, True]
    assert ModelFilter().reason(Request(model="x")) == "does not serve x"


def test_accelerator_keeps_the_wanted_kind(fleet_view):
    """Only when the request requires one."""
    view = fleet_view({}, [Node("a", accelerator="h100"), Node("b", accelerator="mi300"), Node("c")])
    assert kept(AcceleratorFilter(), view, accelerator="h100") == [True, False, False]
    assert kept(AcceleratorFilter(), view) == [True, True, True]


def test_queue_capacity_goes_by_the_reported_queue(fleet_view):
    """At the limit a node is full; unreported dispatches alone exclude nobody."""
    view = fleet_view(
        {"queue_depth": [3.0, 4.0, NAN], "inflight": [0.0, 0.0, 900.0], "dispatched": [900.0, 0.0, 0.0]}
    )
    assert kept(QueueCapacityFilter(limit=4), view) == [True, False, True]


@pytest.mark.parametrize(
    ("tokens", "expected"), [(0, [True, True, False, True]), (50, [True, False, False, True])]
)
def test_kv_capacity_counts_the_prompt(fleet_view, tokens, expected):
    """What the prompt would add is counted where the node's size is known."""
    nodes = [Node("a", kv_capacity=1_000), Node("b", kv_capacity=1_000), Node("c"), Node("d", kv_capacity=1)]
    view = fleet_view({"kv_utilisation": [0.5, 0.95, 0.99, NAN]}, nodes)
    assert kept(KvCapacityFilter(limit=0.98), view, tokens=tokens) == expected


def test_restricted_views_answer_for_their_nodes(fleet_view):
    """A filter sees a part of the fleet as it sees the whole."""
    view = fleet_view({"healthy": [0.0, 1.0, 0.0]}).restricted(np.array([1, 2]))
    assert kept(HealthFilter(), view) == [True, False]
