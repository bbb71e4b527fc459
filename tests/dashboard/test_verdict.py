"""The sentence on a decision says what the sender stated, and no more."""

import math
from dataclasses import replace
from typing import Any

import pytest

from dashboard.verdict import judge
from storage.records import CandidateDetail, DecisionDetail, DecisionRow

ROW = DecisionRow(
    trace_id="4b" * 16,
    span_id="a1" * 8,
    decision_id="",
    time_unix_nano=1_796_090_400_000_000_000,
    duration_nano=61_000,
    service="gateway",
    instance="",
    policy="llm",
    policy_version=None,
    policy_fingerprint=None,
    node="a",
    weight=0.62,
    confidence=0.64,
    strategy="argmax",
    reason=None,
    candidates_total=None,
    margin=None,
    tie_count=None,
    propensity=None,
    signal_age_ms=None,
    outcome=None,
    outcome_latency_ms=None,
    tenant=None,
    model=None,
    experiment=None,
    variant=None,
    inferred=False,
    adjusted_count=None,
)
DETAIL = CandidateDetail(
    candidates=("a", "b", "c"),
    weights=(0.62, 0.61, 0.5),
    scores=(0.692, 0.669, 0.4),
    scorer_names=("prefix_cache", "queue_depth"),
    scorer_weights=(0.6, 0.4),
    scorer_scores=((0.92, 0.35), (0.4, 1.0725), (0.4, 0.4)),
)


def decision(row: dict[str, Any] | None = None, **detail: Any) -> DecisionDetail:
    return DecisionDetail(replace(ROW, **(row or {})), replace(DETAIL, **detail), {})


def test_a_win_names_its_margin_and_the_scorer_that_made_it() -> None:
    """The scorer with the largest advantage over the runner-up is given as the reason."""
    verdict = judge(decision())
    assert verdict.headline == "a won by 0.023, on its prefix cache"
    assert "b led on queue depth, by 0.289. Prefix cache outweighed it, by 0.312." in verdict.explanation
    assert "A narrow win: 3.3 % of the score." in verdict.explanation
    assert verdict.margin == pytest.approx(0.023)


def test_weighted_means_add_up_as_well_as_weighted_sums() -> None:
    """A scheduler that divides by the summed weights gets the same sentence."""
    verdict = judge(decision(scorer_weights=(6.0, 4.0)))
    assert verdict.standings.explains
    assert verdict.headline == "a won by 0.023, on its prefix cache"
    assert sum(part.value for part in verdict.standings.rows[0].contributions) == pytest.approx(0.692)


def test_parts_that_do_not_add_up_are_no_reason() -> None:
    """Scores that the scorers do not explain give a margin without a reason, and say so."""
    verdict = judge(decision(scorer_weights=(0.1, 0.2)))
    assert verdict.headline == "a won by 0.023"
    assert "do not add up" in verdict.explanation


def test_an_only_candidate_did_not_win() -> None:
    """One candidate has nothing to win against; those filtered out are counted."""
    alone = {"candidates": ("a",), "weights": (0.5,), "scores": (0.7,), "scorer_scores": ((0.9, 0.4),)}
    verdict = judge(decision(**alone, filtered=("b", "c"), filter_reasons=("breaker open", "no memory")))
    assert verdict.headline == "a was the only candidate"
    assert verdict.explanation == "2 other nodes were filtered out before scoring."
    assert judge(decision(**alone)).explanation == "Nothing competed with it."


def test_a_tie_is_called_one() -> None:
    """Equal scores make no winner, however many share them."""
    two = judge(decision(scores=(0.7, 0.7, 0.4), scorer_names=(), scorer_weights=(), scorer_scores=()))
    assert two.headline == "a was picked over b, tied at 0.700"
    three = judge(decision(scores=(0.7, 0.7, 0.7), scorer_names=(), scorer_weights=(), scorer_scores=()))
    assert three.headline == "a was picked out of 3 tied at 0.700"


def test_a_random_pick_of_a_lesser_node_is_not_a_win() -> None:
    """When a better score was passed over, the sentence says by how much, and that chance did it."""
    verdict = judge(decision({"node": "b", "strategy": "weighted_random", "propensity": 0.12}))
    assert verdict.headline == "b was picked, 0.023 behind a"
    assert "weighted_random picks by chance; b had a probability of 12.0 %." in verdict.explanation
    assert verdict.margin == pytest.approx(-0.023)


