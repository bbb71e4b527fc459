"""The native dialect: which spans make decisions, in which forms, and what breaks one."""

import json
import math

import pytest

from collector.adapters.registry import adapt
from collector.decode import Encoding, decode_traces


@pytest.fixture
def adapted(make_request):
    def run(**attributes):
        request = make_request(1, **attributes)
        return adapt(decode_traces(request.SerializeToString(), Encoding.PROTOBUF).batch)

    return run


def decision(**more):
    return {"decision__node": "node-1", "weight": 0.5} | more


FULL = {
    "decision.node": "b",
    "weight": 0.75,
    "confidence": 0.5,
    "decision.policy.name": "p",
    "decision.policy.version": "3",
    "decision.policy.fingerprint": "f00",
    "decision.strategy": "argmax",
    "decision.reason": "lowest latency",
    "decision.candidates": ["b", "a"],
    "decision.candidate.weights": [0.75, 0.25],
    "decision.candidate.scores": [2.0, 1.0],
    "decision.candidates.total": 70,
    "decision.scorer.names": ["x", "y", "z"],
    "decision.scorer.weights": [1.0, 2.0, 3.0],
    "decision.scorer.scores": "[[1,0.5,0],[0,0.25,1]]",
    "decision.filtered": ["c"],
    "decision.filter.reasons": ["full"],
    "decision.margin": 0.1,
    "decision.tie_count": 1,
    "decision.propensity": 0.9,
    "decision.signal_age_ms": 12.5,
    "decision.outcome": "ok",
    "decision.outcome.latency_ms": 30,
    "feature_flag.key": "exp",
    "feature_flag.result.variant": "b",
    "tenant.id": "t",
    "gen_ai.request.model": "m",
    "decision.schema": 1,
}


def test_a_full_decision_fills_every_column(adapted):
    """Each attribute of the table reaches its own column."""
    found = adapted(**FULL)
    row = {name: getattr(found.decisions, name)[0] for name in found.decisions.__dataclass_fields__}
    detail = row.pop("detail")
    assert row == {
        "span_index": 0,
        "decision_key": (1).to_bytes(16, "big") + (1).to_bytes(8, "big"),
        "policy": "p",
        "policy_version": "3",
        "policy_fingerprint": "f00",
        "node": "b",
        "weight": 0.75,
        "confidence": 0.5,
        "strategy": "argmax",
        "reason": "lowest latency",
        "candidates_total": 70,
        "margin": 0.1,
        "tie_count": 1,
        "propensity": 0.9,
        "signal_age_ms": 12.5,
        "outcome": "ok",
        "outcome_latency_ms": 30.0,
        "tenant": "t",
        "model": "m",
        "experiment": "exp",
        "variant": "b",
        "inferred": False,
    }
    assert detail.candidates == ("b", "a")
    assert detail.weights == (0.75, 0.25)
    assert detail.scores == (2.0, 1.0)
    assert detail.scorer_names == ("x", "y", "z")
    assert detail.scorer_weights == (1.0, 2.0, 3.0)
    assert detail.scorer_scores == ((1.0, 0.5, 0.0), (0.0, 0.25, 1.0))
    assert (detail.filtered, detail.filter_reasons) == (("c",), ("full",))
    assert not found.warnings


def test_a_bare_decision_has_defaults(adapted):
    """Node and weight are enough; what is missing is None and the policy is the default one."""
    found = adapted(**decision())
    assert found.decisions.policy == ["default"]
    assert found.decisions.confidence == found.decisions.detail == found.decisions.candidates_total == [None]
    assert not found.warnings


def test_aliases_are_accepted(adapted):
    """Other spellings of weight, confidence and policy count the same."""
    found = adapted(decision__node="n", decision__weight=2, decision__confidence=1, decision__policy="q")
    assert (found.decisions.weight, found.decisions.confidence, found.decisions.policy) == (
        [2.0],
        [1.0],
        ["q"],
    )


