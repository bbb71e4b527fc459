"""Writing: durable, whole or not at all, each span once."""

import random

import pytest
from sqlalchemy import func, select

from storage import tables
from storage.errors import StoreUnavailableError
from storage.records import AdaptedBatch, CandidateDetail, DecisionQuery, TimeRange, WriteResult
from storage.writer import Writer


def count(database, table):
    with database.read() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def test_a_write_says_what_was_new(kit, writer, reader):
    """Spans and decisions are counted apart, and both are found again."""
    result = writer.write([kit.batch_of([kit.Said(span=1, node="a"), kit.Said(span=2)])])
    assert result == [WriteResult(inserted=2, duplicated=0, decisions=1)]
    assert len(reader.decisions(DecisionQuery()).items) == 1
    assert reader.trace(kit.trace_hex(1)).total == 2


def test_a_resend_changes_nothing(kit, writer, database, reader):
    """Sending the same batch again stores nothing and counts nothing twice."""
    batch = kit.batch_of(
        [
            kit.Said(span=i, node="a", outcome="ok", latency_ms=5.0, experiment="e", variant="v")
            for i in range(1, 6)
        ]
    )
    writer.write([batch])
    before = (reader.weights(), reader.experiments(), count(database, tables.span))
    assert writer.write([batch]) == [WriteResult(0, 5, 0)]
    assert (reader.weights(), reader.experiments(), count(database, tables.span)) == before


def test_repeats_inside_one_call_are_stored_once(kit, writer, reader):
    """The first of several equal ids wins, within a batch and across the batches of one call."""
    one = kit.batch_of([kit.Said(span=1, node="a"), kit.Said(span=1, node="b"), kit.Said(span=2, node="a")])
    two = kit.batch_of([kit.Said(span=2, node="c"), kit.Said(span=3, node="a")])
    assert writer.write([one, two]) == [WriteResult(2, 1, 2), WriteResult(1, 1, 1)]
    assert [row.node for row in reader.decisions(DecisionQuery()).items] == ["a", "a", "a"]


def test_the_new_part_of_a_partly_known_batch_is_stored(kit, writer, reader):
    """A retry after a partial loss keeps what is missing and skips what is there."""
    writer.write([kit.batch_of([kit.Said(span=i, node="a") for i in range(1, 4)])])
    both = [kit.Said(span=i, node="a") for i in range(1, 8)]
    assert writer.write([kit.batch_of(both)]) == [WriteResult(4, 3, 4)]
    (point,) = reader.weight_history(TimeRange(0, 2**62))
    assert point.chosen == point.observations == 7


def test_an_empty_call_and_an_empty_batch_succeed(kit, writer):
    """Nothing to store is answered at once, in the order asked."""
    assert writer.write([]) == []
    empty = kit.batch_of([])
    assert writer.write([empty, kit.batch_of([kit.Said()]), empty]) == [
        WriteResult(0, 0, 0),
        WriteResult(1, 0, 0),
        WriteResult(0, 0, 0),
    ]


def test_a_failure_leaves_nothing_and_the_writer_usable(kit, writer, database, reader, monkeypatch):
    """An error after the spans went in takes them back, names included; the next write works."""
    batch = kit.batch_of([kit.Said(node="a")])

    def fail(*_):
        raise StoreUnavailableError("disk full")

    monkeypatch.setattr(writer, "_store_rollups", fail)
    with pytest.raises(StoreUnavailableError):
        writer.write([batch])
    monkeypatch.undo()
    assert [count(database, t) for t in (tables.span, tables.decision, tables.resource)] == [0, 0, 0]
    assert writer.write([batch]) == [WriteResult(1, 0, 1)]
    assert reader.trace(kit.trace_hex(1)).spans[0].service == "router"


def test_names_are_stored_once(kit, writer, database):
    """A thousand spans of two services need two resources and one scope."""
    rng = random.Random(1)
    said = [kit.Said(span=i, service=rng.choice(["a", "b"])) for i in range(1, 1001)]
    for start in range(0, 1000, 100):
        writer.write([kit.batch_of(said[start : start + 100])])
    assert (count(database, tables.resource), count(database, tables.scope)) == (2, 1)


def test_two_writers_on_one_file_agree(kit, writer, database, clock, reader):
    """A second writer finds ids, names and series of the first, in turns."""
    other = Writer(database, clock)
    for i in range(1, 9):
        (writer if i % 2 else other).write([kit.batch_of([kit.Said(span=i, node="a", weight=float(i))])])
    assert len(reader.decisions(DecisionQuery()).items) == 8
    assert len(reader.weights()) == 1
    assert reader.health().store.decisions == 8


@pytest.mark.parametrize("first", ["decision", "outcome"])
def test_an_outcome_may_come_before_or_after_its_decision(kit, writer, reader, first):
    """The decision shows its outcome whichever of the two spans was received first."""
    decision = kit.batch_of([kit.Said(span=1, node="a", experiment="e", variant="v")])
    outcome = kit.batch_of(
        [kit.Said(span=2, about=(1, 1), outcome="error", latency_ms=3.0, experiment="e", variant="v")]
    )
    for batch in [decision, outcome] if first == "decision" else [outcome, decision]:
        writer.write([batch])
    (row,) = reader.decisions(DecisionQuery(outcome="error")).items
    assert (row.outcome, row.outcome_latency_ms) == ("error", 3.0)
    (arm,) = reader.experiments()[0].arms
    assert (arm.exposures, arm.outcomes, arm.errors) == (1, 1, 1)


