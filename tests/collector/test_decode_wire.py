"""Spans read off the wire together are the spans the library reads field by field."""

import dataclasses
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1 import trace_pb2

from collector.columns import SpanColumns
from collector.decode_protobuf import fill_by_field
from collector.decode_wire import fill_from_wire
from collector.wire_groups import Group
from storage.records import Resource, Scope

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["é" * 70, "x" * 127, "x" * 128, "\0", "x" * 20_000]
)
SCALARS = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.sampled_from([0, -1, 127, 128, 2**63 - 1, -(2**63)])
    | st.floats(width=64)
    | TEXT
)
VALUES = SCALARS | st.none() | st.binary(max_size=4) | st.lists(SCALARS, max_size=3)
PAIRS = st.lists(st.tuples(TEXT, VALUES), max_size=4)
IDS = st.binary(min_size=16, max_size=16).filter(any)


def fill_value(any_value, value):
    """Set an AnyValue; None leaves it without a kind."""
    match value:
        case bool():
            any_value.bool_value = value
        case int():
            any_value.int_value = value
        case float():
            any_value.double_value = value
        case str():
            any_value.string_value = value
        case bytes():
            any_value.bytes_value = value
        case list():
            any_value.array_value.SetInParent()
            for inner in value:
                fill_value(any_value.array_value.values.add(), inner)


@st.composite
def spans(draw):
    """Spans whose attributes mostly share their keys, with anything a span may hold."""
    common = draw(PAIRS)
    made = []
    for _ in range(draw(st.integers(1, 4))):
        span = trace_pb2.Span(
            trace_id=draw(IDS | st.sampled_from([b"", bytes(16), b"\1" * 15])) if made else draw(IDS),
            span_id=draw(IDS)[:8] or b"\1" * 8,
            parent_span_id=draw(st.sampled_from([b"", b"\2" * 8, bytes(8)])),
            name=draw(TEXT),
            kind=draw(st.sampled_from([0, 1, 5, 7, 128, -1])),
            start_time_unix_nano=draw(st.sampled_from([0, 1, 2**63 - 1, 2**63])),
            end_time_unix_nano=draw(st.sampled_from([0, 5, 2**63 - 1])),
            trace_state=draw(st.sampled_from(["", "ot=th:8", "é"])),
            flags=draw(st.sampled_from([0, 1, 2**32 - 1])),
        )
        for key, value in draw(st.just(common) | PAIRS):
            pair = span.attributes.add(key=key)
            if value is not None or draw(st.booleans()):
                pair.value.SetInParent()
            fill_value(pair.value, value)
        if draw(st.booleans()):
            span.status.SetInParent()
        if draw(st.integers(0, 3)) == 0:
            span.status.code, span.status.message = 2, draw(TEXT)
            span.events.add(name="e", time_unix_nano=1)
            span.links.add(trace_id=b"\1" * 16)
            span.dropped_attributes_count = 3
        if draw(st.integers(0, 3)) == 0:
            span.MergeFromString(b"\xba\x06\x03abc")  # a field this program does not know
        made.append(span)
    return made


def closed(fill, messages):
    """The batch, with everything comparable, that one way of reading gives."""
    columns = SpanColumns()
    taken = fill(columns, Group(0, 0, messages), messages)
    rejects = dict(columns.rejects)
    odd, rows = set(columns.odd), list(columns.attributes)
    batch = columns.close((Resource("s", ""),), (Scope(""),))
    fields = {f.name: getattr(batch, f.name) for f in dataclasses.fields(batch) if f.name != "attributes"}
    told = {
        name: value.to_list()
        if hasattr(value, "to_list")
        else repr(getattr(value, "tolist", lambda v=value: v)())
        for name, value in fields.items()
    }
    return taken, (
        told,
        rejects,
        odd,
        repr(rows),
        [list(row) for row in rows],
        list(batch.attributes.encoded()),
    )


@settings(
    max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(spans())
def test_the_wire_reads_as_the_library_does_or_declines(messages):
    """Every column, every type and every mark is the same; what is declined leaves nothing behind."""
    taken, wire = closed(fill_from_wire, messages)
    _, fields = closed(fill_by_field, messages)
    if taken:
        assert wire == fields
    else:
        assert wire[0]["name"] == []
        assert (wire[2], wire[4]) == (set(), [])


PLAIN = [
    [
        ("decision.node", "n"),
        ("weight", 0.5),
        ("n", -1),
        ("ok", True),
        ("no", False),
        ("text", "é"),
        ("none", None),
    ],
    [],
    [("", ""), ("list", [1, 2.0]), ("raw", b"\0"), ("inf", math.inf)],
    [("same", 1), ("same", 2)],
]


@pytest.mark.parametrize("pairs", [PLAIN[:1] * 3, PLAIN, PLAIN[1:2], PLAIN[::-1]])
@pytest.mark.parametrize("parent", [b"", b"\2" * 8])
def test_what_senders_usually_write_is_read_off_the_wire(pairs, parent):
    """Neither an odd attribute nor events, links or a status make many spans take the slow way."""
    messages = []
    for index, attributes in enumerate(pairs):
        span = trace_pb2.Span(
            trace_id=b"\1" * 16, span_id=b"\xff" * 8, parent_span_id=parent, name=f"s{index}"
        )
        for key, value in attributes:
            fill_value(span.attributes.add(key=key).value, value)
        span.status.SetInParent()
        span.flags = 257
        messages.append(span)
    messages[0].status.message = "broke"
    messages[0].events.add(name="e")
    taken, wire = closed(fill_from_wire, messages)
    assert taken is True
    assert wire == closed(fill_by_field, messages)[1]


def test_spans_that_must_be_rejected_are_left_to_the_library():
    """A zero id or a time beyond int64 makes the wire reader decline all, so that each is counted."""
    good = {"trace_id": b"\1" * 16, "span_id": b"\1" * 8}
    for bad in (
        {"trace_id": bytes(16)},
        {"span_id": b"\1" * 9},
        {"end_time_unix_nano": 2**63},
        {"parent_span_id": b"1"},
    ):
        messages = [trace_pb2.Span(**good), trace_pb2.Span(**good | bad)]
        assert closed(fill_from_wire, messages)[0] is False
