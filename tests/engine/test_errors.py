"""Messages of the engine's errors."""

from engine import NoEligibleNodeError, UnknownNodeError


def test_no_eligible_node_names_reasons_within_bounds():
    """A few nodes with their reasons, and how many more."""
    error = NoEligibleNodeError({f"n{i}": "unhealthy" for i in range(50)})
    assert "no eligible node of 50" in str(error)
    assert "'n0': unhealthy" in str(error)
    assert "and 42 more" in str(error)
    assert len(error.reasons) == 50


def test_no_nodes_at_all():
    """An empty scheduler says so."""
    assert "has no nodes" in str(NoEligibleNodeError({}))


def test_unknown_node_reads_as_a_sentence():
    """KeyError's habit of showing only a repr is overridden."""
    assert str(UnknownNodeError("x")) == "no node is named 'x'"
