"""Roll-ups against a brute-force count of what was sent."""

import shutil
from collections import defaultdict
from statistics import fmean, variance

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from storage.database import Database
from storage.queries import Reader
from storage.records import CandidateDetail, TimeRange
from storage.writer import Writer

ALL = TimeRange(0, 2**62)
NODES = ["a", "b", "c"]

weights = st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.5])
details = st.none() | st.lists(st.tuples(st.sampled_from(NODES), weights), max_size=4).map(
    lambda pairs: CandidateDetail(candidates=tuple(n for n, _ in pairs), weights=tuple(w for _, w in pairs))
)
decisions = st.fixed_dictionaries(
    {
        "span": st.integers(1, 25),
        "offset": st.integers(0, 3_000).map(lambda ms: ms * 1_000_000),
        "service": st.sampled_from(["s", "t"]),
        "node": st.sampled_from(NODES),
        "weight": st.none() | weights,
        "confidence": st.none() | st.sampled_from([0.0, 0.5, 1.0]),
        "detail": details,
        "outcome": st.sampled_from([None, "ok", "error", "dropped"]),
        "latency_ms": st.none() | st.sampled_from([1.0, 2.5, 40.0]),
        "variant": st.sampled_from([None, "x", "y"]),
        "adjusted": st.sampled_from([1.0, 10.0, float("nan")]),
    }
)


