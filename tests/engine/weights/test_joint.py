"""The joint weight of delta and rho."""

import numpy as np
import pytest

from engine import ConfigurationError, Request
from engine.weights import JointWeight, inverse_sensitivity, joint_weight
from engine.weights.joint import occupancy

NAN = float("nan")


@pytest.mark.parametrize(
    ("delta", "rho", "weight"),
    [(0.3, 0.4, 0.5217), (0.9, 0.2, 0.7799), (0.9, 0.85, 0.0375), (1.0, 0.0, 0.9)],
)
def test_reference_values(delta, rho, weight):
    """The four reference points come out to four decimals."""
    assert joint_weight(delta, np.array([rho]))[0] == pytest.approx(weight, abs=5e-5)


@pytest.mark.parametrize(("delta", "rho", "weight"), [(0.3, 0.4, 0.52), (0.9, 0.2, 0.78), (0.9, 0.85, 0.04)])
def test_published_targets_within_tolerance(delta, rho, weight):
    """The published targets are met within five thousandths."""
    assert joint_weight(delta, np.array([rho]))[0] == pytest.approx(weight, abs=0.005)


def test_weight_is_small_from_the_knee_on():
    """From rho 0.8 upwards no request gives a node more than 0.05."""
    rho = np.linspace(0.8, 1.0, 501)
    delta = np.linspace(0, 1, 101)[:, None]
    assert joint_weight(delta, rho).max() <= 0.05 + 1e-12


def test_weight_falls_with_occupancy_and_rises_with_sensitivity():
    """Strictly falling in rho everywhere, strictly rising in delta below the knee, equal above it."""
    rho, delta = np.linspace(0, 1, 401), np.linspace(0, 1, 201)[:, None]
    weights = joint_weight(delta, rho)
    assert (np.diff(weights, axis=1) < 0).all()
    assert (np.diff(weights[:, rho < 0.8], axis=0) > 0).all()
    assert np.ptp(weights[:, rho >= 0.8], axis=0).max() < 1e-12
    assert weights.min() >= 0
    assert weights.max() <= 0.9 + 1e-12


def test_sensitive_requests_prefer_idle_nodes_more():
    """The ratio between an idle and a loaded node grows with delta."""
    idle, busy = np.array([0.2]), np.array([0.6])
    assert joint_weight(1.0, idle) / joint_weight(1.0, busy) > joint_weight(0.0, idle) / joint_weight(
        0.0, busy
    )


def test_inverse_sensitivity_is_the_published_formula():
    """The comparison formula gives its own published numbers and falls as delta grows."""
    values = [inverse_sensitivity(d, np.array([r]))[0] for d, r in [(0.3, 0.4), (0.9, 0.2), (0.9, 0.85)]]
    assert values == pytest.approx([0.523, 0.091, 0.022], abs=5e-4)


def test_occupancy_is_that_of_the_scarcest_resource(fleet_view):
    """CPU, memory and KV cache combine by maximum; a silent node counts as the mean of the others."""
    view = fleet_view(
        {
            "cpu_utilisation": [0.2, 0.7, NAN],
            "memory_utilisation": [0.4, NAN, NAN],
            "kv_utilisation": [0.3, 0.1, NAN],
        }
    )
    assert occupancy(view).tolist() == pytest.approx([0.4, 0.7, 0.55])


def test_unknown_occupancy_is_one_half(fleet_view):
    """With no report at all, every node counts as half full."""
    view = fleet_view({"cpu_utilisation": [NAN, NAN]})
    assert JointWeight().weights(Request(delta=1.0), view) == pytest.approx(
        joint_weight(1.0, np.array([0.5, 0.5]))
    )


def test_unknown_formula_is_refused():
    """A misspelt formula is a configuration error."""
    with pytest.raises(ConfigurationError, match="inverse_sensitivity"):
        JointWeight("jiont")
