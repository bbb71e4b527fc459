"""OTLP JSON to columns.

The OTLP mapping differs from protobuf's: ids are hex, enums are integers (names are taken too). Field
names are lowerCamelCase, 64-bit integers are strings or numbers, unknown fields are ignored, null means
absent. Anything else of the wrong type makes the request invalid, as it would in protobuf.
"""

import base64
import binascii
import math
from collections.abc import Sequence
from typing import Any

import orjson

from storage.records import Scope

from .attributes import NO_ATTRIBUTES, Row, to_json
from .columns import SpanColumns, reject_reason
from .errors import InvalidRequestError
from .wire_groups import Group, WireRequest, resource_of

MAX_DEPTH = 47
"""Arrays or maps inside each other; what the protobuf library's limit of 100 messages comes to."""

_KINDS = {
    f"SPAN_KIND_{name}": number
    for number, name in enumerate(("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"))
}
_STATUSES = {f"STATUS_CODE_{name}": number for number, name in enumerate(("UNSET", "OK", "ERROR"))}
_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_INT64 = (-(2**63), 2**63 - 1)
_UINT64 = (0, 2**64 - 1)
_TIME = (-(2**127), 2**127)  # one out of range costs its span, not the request
_ENUM = (-(2**31), 2**31 - 1)


def read_json(body: bytes) -> WireRequest:
    """Parse ``body``; raises InvalidRequestError when it is no OTLP JSON trace request."""
    try:
        document = orjson.loads(body) if body.strip() else {}
    except orjson.JSONDecodeError as exc:
        raise InvalidRequestError(f"the body is not JSON: {exc}") from exc
    request = WireRequest(fill)
    for resource_spans in _objects(_object(document, "the body"), "resourceSpans"):
        row = _row(_objects(_sub(resource_spans, "resource"), "attributes"), [], 0)
        resource = request.add_resource(resource_of(row))
        for scope_spans in _objects(resource_spans, "scopeSpans"):
            scope = _sub(scope_spans, "scope")
            index = request.add_scope(Scope(_text(scope, "name"), _text(scope, "version")))
            request.groups.append(Group(resource, index, _objects(scope_spans, "spans")))
    return request


def fill(columns: SpanColumns, group: Group, spans: Sequence[Any]) -> None:
    """Append ``spans`` (JSON objects of ``group``) to ``columns``."""
    for span in spans:
        _append(columns, group, span)


def _append(columns: SpanColumns, group: Group, span: dict[str, Any]) -> None:
    trace_id, span_id = _id(span, "traceId"), _id(span, "spanId")
    parent = _id(span, "parentSpanId")
    start = _integer(span.get("startTimeUnixNano"), _TIME, "startTimeUnixNano")
    end = _integer(span.get("endTimeUnixNano"), _TIME, "endTimeUnixNano")
    status = _sub(span, "status")
    marks: list[bool] = []
    row = _row(_objects(span, "attributes"), marks, 0)
    name, trace_state, message = _text(span, "name"), _text(span, "traceState"), _text(status, "message")
    kind = _enum(span.get("kind"), _KINDS, "kind")
    code = _enum(status.get("code"), _STATUSES, "status.code")
    events, links = _events(_objects(span, "events")), _links(_objects(span, "links"))
    reason = reject_reason(trace_id, span_id, parent, start, end)
    if reason is not None:
        columns.rejects[group.resource, reason] += 1
        return
    if marks:
        columns.odd.add(len(columns.attributes))
    columns.trace_id.append(trace_id)
    columns.span_id.append(span_id)
    columns.parent_span_id.append(parent)
    columns.start.append(start)
    columns.end.append(end)
    columns.name.append(name)
    columns.kind.append(kind)
    columns.status_code.append(code)
    columns.status_message.append(message)
    columns.trace_state.append(trace_state)
    columns.events.append(events)
    columns.links.append(links)
    columns.resource_index.append(group.resource)
    columns.scope_index.append(group.scope)
    columns.attributes.append(row)


def _row(pairs: Sequence[Any], odd: list[bool], depth: int) -> Row:
    """Attributes as a dict; ``odd`` grows when one of them needs the slow way to JSON."""
    row: Row = {}
    for pair in pairs:
        row[_text(pair, "key")] = _value(_sub(pair, "value"), odd, depth)
    return row or NO_ATTRIBUTES


