"""Decoding: both encodings give the same columns, and each fault costs only what it must."""

import base64
import contextlib
import json
import math

import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

from collector.decode import Encoding, TraceReader, decode_traces
from collector.errors import InvalidRequestError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(width=64) | TEXT | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
IDS = st.sampled_from([b"", bytes(8), bytes(16), b"\x01" * 8, b"\x02" * 16, b"\x03" * 15])
TIMES = st.sampled_from([0, 1, 1_700_000_000_000_000_000, 2**63 - 1, 2**63, 2**64 - 1])


@st.composite
def spans(draw):
    return {
        "ids": (draw(IDS), draw(IDS), draw(IDS)),
        "name": draw(TEXT),
        "kind": draw(st.integers(0, 7)),
        "times": (draw(TIMES), draw(TIMES)),
        "status": (draw(st.integers(0, 3)), draw(TEXT)),
        "state": draw(st.sampled_from(["", "ot=th:8", "a=b,ot=th:c;rv:1", "ot=th:zz"])),
        "attributes": draw(st.dictionaries(TEXT, VALUES, max_size=4)),
        "event": draw(st.none() | st.dictionaries(TEXT, VALUES, max_size=2)),
        "link": draw(st.none() | st.dictionaries(TEXT, VALUES, max_size=2)),
    }


def build(items, set_value):
    request = trace_service_pb2.ExportTraceServiceRequest()
    for service in ("one", None):
        resource_spans = request.resource_spans.add()
        if service:
            set_value(resource_spans.resource.attributes.add(key="service.name").value, service)
        scope_spans = resource_spans.scope_spans.add()
        scope_spans.scope.name, scope_spans.scope.version = "scope", "1"
        for item in items:
            trace_id, span_id, parent = item["ids"]
            span = scope_spans.spans.add(
                trace_id=trace_id,
                span_id=span_id,
                parent_span_id=parent,
                name=item["name"],
                kind=item["kind"],
                start_time_unix_nano=item["times"][0],
                end_time_unix_nano=item["times"][1],
                trace_state=item["state"],
            )
            span.status.code, span.status.message = item["status"]
            owners = [(span, item["attributes"])]
            if item["event"] is not None:
                owners.append((span.events.add(name="e", time_unix_nano=item["times"][0]), item["event"]))
            if item["link"] is not None:
                owners.append((span.links.add(trace_id=b"\x05" * 16, span_id=b"\x06" * 8), item["link"]))
            for owner, attributes in owners:
                for key, value in attributes.items():
                    set_value(owner.attributes.add(key=key).value, value)
    return request


def otlp_json(request, enums_as_numbers=True) -> bytes:
    """The request in OTLP's JSON mapping, which differs from protobuf's in its hex ids."""
    document = MessageToDict(request, use_integers_for_enums=enums_as_numbers)
    for resource_spans in document.get("resourceSpans", []):
        for scope_spans in resource_spans.get("scopeSpans", []):
            for span in scope_spans.get("spans", []):
                for owner in (span, *span.get("links", [])):
                    for key in ("traceId", "spanId", "parentSpanId"):
                        if key in owner:
                            owner[key] = base64.b64decode(owner[key]).hex()
    return json.dumps(document).encode()


def columns(decoded):
    batch = decoded.batch
    return {
        "ids": (batch.trace_id.tobytes(), batch.span_id.tobytes(), batch.parent_span_id.tobytes()),
        "texts": [
            c.to_list()
            for c in (batch.name, batch.status_message, batch.trace_state, batch.events, batch.links)
        ],
        "numbers": [
            c.tolist()
            for c in (
                batch.kind,
                batch.start_unix_nano,
                batch.end_unix_nano,
                batch.status_code,
                batch.resource_index,
                batch.scope_index,
                batch.flagged,
            )
        ],
        "counts": [None if math.isnan(c) else c for c in batch.adjusted_count.tolist()],
        "resources": batch.resources,
        "scopes": batch.scopes,
        "attributes": list(batch.attributes.encoded()),
        "rejects": dict(decoded.rejects),
        "warnings": dict(decoded.warnings),
    }


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(spans(), max_size=3), enums_as_numbers=st.booleans())
def test_both_encodings_give_the_same_batch(items, enums_as_numbers, set_any_value):
    """Whatever a request holds, protobuf and JSON decode to equal columns and equal rejects."""
    request = build(items, set_any_value)
    binary = decode_traces(request.SerializeToString(), Encoding.PROTOBUF)
    text = decode_traces(otlp_json(request, enums_as_numbers), Encoding.JSON)
    assert columns(binary) == columns(text)
    assert len(binary.batch) + binary.rejected == 2 * len(items)