@pytest.mark.parametrize(
    ("given", "weights", "scores"),
    [
        (["a", "b"], (), ()),
        ('["a", "b"]', (), ()),
        ({"a": 0.6, "b": 0.4}, (0.6, 0.4), ()),
        (
            {"a": {"weight": 0.6, "score": 1}, "b": {"weight": 0.4, "score": 2, "node": "x"}},
            (0.6, 0.4),
            (1.0, 2.0),
        ),
        ([{"node": "a", "weight": 1}, {"name": "b", "weight": 2}], (1.0, 2.0), ()),
        ('{"a": 0.6, "b": 0.4}', (0.6, 0.4), ()),
        ('[{"node": "a", "score": 1}, {"node": "b", "score": 2}]', (), (1.0, 2.0)),
    ],
)
def test_candidates_come_in_several_forms(adapted, given, weights, scores):
    """String arrays, maps, lists of maps, and JSON of these mean the same."""
    found = adapted(**decision(decision__candidates=given))
    (detail,) = found.decisions.detail
    assert (detail.candidates, detail.weights, detail.scores) == (("a", "b"), weights, scores)
    assert found.decisions.candidates_total == [2]
    assert not found.warnings


def test_a_number_of_candidates_is_the_total(adapted):
    """``decision.candidates`` as an int says how many there were."""
    found = adapted(**decision(decision__candidates=12))
    assert (found.decisions.candidates_total, found.decisions.detail) == ([12], [None])


def test_a_score_matrix_may_be_an_array_of_arrays(adapted):
    """Nested OTLP arrays serve as well as JSON text."""
    more = {
        "decision.candidates": ["a", "b"],
        "decision.scorer.names": ["s"],
        "decision.scorer.scores": [[1.0], [0.5]],
    }
    (detail,) = adapted(**decision(**more)).decisions.detail
    assert detail.scorer_scores == ((1.0,), (0.5,))


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"weight": math.nan}, "weight is not finite"),
        ({"weight": -math.inf}, "weight is not finite"),
        ({"weight": "heavy"}, "weight is not a number"),
        ({"weight": True}, "weight is not a number"),
        ({"confidence": 1.5}, "confidence outside 0..1"),
        ({"confidence": math.nan}, "confidence is not finite"),
        ({"decision.node": ""}, "decision.node is empty"),
        ({"decision.node": ["a"]}, "decision.node is not a string"),
        ({"decision.node": b"a"}, "decision.node is not a string"),
        ({"decision.schema": 2}, "unknown decision.schema"),
        ({"decision.schema": "new"}, "unknown decision.schema"),
        ({"decision.id": "x" * 600}, "decision.id longer than 512 bytes"),
        (
            {"decision.candidates": ["a"], "decision.candidate.weights": [1.0, 2.0]},
            "arrays of unequal length",
        ),
        ({"decision.candidate.scores": [1.0]}, "arrays of unequal length"),
        ({"decision.scorer.names": ["a"], "decision.scorer.weights": [1.0, 2.0]}, "arrays of unequal length"),
        (
            {
                "decision.candidates": ["a"],
                "decision.scorer.names": ["s"],
                "decision.scorer.scores": "[[1,2]]",
            },
            "arrays of unequal length",
        ),
        ({"decision.filtered": ["a"], "decision.filter.reasons": ["x", "y"]}, "arrays of unequal length"),
        (
            {"decision.candidates": ["a"], "decision.candidate.weights": [math.nan]},
            "decision.candidate.weights is not finite",
        ),
        ({"decision.candidates": "[broken"}, "decision.candidates is not JSON"),
        ({"decision.candidates": "a,b"}, "decision.candidates is not a list"),
        ({"decision.candidates": ["a", {"node": "b"}]}, "decision.candidates mixes names and maps"),
        ({"decision.candidates": {"a": 1, "b": {"score": 2}}}, "decision.candidates has a gap"),
        ({"decision.candidates": ["a", ""]}, "decision.candidates has an empty name"),
        (
            {"decision.candidates": ["a"], "decision.scorer.scores": "[1]"},
            "decision.scorer.scores is not a matrix",
        ),
        (
            {
                "decision.candidates": ["a"],
                "decision.scorer.names": ["s"],
                "decision.scorer.scores": "[[null]]",
            },
            "decision.scorer.scores has a gap",
        ),
        (
            {
                "decision.candidates": ["a"],
                "decision.scorer.names": ["s"],
                "decision.scorer.scores": "[[true]]",
            },
            "decision.scorer.scores is not a number",
        ),
    ],
)
def test_a_broken_decision_is_counted_and_not_made(adapted, more, reason):
    """The span stays a plain one; the reason is counted for its source."""
    found = adapted(**{"decision.node": "node-1", "weight": 0.5} | more)
    assert len(found.decisions) == 0
    assert found.warnings == {("shop", reason): 1}


def test_a_decision_without_a_weight_is_broken(adapted):
    """The weight is required."""
    found = adapted(decision__node="a")
    assert (len(found.decisions), dict(found.warnings)) == (0, {("shop", "weight missing"): 1})


