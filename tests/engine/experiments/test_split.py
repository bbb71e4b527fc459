"""Policies as arms."""

import random
from collections import Counter

import pytest

from engine import ConfigurationError, Node, PolicySplit, Request, Scheduler, build_profile


@pytest.fixture
def scheduler():
    arms = {
        "control": (build_profile({"name": "queue", "scorers": {"queue_depth": 1}}), 0.5),
        "treatment": (build_profile({"name": "joint", "scorers": {"weight": 1}}), 0.5),
    }
    return Scheduler([Node("a"), Node("b")], PolicySplit("routing", arms), rng=random.Random(3))


def test_a_unit_stays_with_its_arm(scheduler):
    """The arm decides the profile and is recorded on the decision."""
    seen = {}
    for number in range(300):
        decision = scheduler.decide(Request(unit=f"user-{number % 30}"))
        assert seen.setdefault(decision.request.unit, decision.experiment) == decision.experiment
        assert (
            decision.evaluation.policy.name
            == {"control": "queue", "treatment": "joint"}[decision.experiment[1]]
        )
    assert {variant for _, variant in seen.values()} == {"control", "treatment"}


def test_without_a_unit_the_arm_is_drawn(scheduler):
    """Requests that name nobody are split by share."""
    counts = Counter(scheduler.decide(Request()).experiment[1] for _ in range(600))
    assert abs(counts["control"] - 300) < 75


def test_a_caller_that_assigned_the_arm_is_followed(scheduler):
    """A variant this experiment does not have is an error, another experiment's is not ours."""
    assert scheduler.decide(Request(experiment=("routing", "treatment"))).experiment == (
        "routing",
        "treatment",
    )
    assert scheduler.decide(Request(unit="u", experiment=("other", "x"))).experiment[0] == "routing"
    with pytest.raises(ConfigurationError, match="no variant 'x'"):
        scheduler.decide(Request(experiment=("routing", "x")))