@settings(max_examples=100, deadline=None)
@given(body=st.binary(max_size=200), encoding=st.sampled_from(Encoding))
def test_garbage_is_decoded_or_refused_but_never_crashes(body, encoding):
    """Any bytes give a batch or InvalidRequestError."""
    with contextlib.suppress(InvalidRequestError):
        decode_traces(body, encoding)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "resourceSpans",
                    "resource",
                    "scopeSpans",
                    "spans",
                    "attributes",
                    "key",
                    "value",
                    "traceId",
                    "kind",
                    "status",
                    "intValue",
                    "doubleValue",
                    "arrayValue",
                    "kvlistValue",
                    "values",
                    "events",
                    "links",
                    "startTimeUnixNano",
                    "bytesValue",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=30,
)


@settings(max_examples=150, deadline=None)
@given(document=JSON)
def test_json_of_any_shape_never_crashes(document):
    """Fields of the wrong type are refused in words, not with a traceback."""
    with contextlib.suppress(InvalidRequestError):
        decode_traces(json.dumps({"resourceSpans": [document]}).encode(), Encoding.JSON)


def test_an_empty_request_is_an_empty_batch():
    """Zero bytes and an empty JSON object are requests of no spans."""
    for body, encoding in ((b"", Encoding.PROTOBUF), (b"{}", Encoding.JSON), (b"", Encoding.JSON)):
        decoded = decode_traces(body, encoding)
        assert len(decoded.batch) == 0
        assert decoded.batch.trace_id.shape == (0, 16)


def test_broken_spans_are_rejected_and_the_rest_kept(make_request):
    """Ids of wrong length or all zero and times beyond int64 each cost one span, with a reason."""
    request = make_request(8)
    span = request.resource_spans[0].scope_spans[0].spans
    span[0].trace_id = bytes(16)
    span[1].span_id = bytes(8)
    span[2].trace_id = b"short"
    span[3].span_id = b""
    span[4].parent_span_id = b"abc"
    span[5].end_time_unix_nano = 2**63
    span[6].end_time_unix_nano = 1
    decoded = decode_traces(request.SerializeToString(), Encoding.PROTOBUF)
    assert decoded.rejects == {
        ("shop", "trace_id is all zero"): 1,
        ("shop", "span_id is all zero"): 1,
        ("shop", "trace_id is not 16 bytes"): 1,
        ("shop", "span_id is not 8 bytes"): 1,
        ("shop", "parent_span_id is not 8 bytes"): 1,
        ("shop", "time outside the years 1970 to 2262"): 1,
    }
    assert decoded.batch.name.to_list() == ["span 7", "span 8"]
    assert decoded.batch.flagged.tolist() == [True, False]


@pytest.mark.parametrize(
    ("state", "count"),
    [("ot=th:0", 1.0), ("ot=th:8", 2.0), ("x=y,ot=rv:1;th:c", 4.0), ("ot=th:ffffffffffffff", 2.0**56)],
)
def test_the_sampling_threshold_becomes_a_count(make_request, state, count):
    """``ot=th`` is right-padded to 56 bits; the count is 2^56 / (2^56 - T)."""
    request = make_request(1)
    request.resource_spans[0].scope_spans[0].spans[0].trace_state = state
    assert decode_traces(request.SerializeToString(), Encoding.PROTOBUF).batch.adjusted_count.tolist() == [
        count
    ]


@pytest.mark.parametrize("state", ["", "ot=th:", "ot=th:G", "ot=th:0123456789abcdef", "ot", ",,=", "th:8"])
def test_an_unknown_sampling_rate_is_nan_not_one(make_request, state):
    """A missing or malformed threshold means unknown."""
    request = make_request(1)
    request.resource_spans[0].scope_spans[0].spans[0].trace_state = state
    decoded = decode_traces(request.SerializeToString(), Encoding.PROTOBUF)
    assert math.isnan(decoded.batch.adjusted_count[0])


