"""OTLP protobuf to columns: the reference decoder, on the protobuf library.

A message field read through the library is about 0.1 us, so many spans together are read off their wire
form by ``decode_wire``; what that cannot vouch for is read here, each field once, column by column.
"""

from collections.abc import Sequence
from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

from storage.records import Scope

from .columns import SpanColumns, reject_reason
from .decode_values import read_events, read_links, read_row
from .decode_wire import fill_from_wire
from .errors import InvalidRequestError
from .wire_groups import Group, WireRequest, resource_of

_TOGETHER = 512
"""Spans read off the wire at once; one that cannot be makes these take the slow way, not all."""

_FEW = 24
"""Below this many spans the fixed cost of reading them together is more than it saves."""


def read_protobuf(body: bytes) -> WireRequest:
    """Parse ``body``; raises InvalidRequestError when it is no ExportTraceServiceRequest."""
    try:
        message = trace_service_pb2.ExportTraceServiceRequest.FromString(body)
    except DecodeError as exc:
        raise InvalidRequestError("the body is not an OTLP ExportTraceServiceRequest in protobuf") from exc
    request = WireRequest(fill)
    for resource_spans in message.resource_spans:
        resource = request.add_resource(resource_of(read_row(resource_spans.resource.attributes, [])))
        for scope_spans in resource_spans.scope_spans:
            scope = request.add_scope(Scope(scope_spans.scope.name, scope_spans.scope.version))
            request.groups.append(Group(resource, scope, scope_spans.spans))
    return request


def fill(columns: SpanColumns, group: Group, spans: Sequence[Any]) -> None:
    """Append ``spans`` (protobuf Span messages of ``group``) to ``columns``."""
    for start in range(0, len(spans), _TOGETHER):
        some = spans[start : start + _TOGETHER]
        if len(some) < _FEW or not fill_from_wire(columns, group, some):
            fill_by_field(columns, group, some)


def fill_by_field(columns: SpanColumns, group: Group, spans: Sequence[Any]) -> None:
    """The reference: every field through the library, whatever a span holds."""
    fields = [
        (s.trace_id, s.span_id, s.parent_span_id, s.start_time_unix_nano, s.end_time_unix_nano) for s in spans
    ]
    reasons = [reject_reason(*f) for f in fields]
    if any(reasons):
        for reason in filter(None, reasons):
            columns.rejects[group.resource, reason] += 1
        spans = [s for s, reason in zip(spans, reasons, strict=True) if reason is None]
        fields = [f for f, reason in zip(fields, reasons, strict=True) if reason is None]
    if not spans:
        return
    trace_ids, span_ids, parents, starts, ends = zip(*fields, strict=True)
    columns.trace_id += trace_ids
    columns.span_id += span_ids
    columns.parent_span_id += parents
    columns.start += starts
    columns.end += ends
    columns.name += [s.name for s in spans]
    columns.kind += [s.kind for s in spans]
    statuses = [s.status for s in spans]
    columns.status_code += [s.code for s in statuses]
    columns.status_message += [s.message for s in statuses]
    columns.trace_state += [s.trace_state for s in spans]
    columns.events += [read_events(s.events) for s in spans]
    columns.links += [read_links(s.links) for s in spans]
    columns.resource_index += [group.resource] * len(spans)
    columns.scope_index += [group.scope] * len(spans)
    _fill_attributes(columns, spans)


def _fill_attributes(columns: SpanColumns, spans: Sequence[Any]) -> None:
    rows, odd = columns.attributes, columns.odd
    for span in spans:
        marks: list[bool] = []
        rows.append(read_row(span.attributes, marks))
        if marks:
            odd.add(len(rows) - 1)
