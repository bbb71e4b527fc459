"""Column by column or value by value: the native dialect reads the same."""

import math
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.adapters import native, native_columns
from collector.adapters.adaptation import Adaptation
from collector.attributes import RowAttributes
from collector.columns import SpanColumns
from engine import semconv
from storage.records import DecisionColumns, Resource, Scope

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([0, 1, 2, -1, 2**53, 2**53 + 1]),
    st.floats(),
    st.sampled_from([0.0, 1.0, 0.5, -0.0, 1.5, math.nan, math.inf]),
    st.sampled_from(["", "a", "ok", "1", "2", "x" * 2000, "é" * 1500, "y" * 5000, "0" * 32 + "/" + "a" * 16]),
    st.binary(max_size=3),
)
ODD = st.one_of(
    SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(st.text(max_size=3), SCALARS, max_size=2)
)
TEXTS = st.sampled_from(["a", "b", "node"])
UNITS = st.floats(0, 1)
COUNTS = st.integers(0, 100)
PLAIN = {
    semconv.DECISION_NODE: TEXTS,
    semconv.WEIGHT: st.floats(-10, 10),
    semconv.WEIGHT_ALIAS: st.floats(-10, 10),
    semconv.CONFIDENCE: UNITS,
    semconv.CONFIDENCE_ALIAS: UNITS,
    semconv.POLICY_NAME: TEXTS,
    native_columns.POLICY_ALIAS: TEXTS,
    semconv.POLICY_VERSION: TEXTS,
    semconv.POLICY_FINGERPRINT: TEXTS,
    semconv.STRATEGY: TEXTS,
    semconv.REASON: TEXTS,
    semconv.MARGIN: UNITS,
    semconv.TIE_COUNT: COUNTS,
    semconv.PROPENSITY: UNITS,
    semconv.SIGNAL_AGE_MS: UNITS,
    semconv.OUTCOME: st.sampled_from(semconv.OUTCOMES),
    semconv.OUTCOME_LATENCY_MS: UNITS,
    semconv.TENANT_ID: TEXTS,
    semconv.REQUEST_MODEL: TEXTS,
    semconv.FEATURE_FLAG_KEY: TEXTS,
    semconv.FEATURE_FLAG_VARIANT: TEXTS,
    semconv.DECISION_ID: st.sampled_from(["own", "0" * 32 + "/" + "a" * 16]),
    semconv.DECISION_SCHEMA: st.sampled_from([1, "1"]),
    semconv.CANDIDATES_TOTAL: COUNTS,
    semconv.CANDIDATES: st.sampled_from([["a", "b"], '["a","b"]', {"a": 0.5}, 7, "["]),
    semconv.CANDIDATE_WEIGHTS: st.sampled_from([[0.5, 0.5], [0.5], "[1,2]"]),
    semconv.FILTERED: st.sampled_from([["c"], "c"]),
}


@st.composite
def rows(draw):
    """Rows that share their keys, as those of one source do, with something odd in few places."""
    always = draw(st.sets(st.sampled_from([*PLAIN])))
    made = []
    for _ in range(draw(st.integers(0, 5))):
        row = {key: draw(PLAIN[key]) for key in always}
        if draw(st.integers(0, 3)):
            row |= {semconv.DECISION_NODE: "n", semconv.WEIGHT: 1.0}
        for key in draw(st.sets(st.sampled_from([*PLAIN]), max_size=2)):
            row[key] = draw(ODD)
        made.append(row)
    return made


def batch_of(attributes):
    columns = SpanColumns()
    for index in range(len(attributes)):
        columns.trace_id.append((index + 1).to_bytes(16, "big"))
        columns.span_id.append((index + 1).to_bytes(8, "big"))
        columns.parent_span_id.append(b"")
        for name in ("kind", "start", "end", "status_code", "scope_index"):
            getattr(columns, name).append(0)
        columns.resource_index.append(index % 2)
        for name in ("name", "status_message", "trace_state"):
            getattr(columns, name).append("")
        columns.events.append(b"")
        columns.links.append(b"")
        columns.attributes.append(attributes[index])
    batch = columns.close((Resource("s", ""), Resource("t", "")), (Scope(""),))
    assert isinstance(batch.attributes, RowAttributes)
    return batch


def carefully(batch, claimed):
    """What reading every span value by value gives."""
    found = Adaptation(claimed=set(claimed))
    for index in range(len(batch)):
        row = batch.attributes.row(index)
        decides = row.get(semconv.DECISION_NODE) is not None
        resolves = row.get(semconv.OUTCOME) is not None and row.get(semconv.DECISION_ID) is not None
        if index not in claimed and (decides or resolves):
            found.claimed.add(index)
            native._carefully(native._decide if decides else native._resolve, batch, index, found)
    return found


@settings(max_examples=100, deadline=None)
@given(rows(), st.sets(st.integers(0, 4), max_size=1))
def test_columns_read_what_the_careful_way_reads(attributes, claimed):
    """Decisions, their types, their order and every count of what is broken are the same."""
    batch = batch_of(attributes)
    slow, fast = carefully(batch, claimed), Adaptation(claimed=set(claimed))
    native.NativeAdapter().adapt(batch, fast)
    assert repr(fast.decisions) == repr(slow.decisions)
    assert repr(fast.outcomes) == repr(slow.outcomes)
    assert (fast.warnings, fast.claimed) == (slow.warnings, slow.claimed)


@pytest.mark.parametrize("broken", [[], [0], [3], [0, 1, 2, 3], [1, 3]])
def test_broken_decisions_keep_their_place(broken):
    """A decision read the careful way stands between its neighbours, one that is lost leaves no gap."""
    batch = batch_of(
        [
            {semconv.DECISION_NODE: "n", semconv.WEIGHT: 1.0, semconv.MARGIN: "wide" if k in broken else 0.5}
            for k in range(4)
        ]
    )
    found = Adaptation()
    native.NativeAdapter().adapt(batch, found)
    assert found.decisions.span_index == [0, 1, 2, 3]
    assert found.decisions.margin == [None if k in broken else 0.5 for k in range(4)]
    assert sum(found.warnings.values()) == len(broken)


def test_one_plain_request_is_read_without_the_careful_way(monkeypatch):
    """Plain values, present or absent, never take the way that costs a call each."""
    monkeypatch.setattr(native, "_carefully", lambda *_: pytest.fail("read value by value"))
    plain = dict.fromkeys(PLAIN)
    texts = {semconv.DECISION_NODE: "n", semconv.POLICY_NAME: "p", semconv.OUTCOME: "ok"}
    numbers = {semconv.WEIGHT: 0.5, semconv.CONFIDENCE: 0.0, semconv.CANDIDATES_TOTAL: 3}
    found = Adaptation()
    native.NativeAdapter().adapt(batch_of([texts | numbers, plain | texts | numbers]), found)
    assert found.decisions.candidates_total == [3, 3]
    assert set(chain(found.decisions.confidence)) == {0.0}
    assert isinstance(found.decisions, DecisionColumns)
    assert np.allclose(found.decisions.weight, 0.5)