def test_a_request_is_read_in_parts_that_add_up(make_request):
    """Parts hold at most what was asked for, in order, and share resources."""
    request = make_request(7)
    request.resource_spans.append(make_request(4, service="other", first=100).resource_spans[0])
    reader = TraceReader(request.SerializeToString(), Encoding.PROTOBUF)
    names, sizes = [], []
    while not reader.done:
        part = reader.read(3)
        sizes.append(len(part.batch))
        names += part.batch.name.to_list()
    assert sizes == [3, 3, 3, 2]
    assert names == [f"span {i}" for i in (*range(1, 8), *range(100, 104))]


def test_a_long_span_name_is_cut_at_a_character_and_counted(make_request):
    """Names are bounded to 4 KiB of UTF-8."""
    request = make_request(2)
    request.resource_spans[0].scope_spans[0].spans[0].name = "é" * 3000
    decoded = decode_traces(request.SerializeToString(), Encoding.PROTOBUF)
    assert decoded.batch.name.to_list() == ["é" * 2048, "span 2"]
    assert decoded.warnings == {("shop", "span name longer than 4096 bytes: cut"): 1}


@pytest.mark.parametrize("value", [-1, 2**31 - 1, 6])
def test_unknown_enum_numbers_become_unspecified(make_request, value):
    """Open enums of newer senders do not reach the store."""
    request = make_request(1)
    request.resource_spans[0].scope_spans[0].spans[0].kind = value
    request.resource_spans[0].scope_spans[0].spans[0].status.code = value
    batch = decode_traces(request.SerializeToString(), Encoding.PROTOBUF).batch
    assert (batch.kind.tolist(), batch.status_code.tolist()) == ([0], [0])


def test_invalid_utf8_makes_the_request_invalid(make_request):
    """Protobuf strings must be UTF-8; the request is refused as a whole."""
    body = make_request(1).SerializeToString().replace(b"span 1", b"sp\xff\xfen1")
    with pytest.raises(InvalidRequestError):
        decode_traces(body, Encoding.PROTOBUF)


@pytest.mark.parametrize("depth", [10, 47, 48, 200])
def test_nesting_is_bounded_alike_in_both_encodings(make_request, depth):
    """47 arrays inside each other are taken, more are refused; neither overflows the stack."""
    value = {"intValue": "1"}
    for _ in range(depth):
        value = {"arrayValue": {"values": [value]}}
    document = {
        "resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [{"key": "k", "value": value}]}]}]}]
    }
    if depth > 47:
        with pytest.raises(InvalidRequestError):
            decode_traces(json.dumps(document).encode(), Encoding.JSON)
    else:
        assert decode_traces(json.dumps(document).encode(), Encoding.JSON).rejected == 1


def json_span(**fields) -> bytes:
    span = {"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "1"} | fields
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


@pytest.mark.parametrize(
    "fields",
    [
        {"startTimeUnixNano": 5, "endTimeUnixNano": "6"},
        {"kind": "SPAN_KIND_CLIENT"},
        {"kind": 3, "status": {"code": "STATUS_CODE_ERROR"}, "surprise": {"a": 1}},
        {"traceId": "0" * 30 + "AB", "attributes": None, "events": [], "status": None},
        {"attributes": [{"key": "i", "value": {"intValue": 7}}, {"key": "f", "value": {"intValue": 7.0}}]},
        {
            "attributes": [
                {"key": "d", "value": {"doubleValue": "NaN"}},
                {"key": "e", "value": {}},
                {"key": "n"},
            ]
        },
        {"attributes": [{"key": "b", "value": {"bytesValue": "-_8"}}]},
    ],
)
def test_json_takes_what_the_specification_allows(fields):
    """Numbers as strings or numbers, enums by number or name, unknown fields and nulls."""
    decoded = decode_traces(json_span(**fields), Encoding.JSON)
    assert (len(decoded.batch), decoded.rejected) == (1, 0)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": 5},
        {"attributes": [{"key": "k", "value": {"intValue": 2**64}}]},
        {"attributes": [{"key": "k", "value": {"intValue": "1e3x"}}]},
        {"attributes": [{"key": "k", "value": {"boolValue": "yes"}}]},
        {"attributes": [{"key": "k", "value": {"doubleValue": [1]}}]},
        {"attributes": [{"key": "k", "value": {"bytesValue": "%%"}}]},
        {"attributes": {"k": 1}},
        {"status": "fine"},
        {"events": [3]},
        {"events": [{"timeUnixNano": str(2**64)}]},
        {"attributes": [None]},
    ],
)
def test_json_of_a_wrong_type_is_refused(fields):
    """What protobuf could not have said makes the request invalid."""
    with pytest.raises(InvalidRequestError):
        decode_traces(json_span(**fields), Encoding.JSON)