def test_the_first_outcome_of_a_decision_stands(kit, writer, reader):
    """A second outcome, on another span or on the decision itself, is neither shown nor counted."""
    told = {"experiment": "e", "variant": "v"}
    writer.write([kit.batch_of([kit.Said(span=2, about=(1, 1), outcome="ok", latency_ms=2.0, **told)])])
    writer.write([kit.batch_of([kit.Said(span=1, node="a", outcome="error", **told)])])
    writer.write([kit.batch_of([kit.Said(span=3, about=(1, 1), outcome="dropped", **told)])])
    (row,) = reader.decisions(DecisionQuery()).items
    (arm,) = reader.experiments()[0].arms
    assert (row.outcome, arm.outcomes, arm.errors, arm.latencies) == ("ok", 1, 0, 1)


def test_an_explicit_decision_id_is_kept(kit, writer, reader):
    """A decision with an id of its own is shown under it, and its outcome finds it."""
    decision = kit.batch_of([kit.Said(span=1, node="a", more={"decision_key": b"order-77"})])
    outcome = kit.batch_of([kit.Said(span=2, about=(9, 9), outcome="ok")])
    outcome.outcomes.decision_key[0] = b"order-77"
    writer.write([outcome, decision])
    row = reader.decision(kit.trace_hex(1), kit.span_hex(1)).row
    assert (row.decision_id, row.outcome) == ("order-77", "ok")


HOSTILE = [
    "<script>alert(1)</script>",
    "'; DROP TABLE span; --",
    "a\x00b",
    "\ud800",
    "%_\\",
    "\u202eevil",
    "x" * 10_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_stored_as_it_is(kit, writer, reader, text):
    """Any text goes in and comes back; what UTF-8 cannot hold comes back as a question mark."""
    detail = CandidateDetail(candidates=(text, "b"), weights=(0.5, 0.25))
    said = kit.Said(name=text, service=text, policy=text, node=text, detail=detail, attributes={text: text})
    assert writer.write([kit.batch_of([said])]) == [WriteResult(1, 0, 1)]
    kept = text.encode("utf-8", "replace").decode()
    found = reader.decision(kit.trace_hex(1), kit.span_hex(1))
    assert (found.row.service, found.row.policy, found.row.node) == (kept, kept, kept)
    assert found.detail.candidates == (kept, "b")
    assert {sample.node for sample in reader.weights()} == {kept, "b"}
    assert reader.decisions(DecisionQuery(node=kept)).items[0].node == kept


def test_numbers_beyond_64_bits_do_not_stop_the_store(kit, writer, reader):
    """An integer no database can hold is brought to the nearest it can."""
    assert writer.write([kit.batch_of([kit.Said(node="a", more={"tie_count": 10**30})])])[0].inserted == 1
    assert reader.decisions(DecisionQuery()).items[0].tie_count == 2**63 - 1


def test_the_big_arrays_are_stored_once_and_given_back(kit, writer, database, reader):
    """What the detail holds is left out of the span's attributes and put back when they are read."""
    detail = CandidateDetail(
        candidates=("a", "b"),
        weights=(0.5, 0.25),
        scores=(0.9, 0.1),
        scorer_names=("queue",),
        scorer_weights=(2.0,),
        scorer_scores=((0.75,), (0.125,)),
        filtered=("c",),
        filter_reasons=("full",),
    )
    attributes = {
        "decision.node": "a",
        "decision.candidates": ["a", "b"],
        "decision.candidate.weights": [0.5, 0.25],
        "decision.candidate.scores": [0.9, 0.1],
        "decision.scorer.names": ["queue"],
        "decision.scorer.weights": [2.0],
        "decision.scorer.scores": "[[0.75],[0.125]]",
        "decision.filtered": ["c"],
        "decision.filter.reasons": ["full"],
    }
    writer.write(
        [
            kit.batch_of(
                [
                    kit.Said(span=1, node="a", detail=detail, attributes=attributes),
                    kit.Said(span=2, attributes=attributes),
                ]
            )
        ]
    )
    with database.read() as connection:
        kept = connection.execute(select(tables.span.c.attributes).order_by(tables.span.c.id)).scalars().all()
    assert kept[0] == b'{"decision.node": "a"}'
    assert len(kept[1]) > 200  # of the second no decision was made
    spans = reader.trace(kit.trace_hex(1)).spans
    assert spans[0].attributes == spans[1].attributes == attributes
    assert reader.decision(kit.trace_hex(1), kit.span_hex(1)).detail == detail


def test_a_span_with_two_outcomes_tells_one(kit, writer, reader):
    """An adapter that reads two outcomes from one span cannot block the intake."""
    said = kit.batch_of([kit.Said(span=5, about=(1, 1), outcome="ok")])
    twice = AdaptedBatch(said.spans, said.decisions, said.outcomes)
    for name in said.outcomes.__dataclass_fields__:
        getattr(twice.outcomes, name).append(getattr(twice.outcomes, name)[0])
    twice.outcomes.decision_key[1] = b"another"
    assert writer.write([twice]) == [WriteResult(1, 0, 0)]