@pytest.mark.parametrize(
    ("key", "value", "column", "reason"),
    [
        ("decision.margin", "wide", "margin", "decision.margin is not a number"),
        ("decision.propensity", 1.5, "propensity", "decision.propensity outside 0..1"),
        ("decision.tie_count", -1, "tie_count", "decision.tie_count is not a count"),
        ("decision.tie_count", 1.5, "tie_count", "decision.tie_count is not a count"),
        ("decision.outcome", "great", "outcome", "unknown decision.outcome"),
        (
            "decision.outcome.latency_ms",
            math.inf,
            "outcome_latency_ms",
            "decision.outcome.latency_ms is not finite",
        ),
        ("tenant.id", ["a"], "tenant", "tenant.id is not a string"),
    ],
)
def test_a_lesser_field_of_the_wrong_type_costs_only_itself(adapted, key, value, column, reason):
    """The decision is made without that field, and the source is told."""
    found = adapted(**decision(**{key: value}))
    assert getattr(found.decisions, column) == [None]
    assert found.warnings == {("shop", reason): 1}


@pytest.mark.parametrize(("node", "name"), [(7, "7"), (1.5, "1.5"), (True, "True"), ("<b>\x00ü", "<b>\x00ü")])
def test_nodes_that_are_no_strings_are_written_out(adapted, node, name):
    """Numbers make a node name; hostile text stays text."""
    assert adapted(**decision(decision__node=node)).decisions.node == [name]


def test_long_names_are_cut_and_counted(adapted):
    """Node names are bounded to 4 KiB."""
    found = adapted(**decision(decision__node="n" * 5000))
    assert found.decisions.node == ["n" * 4096]
    assert found.warnings == {("shop", "decision.node longer than 4096 bytes: cut"): 1}


def test_very_many_candidates_are_cut_and_counted(adapted):
    """At most 1,024 candidates of one decision keep a weight series."""
    names = [f"n{i}" for i in range(1500)]
    found = adapted(
        **decision(decision__candidates=names, **{"decision.candidate.weights": json.dumps([1.0] * 1500)})
    )
    (detail,) = found.decisions.detail
    assert len(detail.candidates) == len(detail.weights) == 1024
    assert found.decisions.candidates_total == [1500]
    assert found.warnings == {("shop", "more than 1024 candidates: cut"): 1}


DEFAULT_ID = f"{'0' * 31}7/{'0' * 15}9"


@pytest.mark.parametrize(
    ("given", "key"),
    [
        (DEFAULT_ID, (7).to_bytes(16, "big") + (9).to_bytes(8, "big")),
        ("order-12", b"order-12"),
        (12, b"12"),
        ("g" * 32 + "/" + "0" * 16, b"g" * 32 + b"/" + b"0" * 16),
    ],
)
def test_decision_ids_of_the_default_form_become_raw_keys(adapted, given, key):
    """An id in the form of trace id and span id names that span; any other is its own text."""
    assert adapted(**decision(decision__id=given)).decisions.decision_key == [key]


def test_an_outcome_on_another_span_is_an_outcome(adapted):
    """With decision.id and decision.outcome but no node, the span resolves a decision elsewhere."""
    found = adapted(
        decision__id=DEFAULT_ID,
        decision__outcome="error",
        decision__outcome__latency_ms=12,
        feature_flag__key="e",
        feature_flag__result__variant="a",
    )
    outcomes = found.outcomes
    assert len(found.decisions) == 0
    assert outcomes.decision_key == [(7).to_bytes(16, "big") + (9).to_bytes(8, "big")]
    assert (outcomes.outcome, outcomes.outcome_latency_ms) == (["error"], [12.0])
    assert (outcomes.experiment, outcomes.variant) == (["e"], ["a"])


def test_an_unknown_outcome_is_counted(adapted):
    """Outcomes have three values; others resolve nothing."""
    found = adapted(decision__id="x", decision__outcome="maybe")
    assert (len(found.outcomes), dict(found.warnings)) == (0, {("shop", "unknown decision.outcome"): 1})


def test_other_spans_are_left_alone(adapted):
    """A span without these attributes is neither claimed nor warned of."""
    found = adapted(weight=1.0, confidence=0.5, decision__outcome="ok")
    assert (len(found.decisions), len(found.outcomes), found.claimed, dict(found.warnings)) == (
        0,
        0,
        set(),
        {},
    )