@pytest.mark.parametrize(
    "fields",
    [
        {"traceId": "zz" * 16},
        {"traceId": "01 " * 16},
        {"spanId": "01" * 16},
        {"startTimeUnixNano": str(2**70)},
        {"endTimeUnixNano": -1},
    ],
)
def test_json_faults_of_one_span_cost_that_span(fields):
    """Ids that are not hexadecimal and impossible times reject the span, not the request."""
    decoded = decode_traces(json_span(**fields), Encoding.JSON)
    assert (len(decoded.batch), decoded.rejected) == (0, 1)


@pytest.mark.parametrize(
    "body", [b"[]", b"3", b"{", b'{"resourceSpans": 1}', b'{"a": "\xff"}', b'"\\ud800"', b"\x00"]
)
def test_what_is_not_an_otlp_document_is_refused(body):
    """The message says that it is no such document."""
    with pytest.raises(InvalidRequestError):
        decode_traces(body, Encoding.JSON)


def test_attributes_read_back_by_key_by_row_and_as_json(make_request):
    """One column serves the adapters and the store; odd values have a JSON form."""
    odd = {"nan": math.nan, "inf": -math.inf, "raw": b"\x01\x02", "deep": [1, [math.inf], {"b": b"x"}]}
    request = make_request(1, text="ü<script>\x00", zero=0, false=False, empty="", **odd)
    request.resource_spans.append(make_request(1, first=2).resource_spans[0])
    column = decode_traces(request.SerializeToString(), Encoding.PROTOBUF).batch.attributes
    assert column.find("text") == ["ü<script>\x00", None]
    assert (column.row(0)["zero"], column.row(0)["false"], column.row(0)["empty"]) == (0, False, "")
    first, second = (json.loads(entry) for entry in column.encoded(frozenset(["text"])))
    assert second == {}
    assert first == {
        "zero": 0,
        "false": False,
        "empty": "",
        "nan": "NaN",
        "inf": "-Infinity",
        "raw": {"bytesValue": "AQI="},
        "deep": [1, ["Infinity"], {"b": {"bytesValue": "eA=="}}],
    }


def test_events_and_links_become_json_arrays(make_request, set_any_value):
    """Their ids are hex, their attributes plain; spans without them have empty bytes."""
    request = make_request(2)
    span = request.resource_spans[0].scope_spans[0].spans[0]
    event = span.events.add(name="retry", time_unix_nano=7)
    set_any_value(event.attributes.add(key="n").value, 2)
    span.links.add(trace_id=b"\x01" * 16, span_id=b"\x02" * 8, trace_state="a=b")
    batch = decode_traces(request.SerializeToString(), Encoding.PROTOBUF).batch
    events, links = batch.events.to_bytes(), batch.links.to_bytes()
    assert (events[1], links[1]) == (b"", b"")
    assert json.loads(events[0]) == [{"name": "retry", "time_unix_nano": 7, "attributes": {"n": 2}}]
    assert json.loads(links[0]) == [
        {"trace_id": "01" * 16, "span_id": "02" * 8, "trace_state": "a=b", "attributes": {}}
    ]


@pytest.mark.parametrize(
    "values",
    [
        [i / 7 for i in range(20)],
        [0.0] * 9,
        [1.0] * 8 + [math.inf],
        [1.0] * 8 + [math.nan],
        [1.0] * 8 + [7],
        [1.0] * 8 + ["x" * 7],
        list(range(-3, 9)),
        [f"node-{i}" for i in range(12)] + [""],
    ],
)
def test_long_arrays_decode_alike_whatever_they_hold(make_request, values):
    """The quick way for arrays of doubles changes nothing of what comes out."""
    request = make_request(1, values=values)
    binary = decode_traces(request.SerializeToString(), Encoding.PROTOBUF).batch.attributes
    text = decode_traces(otlp_json(request), Encoding.JSON).batch.attributes
    assert binary.encoded() == text.encoded()
    assert list(map(type, binary.row(0)["values"])) == list(map(type, values))