# Every example opens a store, so a failing one is not shrunk: that would outlast the time limit.
@settings(max_examples=40, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(calls=st.lists(st.lists(st.lists(decisions, max_size=6), max_size=2), max_size=4))
def test_roll_ups_equal_a_brute_force_count(kit, empty_store, tmp_path_factory, calls):
    """However decisions are cut into calls, batches and repeats, the roll-ups are exact."""
    path = tmp_path_factory.mktemp("rollup") / "w.db"
    shutil.copy(empty_store, path)
    database = Database(f"sqlite:///{path}", synchronous="NORMAL")
    writer, reader = Writer(database, kit.Clock(kit.START + 10 * kit.NANO)), Reader(database)
    said, first = [], {}
    for call in calls:
        batches = [[make(kit, values) for values in batch] for batch in call]
        writer.write([kit.batch_of(batch) for batch in batches])
        for one in (one for batch in batches for one in batch):
            if one.span not in first:
                first[one.span] = one
                said.append(one)
    check_seconds(kit, said, reader)
    check_newest(said, reader)
    check_experiments(said, reader)
    database.dispose()


def make(kit, values):
    values = dict(values)
    return kit.Said(
        end=kit.START + values.pop("offset"), experiment="e" if values["variant"] else None, **values
    )


def mentions(one):
    """Node and weight of each mention, as the roll-up defines it."""
    listed = list(zip(one.detail.candidates, one.detail.weights, strict=True)) if one.detail else []
    found = [(n, one.weight if n == one.node and one.weight is not None else w) for n, w in listed]
    if one.weight is not None and one.node not in [n for n, _ in listed]:
        found.append((one.node, one.weight))
    return found


def check_seconds(kit, said, reader):
    expected = defaultdict(lambda: {"weights": [], "chosen": 0, "adjusted": 0.0, "confidence": []})
    for one in said:
        second = one.end // kit.NANO
        for node, weight in mentions(one):
            expected[second, one.service, node]["weights"].append((one.end, weight))
        mine = expected[second, one.service, one.node]
        mine["chosen"] += 1
        mine["adjusted"] += one.adjusted
        mine["confidence"] += [] if one.confidence is None else [one.confidence]
    found = {(p.second, p.service, p.node): p for p in reader.weight_history(ALL)}
    assert set(found) == {key for key, e in expected.items() if e["weights"]}
    for key, point in found.items():
        e = expected[key]
        values = [w for _, w in e["weights"]]
        assert (point.observations, point.chosen) == (len(values), e["chosen"])
        assert point.weight_mean == pytest.approx(fmean(values))
        assert (point.weight_min, point.weight_max) == (min(values), max(values))
        latest = max(t for t, _ in e["weights"])
        assert point.weight_last in [w for t, w in e["weights"] if t == latest]
        assert point.adjusted == (None if e["adjusted"] != e["adjusted"] else e["adjusted"])
        assert point.confidence_mean == (pytest.approx(fmean(e["confidence"])) if e["confidence"] else None)


def check_newest(said, reader):
    latest = {}
    for one in said:
        for node, weight in mentions(one):
            key = (one.service, node)
            if key not in latest or one.end > latest[key][0]:
                latest[key] = (one.end, {weight})
            elif one.end == latest[key][0]:
                latest[key][1].add(weight)
    found = {(s.service, s.node): s for s in reader.weights()}
    assert set(found) == set(latest)
    for key, sample in found.items():
        assert sample.time_unix_nano == latest[key][0]
        assert sample.weight in latest[key][1]


def check_experiments(said, reader):
    arms = {arm.variant: arm for experiment in reader.experiments() for arm in experiment.arms}
    assert set(arms) == {one.variant for one in said if one.variant}
    for variant, arm in arms.items():
        mine = [one for one in said if one.variant == variant]
        told = [one for one in mine if one.outcome]
        ok = [one.latency_ms for one in told if one.outcome == "ok" and one.latency_ms is not None]
        assert arm.exposures == len(mine)
        assert (arm.outcomes, arm.errors) == (len(told), sum(one.outcome != "ok" for one in told))
        assert arm.latencies == len(ok)
        assert arm.latency_mean_ms == (pytest.approx(fmean(ok)) if ok else None)
        assert arm.latency_variance_ms2 == (pytest.approx(variance(ok), abs=1e-6) if len(ok) > 1 else None)


def test_scores_of_the_newest_mention_are_kept_by_scorer(kit, writer, reader):
    """A series tells the total score and each scorer's score and weight of its last decision."""
    detail = CandidateDetail(
        candidates=("a", "b"),
        weights=(0.5, 0.25),
        scores=(0.9, 0.1),
        scorer_names=("queue", "cache"),
        scorer_weights=(2.0, 1.0),
        scorer_scores=((0.75, 0.5), (0.125, float("nan"))),
    )
    writer.write([kit.batch_of([kit.Said(node="a", weight=0.5, detail=detail)])])
    a, b = sorted(reader.weights(), key=lambda s: s.node)
    assert (a.weight, a.score, a.scores) == (0.5, 0.9, {"queue": 0.75, "cache": 0.5})
    assert (b.weight, b.score, b.scores) == (0.25, 0.1, {"queue": 0.125})
    assert a.scorer_weights == b.scorer_weights == {"queue": 2.0, "cache": 1.0}


def test_changes_grow_over_all_series(kit, writer, reader):
    """A reader that remembers the highest change gets only what was updated since."""
    writer.write([kit.batch_of([kit.Said(span=1, node="a"), kit.Said(span=2, node="b")])])
    seen = max(s.change for s in reader.weights())
    assert reader.weights(changed_after=seen) == ()
    writer.write([kit.batch_of([kit.Said(span=3, node="a", weight=2.0, end=kit.START + 1)])])
    (changed,) = reader.weights(changed_after=seen)
    assert (changed.node, changed.weight) == ("a", 2.0)
    assert changed.change > seen


def test_a_late_mention_does_not_replace_a_newer_one(kit, writer, reader):
    """What arrives late but happened before leaves the newest value alone."""
    writer.write([kit.batch_of([kit.Said(span=1, node="a", weight=2.0, end=kit.START)])])
    writer.write([kit.batch_of([kit.Said(span=2, node="a", weight=1.0, end=kit.START - kit.NANO)])])
    assert [s.weight for s in reader.weights()] == [2.0]


def test_a_wrong_clock_in_the_future_does_not_freeze_a_series(kit, writer, reader):
    """A value stamped ahead of the store's clock is replaced by the next, whatever its time."""
    writer.write([kit.batch_of([kit.Said(span=1, node="a", weight=9.0, end=kit.START + 3600 * kit.NANO)])])
    writer.write([kit.batch_of([kit.Said(span=2, node="a", weight=1.0, end=kit.START)])])
    assert [s.weight for s in reader.weights()] == [1.0]


def test_weights_that_are_not_finite_count_for_nothing(kit, writer, reader):
    """NaN and infinity in a candidate list do not reach the averages."""
    detail = CandidateDetail(candidates=("a", "b", "c"), weights=(1.0, float("nan"), float("inf")))
    writer.write([kit.batch_of([kit.Said(node="a", weight=1.0, detail=detail)])])
    assert [p.node for p in reader.weight_history(ALL)] == ["a"]
