"""What every filter, scorer, weight policy, picker and confidence model must keep to."""

import dataclasses
import random

import numpy as np
import pytest

from engine import Node, Request
from engine.fleet import OWN, REPORTED, Fleet, View
from engine.model import Pick, Standing
from engine.protocols import ConfidenceModel, Filter, Picker, Scorer, WeightPolicy
from engine.registry import REGISTRY

NOW = 10**18
PROTOCOLS = {
    "filter": Filter,
    "scorer": Scorer,
    "picker": Picker,
    "weight": WeightPolicy,
    "confidence": ConfidenceModel,
}
REQUESTS = (
    Request(),
    Request(model="m", accelerator="h100", delta=1.0, tokens=4_000, prefix=(1, 2, 3)),
    Request(model="elsewhere", delta=0.0, tokens=10**9, prefix=(9,)),
)


def made(kind):
    return [pytest.param(factory(), id=name) for name, factory in REGISTRY[kind].items()]


def views():
    """Fleets from empty of signals to absurd ones, whole and restricted."""
    rng = np.random.default_rng(3)
    nodes = [
        Node(
            f"n{i}",
            frozenset({"m"} if i % 2 else ()),
            "h100" if i % 3 else "",
            kv_capacity=[None, 1e5, 0.5][i % 3],
        )
        for i in range(9)
    ]
    found = []
    for scale in (0.0, 1.0, 40.0, -5.0, 1e300):
        fleet = Fleet(nodes)
        for name in (*REPORTED, *OWN):
            for at in range(len(nodes)):
                if scale and rng.random() < 0.8:
                    fleet.set(
                        name, at, float(rng.random() * scale), NOW - int(rng.integers(-(10**9), 10**11))
                    )
        fleet.prefix.add((1, 2, 3), 4)
        fleet.prefix.add((1,), 5)
        found += [
            View(fleet, NOW),
            View(fleet, NOW).restricted(np.array([1, 4, 5])),
            View(fleet, NOW).restricted(np.array([7])),
        ]
    return found


@pytest.mark.parametrize(("kind", "protocol"), PROTOCOLS.items())
def test_registered_plugins_satisfy_their_protocol(kind, protocol):
    """Everything in the table is what its kind says, and comparable by its configuration."""
    for factory in REGISTRY[kind].values():
        plugin = factory()
        assert isinstance(plugin, protocol)
        assert dataclasses.is_dataclass(plugin)
        assert plugin == factory()


@pytest.mark.parametrize("plugin", made("scorer"))
def test_scores_lie_in_0_to_1(plugin):
    """A score is a finite number in [0, 1] per candidate whenever the signals are sane."""
    for view in views():
        view.weights = np.full(len(view), 0.5)
        sane = not any(
            (np.abs(view.signal(name)) > 1e3).any() or (view.signal(name) < 0).any() for name in REPORTED
        )
        for request in REQUESTS:
            score = plugin.score(request, view)
            assert score.shape == (len(view),)
            if sane:
                assert ((score >= 0) & (score <= 1)).all()


@pytest.mark.parametrize("plugin", made("scorer"))
def test_scorers_change_nothing(plugin):
    """Scoring leaves the signals as they are, and scoring again gives the same."""
    for view in views():
        view.weights = np.full(len(view), 0.5)
        before = {name: view.signal(name).copy() for name in (*REPORTED, *OWN)}
        first = plugin.score(REQUESTS[1], view).copy()
        assert np.array_equal(plugin.score(REQUESTS[1], view), first, equal_nan=True)
        for name, row in before.items():
            assert np.array_equal(view.signal(name), row, equal_nan=True)


@pytest.mark.parametrize("plugin", made("scorer"))
def test_scorers_name_the_signals_they_read(plugin):
    """The age of a decision is taken over these; they must exist."""
    assert set(plugin.signals) <= set(REPORTED)


