"""Attributes of a decision's and an outcome's span."""

import json
import random

import pytest

from engine import Node, Outcome, OutcomeKind, Request, Scheduler, build_profile, semconv
from engine.span_attributes import decision_attributes, outcome_attributes

EVERY_NAME = {
    value
    for name, value in vars(semconv).items()
    if name.isupper()
    and isinstance(value, str)
    and name
    not in {
        "SCOPE_NAME",
        "SPAN_NAME_PREFIX",
        "DEFAULT_POLICY",
        "WEIGHT_ALIAS",
        "CONFIDENCE_ALIAS",
        "OUTCOME",
        "OUTCOME_LATENCY_MS",
        "SERVICE_NAME",
        "SERVICE_INSTANCE_ID",
    }
}


def scheduler_of(size, **profile):
    return Scheduler([Node(f"n{i:03d}") for i in range(size)], build_profile(profile), rng=random.Random(4))


def test_every_attribute_of_the_contract_is_written():
    """A full decision carries every name of the table that belongs on its span."""
    scheduler = scheduler_of(4)
    scheduler.update_signals("n000", {"healthy": 0})
    for node in ("n001", "n002", "n003"):
        scheduler.update_signals(node, {"queue_depth": 1, "cpu_utilisation": 0.4})
    decision = scheduler.decide(Request(model="m", tenant="t", experiment=("key", "variant")))
    found = decision_attributes(decision, 64)
    assert set(found) == EVERY_NAME
    assert found[semconv.DECISION_ID] == f"{decision.trace_id}/{decision.span_id}"
    assert found[semconv.FILTERED] == ["n000"]
    assert found[semconv.FILTER_REASONS] == ["unhealthy"]
    assert (found[semconv.FEATURE_FLAG_KEY], found[semconv.FEATURE_FLAG_VARIANT]) == ("key", "variant")


def test_candidates_are_aligned_best_first_and_rounded():
    """Names, weights, totals and the scorer matrix share one order; six decimals."""
    scheduler = scheduler_of(5)
    for at in range(5):
        scheduler.update_signals(f"n{at:03d}", {"cpu_utilisation": 0.1234567 * (at + 1), "queue_depth": at})
    decision = scheduler.decide(Request(delta=1 / 3))
    found = decision_attributes(decision, 64)
    assert found[semconv.CANDIDATES] == [f"n{at:03d}" for at in range(5)]
    assert found[semconv.CANDIDATE_WEIGHTS] == [round(c.weight, 6) for c in decision.candidates]
    assert found[semconv.CANDIDATE_SCORES] == [round(c.total, 6) for c in decision.candidates]
    matrix = json.loads(found[semconv.SCORER_SCORES])
    assert matrix == [[round(s.value, 6) for s in c.scores] for c in decision.candidates]
    for row, total in zip(matrix, found[semconv.CANDIDATE_SCORES], strict=True):
        weighted = sum(w * s for w, s in zip(found[semconv.SCORER_WEIGHTS], row, strict=True))
        assert weighted == pytest.approx(total, abs=1e-5)


def test_a_long_list_is_cut_and_says_how_long_it_was():
    """The best are kept, the chosen one always among them."""
    scheduler = scheduler_of(100, picker="weighted_random")
    for at in range(100):
        scheduler.update_signals(f"n{at:03d}", {"queue_depth": at})
    for _ in range(50):
        decision = scheduler.decide(Request())
        found = decision_attributes(decision, 8)
        assert len(found[semconv.CANDIDATES]) == 8
        assert decision.node.name in found[semconv.CANDIDATES]
        assert found[semconv.CANDIDATES_TOTAL] == 100
        assert len(json.loads(found[semconv.SCORER_SCORES])) == 8


def test_removed_nodes_are_bounded_too():
    """Many removed nodes do not make a span without limit."""
    scheduler = scheduler_of(50)
    for at in range(1, 50):
        scheduler.update_signals(f"n{at:03d}", {"healthy": 0} if at % 2 else {"breaker_open": 1})
    found = decision_attributes(scheduler.decide(Request()), 10)
    assert len(found[semconv.FILTERED]) == len(found[semconv.FILTER_REASONS]) == 10


def test_what_is_unknown_is_left_out():
    """No null attributes: without another candidate no margin, without reports no age."""
    found = decision_attributes(scheduler_of(1).decide(Request()), 64)
    absent = {semconv.MARGIN, semconv.SIGNAL_AGE_MS, semconv.TENANT_ID, semconv.REQUEST_MODEL}
    absent |= {
        semconv.FILTERED,
        semconv.FILTER_REASONS,
        semconv.FEATURE_FLAG_KEY,
        semconv.FEATURE_FLAG_VARIANT,
    }
    assert EVERY_NAME - set(found) == absent
    assert found[semconv.REASON] == "the only candidate"


def test_reason_tells_how_it_was_chosen():
    """The best, one of equals, or a draw."""
    scheduler = scheduler_of(3)
    assert (
        decision_attributes(scheduler.decide(Request()), 9)[semconv.REASON]
        == "drawn from 3 equal totals of 3"
    )
    scheduler.update_signals("n001", {"queue_depth": 50})
    scheduler.update_signals("n002", {"queue_depth": 60})
    assert decision_attributes(scheduler.decide(Request()), 9)[semconv.REASON] == "highest total score of 3"
    drawn = scheduler_of(3, picker="two_choices").decide(Request())
    assert "of 3" in decision_attributes(drawn, 9)[semconv.REASON]


def test_callers_attributes_cannot_replace_the_engines():
    """What a caller adds stands beside, never above."""
    request = Request(attributes={"weight": 99.0, "shop": "a\ud800", "batch": True})
    decision = scheduler_of(2).decide(request)
    found = decision_attributes(decision, 64)
    assert found["weight"] == decision.weight
    assert (found["shop"], found["batch"]) == ("a?", True)


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "a\x00b", "\ud83d", "名前", "'; drop table spans; --", "x" * 5_000]
)
def test_hostile_names_are_valid_text(name):
    """Every string that goes out can be encoded as UTF-8 and is otherwise as it was."""
    scheduler = Scheduler([Node(name), Node("other")], build_profile({"name": name}))
    scheduler.update_signals("other", {"queue_depth": 90})
    decision = scheduler.decide(Request(model=name, tenant=name, experiment=(name, name)))
    for value in decision_attributes(decision, 64).values():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                text.encode("utf-8")
    assert decision_attributes(decision, 64)[semconv.DECISION_NODE] == name.replace("\ud83d", "?")


@pytest.mark.parametrize(
    ("kind", "stated"),
    [
        (OutcomeKind.OK, "ok"),
        (OutcomeKind.ERROR, "error"),
        (OutcomeKind.DROPPED, "dropped"),
        (OutcomeKind.IGNORED, None),
    ],
)
def test_outcomes_name_their_decision(kind, stated):
    """The id, the outcome in the contract's words, the latency as a double, the arm."""
    decision = scheduler_of(2).decide(Request(experiment=("key", "variant")))
    found = outcome_attributes(decision, Outcome(kind, 12, attributes={"gen_ai.usage.output_tokens": 7}))
    assert found[semconv.DECISION_ID] == decision.id
    assert found.get(semconv.OUTCOME) == stated
    assert stated is None or stated in semconv.OUTCOMES
    assert isinstance(found[semconv.OUTCOME_LATENCY_MS], float)
    assert found[semconv.FEATURE_FLAG_VARIANT] == "variant"
    assert found["gen_ai.usage.output_tokens"] == 7
    assert semconv.DECISION_NODE not in found
