"""Values refuse what they cannot mean."""

import dataclasses

import pytest

from engine import Node, Outcome, OutcomeKind, Request, Score


@pytest.mark.parametrize("delta", [-0.1, 1.1, float("nan")])
def test_delta_is_a_share(delta):
    """Latency sensitivity lies in 0..1."""
    with pytest.raises(ValueError, match="delta"):
        Request(delta=delta)


def test_sizes_are_not_negative():
    """A prompt has 0 tokens or more, a KV cache holds some."""
    with pytest.raises(ValueError, match="tokens"):
        Request(tokens=-1)
    for capacity in (0, -5, float("nan")):
        with pytest.raises(ValueError, match="KV cache"):
            Node("a", kv_capacity=capacity)


@pytest.mark.parametrize("latency", [-1.0, float("nan"), float("inf")])
def test_latency_is_finite_and_not_negative(latency):
    """An absurd latency is refused where it is stated."""
    with pytest.raises(ValueError, match="latency"):
        Outcome(OutcomeKind.OK, latency)


def test_nodes_have_names_and_do_not_change():
    """A node is a frozen value with a name."""
    with pytest.raises(ValueError, match="name"):
        Node("")
    with pytest.raises(dataclasses.FrozenInstanceError):
        Node("a").name = "b"


def test_contribution():
    """Weight times value."""
    assert Score("queue_depth", 0.5, 0.4).contribution == pytest.approx(0.2)