@pytest.mark.parametrize("plugin", made("filter"))
def test_filters_answer_per_node_and_say_why(plugin):
    """A mask per node, or None for all; a short reason."""
    for view in views():
        for request in REQUESTS:
            keep = plugin.keep(request, view)
            assert keep is None or (keep.shape == (len(view),) and keep.dtype == np.bool_)
            assert 0 < len(plugin.reason(request)) < 100


@pytest.mark.parametrize("plugin", made("filter"))
def test_a_node_without_signals_is_kept_unless_it_says_what_it_is(plugin):
    """Nothing reported is no ground for exclusion."""
    view = View(Fleet([Node("fresh")]), NOW)
    assert plugin.keep(Request(), view) is None


@pytest.mark.parametrize("plugin", made("weight"))
def test_weights_lie_in_0_to_1(plugin):
    """A weight per candidate, in [0, 1] whenever the signals are sane."""
    for view in views():
        sane = not any((view.signal(name) < 0).any() for name in REPORTED)
        for request in REQUESTS:
            weights = plugin.weights(request, view)
            assert weights.shape == (len(view),)
            if sane:
                assert ((weights >= 0) & (weights <= 1)).all()


TOTALS = {
    "one": [0.4],
    "two equal": [0.5, 0.5],
    "all zero": [0.0, 0.0, 0.0, 0.0],
    "ties below": [0.9, 0.3, 0.3, 0.1, 0.3],
    "ties on top": [0.2, 0.8, 0.8, 0.8, 0.1],
    "spread": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
    "with zero": [0.0, 0.7, 0.0, 0.2],
}


@pytest.mark.parametrize(
    "plugin",
    [
        *made("picker"),
        *(pytest.param(REGISTRY["picker"]["weighted_random"](by="weight", sharpness=3.0), id="by weight"),),
    ],
)
@pytest.mark.parametrize("totals", TOTALS.values(), ids=TOTALS)
@pytest.mark.parametrize("rng", [random.Random(5), np.random.default_rng(5)], ids=["random", "numpy"])
def test_propensity_is_exact(plugin, totals, rng):
    """Probabilities sum to 1, a pick states its own, and draws come out in that frequency."""
    totals = np.array(totals)
    weights = totals[::-1].copy()
    probabilities = plugin.probabilities(totals, weights)
    assert probabilities.sum() == pytest.approx(1.0)
    draws = 1_500
    counts = np.zeros(len(totals))
    for _ in range(draws):
        pick = plugin.pick(totals, weights, rng)
        counts[pick.index] += 1
        assert abs(pick.propensity - probabilities[pick.index]) < 1e-12
        assert pick.tie_count == np.count_nonzero(abs(totals - totals[pick.index]) < 1e-12)
    deviation = np.abs(counts / draws - probabilities)
    assert (deviation <= 5 * np.sqrt(probabilities * (1 - probabilities) / draws) + 1e-12).all()


@pytest.mark.parametrize("plugin", made("picker"))
def test_last_draw_stays_inside(plugin):
    """A draw just below 1 picks a candidate that can be picked."""

    class Edge:
        def random(self):
            return float(np.nextafter(1.0, 0.0))

    for totals in TOTALS.values():
        pick = plugin.pick(np.array(totals), np.array(totals), Edge())
        assert isinstance(pick, Pick)
        assert 0 <= pick.index < len(totals)
        assert pick.propensity > 0


@pytest.mark.parametrize("plugin", made("confidence"))
def test_confidence_rises_with_the_margin(plugin):
    """In [0, 1], monotone in the margin, 1 without another candidate."""
    margins = [-1e9, -1.0, -0.1, 0.0, 1e-6, 0.05, 0.3, 1.0, 1e9]
    values = [plugin.confidence(Standing(m, 1.0, 2, 1)) for m in margins]
    assert values == sorted(values)
    assert min(values) >= 0
    assert max(values) <= 1
    assert plugin.confidence(Standing(None, 1.0, 1, 1)) == 1.0
