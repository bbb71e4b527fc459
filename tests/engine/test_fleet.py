"""Nodes and signals in arrays."""

import math

import numpy as np
import pytest

from engine import ConfigurationError, Node, UnknownNodeError
from engine.fleet import Fleet, View

NOW = 10**18


def test_two_nodes_of_one_name_are_refused():
    """Names identify nodes."""
    with pytest.raises(ConfigurationError, match="same name"):
        Fleet([Node("a"), Node("a")])


def test_older_values_do_not_overwrite_newer_ones():
    """Reports may arrive out of order."""
    fleet = Fleet([Node("a")])
    assert fleet.update(0, {"queue_depth": 3.0, "running": 1.0}, NOW) == 2
    assert fleet.update(0, {"queue_depth": 9.0}, NOW - 1) == 0
    assert fleet.get("queue_depth", 0) == 3.0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"queue_dept": 1.0}, "did you mean 'queue_depth'"),
        ({"latency_ms": 1.0}, "kept by the scheduler"),
        ({"running": 1.0, "loss": math.nan}, "finite"),
        ({"running": 1.0, "loss": math.inf}, "finite"),
        ({"running": 1.0, "loss": -0.1}, "not negative"),
    ],
)
def test_refused_reports_store_nothing(values, message):
    """A report is taken whole or not at all."""
    fleet = Fleet([Node("a")])
    with pytest.raises(ConfigurationError, match=message):
        fleet.update(0, values, NOW)
    assert math.isnan(fleet.get("running", 0))


def test_extra_signals_are_known():
    """A plug-in's own signal can be reported once it is declared."""
    fleet = Fleet([Node("a")], ("carbon",))
    assert fleet.update(0, {"carbon": 0.2}, NOW) == 1
    assert View(fleet, NOW).signal("carbon").tolist() == [0.2]


def test_unknown_names_are_errors():
    """A node or signal that does not exist is named in the error."""
    fleet = Fleet([Node("a")])
    with pytest.raises(UnknownNodeError, match="'b'"):
        fleet.find("b")
    with pytest.raises(ConfigurationError, match="'x'"):
        fleet.signal("x")


def test_replacing_nodes_keeps_what_is_known_of_those_that_stay():
    """State follows the name, not the place."""
    fleet = Fleet([Node("a"), Node("b")])
    fleet.update(1, {"queue_depth": 5.0}, NOW)
    fleet.replace([Node("c"), Node("b")])
    assert fleet.index == {"c": 0, "b": 1}
    assert View(fleet, NOW).filled("queue_depth", -1.0).tolist() == [-1.0, 5.0]
    assert View(fleet, NOW).signal("inflight").tolist() == [0.0, 0.0]


def test_ages():
    """Seconds since the value was taken; infinite when never; a skewed clock counts as now."""
    fleet = Fleet([Node("a"), Node("b"), Node("c")])
    fleet.update(0, {"loss": 0.0}, NOW - 2 * 10**9)
    fleet.update(1, {"loss": 0.0}, NOW + 10**9)
    assert View(fleet, NOW).age_s("loss").tolist() == [2.0, 0.0, math.inf]
    assert View(fleet, NOW).restricted(np.array([2, 0])).age_s("loss").tolist() == [math.inf, 2.0]


def test_oldest_of_several_signals():
    """Signals never reported do not count; without any there is no age."""
    fleet = Fleet([Node("a")])
    assert fleet.oldest_ns(("loss", "running"), 0) is None
    fleet.update(0, {"loss": 0.0}, NOW)
    fleet.update(0, {"running": 0.0}, NOW - 5)
    assert fleet.oldest_ns(("loss", "running", "rtt_ms"), 0) == NOW - 5


def test_a_queue_report_restarts_the_count_of_own_dispatches():
    """What was dispatched before the report is in the report."""
    fleet = Fleet([Node("a")])
    fleet.set("dispatched", 0, 4.0, NOW)
    fleet.update(0, {"queue_depth": 4.0}, NOW + 1)
    assert fleet.get("dispatched", 0) == 0.0


def test_derived_values_follow_their_signal():
    """A derived value is worked out again when, and only when, its signal changed."""
    fleet, calls = Fleet([Node("a")]), []

    def compute(view):
        calls.append(1)
        return float(view.signal("loss")[0])

    fleet.update(0, {"loss": 0.5}, NOW)
    assert [View(fleet, NOW).derived("k", ("loss",), compute) for _ in range(3)] == [0.5] * 3
    fleet.update(0, {"loss": 0.5, "running": 2.0}, NOW + 1)
    assert View(fleet, NOW).derived("k", ("loss",), compute) == 0.5
    assert len(calls) == 1
    fleet.update(0, {"loss": 0.7}, NOW + 2)
    assert View(fleet, NOW).derived("k", ("loss",), compute) == 0.7


def test_node_masks_are_cached_within_bounds():
    """Any number of model names in requests holds a bounded number of masks."""
    fleet = Fleet([Node("a"), Node("b", frozenset({"m"}))])
    for number in range(2_000):
        mask = fleet.mask(("model", number), lambda node: not node.models)
        assert mask.tolist() == [True, False]
    assert len(fleet._masks) <= 256
    assert fleet.mask("all", lambda node: True) is None
