"""The weight from smoothed latency."""

import numpy as np
import pytest

from engine import ConfigurationError, Request
from engine.fleet import Fleet, View
from engine.model import Node
from engine.weights import LatencyWeight, latency_weight

NAN = float("nan")


def test_reference_values():
    """1000 over the latency, never under 0.01 and finite at 0."""
    weights = latency_weight(np.array([1000.0, 100.0, 1e9, 0.0]))
    assert weights.tolist() == pytest.approx([1.0, 10.0, 0.01, 1e6])


def test_weight_is_relative_to_the_fastest(fleet_view):
    """The fastest candidate weighs 1, the others in proportion."""
    view = fleet_view({"latency_ms": [50.0, 100.0, 200.0]})
    assert LatencyWeight().weights(Request(), view).tolist() == pytest.approx([1.0, 0.5, 0.25])


def test_unknown_nodes_weigh_the_mean(fleet_view):
    """A node without a sample has the mean weight of those with one."""
    view = fleet_view({"latency_ms": [50.0, 100.0, NAN]})
    assert LatencyWeight().weights(Request(), view).tolist() == pytest.approx([1.0, 0.5, 0.75])


def test_nothing_known_weighs_one(fleet_view):
    """Without any sample all are equal."""
    assert LatencyWeight().weights(Request(), fleet_view({"latency_ms": [NAN, NAN]})).tolist() == [1.0, 1.0]


def test_old_latency_relaxes_to_the_mean():
    """After one time constant, 1/e of the distance from the mean is left; after many, none."""
    fleet = Fleet([Node("fast"), Node("slow")])
    start = 10**18
    fleet.set("latency_ms", 0, 100.0, start)
    fleet.set("latency_ms", 1, 1000.0, start)
    fresh = LatencyWeight(relax_s=10.0).weights(Request(), View(fleet, start))
    later = LatencyWeight(relax_s=10.0).weights(Request(), View(fleet, start + 10 * 10**9))
    much_later = LatencyWeight(relax_s=10.0).weights(Request(), View(fleet, start + 10**12))
    assert fresh[1] == pytest.approx(0.1)
    assert later[1] == pytest.approx((5.5 - 4.5 / np.e) / (5.5 + 4.5 / np.e))
    assert much_later[1] == pytest.approx(1.0)


def test_relaxation_time_must_be_positive():
    """A time constant of zero is a configuration error."""
    with pytest.raises(ConfigurationError):
        LatencyWeight(relax_s=0.0)