def test_a_lesser_node_without_chance_is_left_unexplained() -> None:
    """A deterministic or unnamed strategy that passed over the best gets no invented reason."""
    named = judge(decision({"node": "b", "strategy": "sticky"}))
    assert "The strategy sticky did not take the highest score." in named.explanation
    unnamed = judge(decision({"node": "b", "strategy": None}))
    assert "Why the highest score was not taken is unknown." in unnamed.explanation


def test_two_choices_may_never_see_the_best_node() -> None:
    """A strategy that draws a few nodes first explains a lesser one by the draw."""
    assert "drawn by chance" in judge(decision({"node": "c", "strategy": "two_choices"})).explanation


def test_without_scores_the_weights_speak() -> None:
    """Without scores there is no margin; the place by weight is given instead."""
    bare = {"scores": (), "scorer_names": (), "scorer_weights": (), "scorer_scores": ()}
    verdict = judge(decision({"node": "b"}, **bare))
    assert verdict.headline == "b was chosen with weight 0.610, number 2 of 3"
    assert verdict.explanation == "The source sent no scores, so the margin is unknown."
    assert verdict.margin is None


def test_without_candidates_nothing_is_compared() -> None:
    """A decision that names only its node says so; a stated total is kept."""
    empty = CandidateDetail()
    verdict = judge(DecisionDetail(replace(ROW, candidates_total=12), empty, {}))
    assert verdict.headline == "a was chosen of 12 candidates"
    assert "nothing to compare" in verdict.explanation
    assert judge(DecisionDetail(ROW, empty, {})).headline == "a was chosen"


def test_a_node_outside_its_own_list_is_pointed_out() -> None:
    """A chosen node that the list of candidates lacks is no winner of that list."""
    verdict = judge(decision({"node": "z"}))
    assert verdict.headline == "z was chosen, but is not among the candidates it came with"
    assert verdict.standings.chosen is None
    assert verdict.standings.rival is None


def test_candidates_are_put_in_order_whatever_order_they_came_in() -> None:
    """Standings go by score; those without one come last."""
    verdict = judge(
        decision(scores=(0.2, math.nan, 0.9), scorer_names=(), scorer_weights=(), scorer_scores=())
    )
    assert [row.node for row in verdict.standings.rows] == ["c", "a", "b"]
    assert verdict.headline == "a was picked, 0.700 behind c"


@pytest.mark.parametrize(
    "broken",
    [
        {"scores": (0.7,)},
        {"weights": ()},
        {"scorer_scores": ((0.9,), (0.1, 0.2, 0.3))},
        {"scorer_weights": (math.inf, 0.1)},
        {"scorer_scores": ((math.nan, 0.1), (0.1, 0.1), (0.1, 0.1))},
        {"scorer_weights": ()},
        {"scorer_weights": (1.0, -1.0)},
        {"filtered": ("x", "y"), "filter_reasons": ("why",)},
    ],
)
def test_lists_that_do_not_fit_each_other_still_get_a_verdict(broken: dict[str, Any]) -> None:
    """Arrays of other lengths and values that are no numbers never raise."""
    verdict = judge(decision(**broken))
    assert verdict.headline
    assert len(verdict.standings.rows) == 3


def test_the_funnel_groups_by_reason_and_counts_down() -> None:
    """Every reason takes its nodes off what was left before it."""
    verdict = judge(decision(filtered=("x", "y", "z"), filter_reasons=("breaker", "memory", "breaker")))
    assert [(s.reason, s.removed, s.remaining) for s in verdict.funnel] == [
        ("breaker", 2, 4),
        ("memory", 1, 3),
    ]


def test_hostile_names_cannot_turn_the_sentence() -> None:
    """Bidirectional marks and line breaks become visible, and long names are cut."""
    verdict = judge(decision({"node": "\u202eevil\n" + "x" * 4_000}))
    assert "\u202e" not in verdict.headline
    assert "\n" not in verdict.headline
    assert len(verdict.headline) < 160