def _value(value: dict[str, Any], odd: list[bool], depth: int) -> Any:  # noqa: PLR0911 (one return a kind)
    """One AnyValue; an unset or unknown kind is None."""
    if depth > MAX_DEPTH:
        raise InvalidRequestError(f"an attribute value is nested deeper than {MAX_DEPTH}")
    for kind, inner in value.items():
        if inner is None:
            continue
        if kind == "stringValue":
            return _text(value, kind)
        if kind == "boolValue":
            return _boolean(inner)
        if kind == "intValue":
            return _integer(inner, _INT64, kind)
        if kind == "doubleValue":
            return _double(inner, odd)
        if kind == "arrayValue":
            return [_value(v, odd, depth + 1) for v in _objects(_object(inner, kind), "values")]
        if kind == "kvlistValue":
            return dict(_row(_objects(_object(inner, kind), "values"), odd, depth + 1))
        if kind == "bytesValue":
            odd.append(True)
            return _bytes(inner)
    return None


def _events(events: Sequence[Any]) -> bytes:
    return to_json([_event(event) for event in events]) if events else b""


def _event(event: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": _text(event, "name"),
        "time_unix_nano": _integer(event.get("timeUnixNano"), _UINT64, "timeUnixNano"),
        "attributes": _row(_objects(event, "attributes"), [], 0),
    }


def _links(links: Sequence[Any]) -> bytes:
    return to_json([_link(link) for link in links]) if links else b""


def _link(link: dict[str, Any]) -> dict[str, Any]:
    return {
        "trace_id": _id(link, "traceId").hex(),
        "span_id": _id(link, "spanId").hex(),
        "trace_state": _text(link, "traceState"),
        "attributes": _row(_objects(link, "attributes"), [], 0),
    }


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidRequestError(f"{where}: expected a JSON object")
    return value


def _sub(owner: dict[str, Any], key: str) -> dict[str, Any]:
    value = owner.get(key)
    return {} if value is None else _object(value, key)


def _objects(owner: dict[str, Any], key: str) -> list[dict[str, Any]]:
    value = owner.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not set(map(type, value)) <= {dict}:
        raise InvalidRequestError(f"{key}: expected a JSON array of objects")
    return value


def _text(owner: dict[str, Any], key: str) -> str:
    value = owner.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidRequestError(f"{key}: expected a string")
    return value


def _id(owner: dict[str, Any], key: str) -> bytes:
    """The id's bytes; one byte, which no id has, when the text is not hexadecimal: the span is rejected."""
    text = _text(owner, key)
    try:
        return bytes.fromhex(text) if text.isalnum() else b"\0" if text else b""
    except ValueError:
        return b"\0"


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidRequestError("boolValue: expected true or false")
    return value


def _integer(value: Any, bounds: tuple[int, int], where: str) -> int:
    if value is None or value == "":
        return 0
    number: int | None = None
    if isinstance(value, str):
        digits = value[1:] if value[0] == "-" else value
        if digits.isascii() and digits.isdigit() and len(digits) <= 38:
            number = int(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, float) and value.is_integer():
        number = int(value)
    if number is None or not bounds[0] <= number <= bounds[1]:
        raise InvalidRequestError(f"{where}: expected an integer in range")
    return number


def _enum(value: Any, names: dict[str, int], where: str) -> int:
    if isinstance(value, str) and not value.lstrip("-").isdigit():
        return names.get(value, 0)
    return _integer(value, _ENUM, where)


def _double(value: Any, odd: list[bool]) -> float:
    if isinstance(value, str):
        word = _WORDS.get(value)
        if word is None:
            try:
                word = float(value)
            except ValueError as exc:
                raise InvalidRequestError("doubleValue: expected a number") from exc
        value = word
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidRequestError("doubleValue: expected a number")
    number = float(value)
    if not math.isfinite(number):
        odd.append(True)
    return number


def _bytes(value: Any) -> bytes:
    if not isinstance(value, str):
        raise InvalidRequestError("bytesValue: expected base64")
    text = value.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError) as exc:
        raise InvalidRequestError("bytesValue: expected base64") from exc
