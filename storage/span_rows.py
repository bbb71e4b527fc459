"""Spans of a trace out of the tables, whole again."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, func, select

from storage import detail, ids
from storage.records import SpanRow, Trace
from storage.tables import decision, decision_detail, resource, scope, span


def trace(connection: Connection, trace_id: bytes, limit: int) -> Trace | None:
    """Spans of one trace by start, the first ``limit`` of them."""
    mine = span.c.key.between(*ids.of_trace(trace_id))
    total = connection.execute(select(func.count()).select_from(span).where(mine)).scalar_one()
    if total == 0:
        return None
    chosen = (
        select(
            span,
            resource.c.service,
            resource.c.instance,
            resource.c.attributes.label("resource_attributes"),
            scope.c.name.label("scope_name"),
            decision.c.id.label("decision"),
            decision_detail.c.body,
        )
        .join(resource, resource.c.id == span.c.resource_id)
        .join(scope, scope.c.id == span.c.scope_id)
        .outerjoin(decision, decision.c.id == span.c.id)
        .outerjoin(decision_detail, decision_detail.c.id == span.c.id)
        .where(mine)
        .order_by(span.c.start_unix_nano, span.c.id)
        .limit(limit)
    )
    return Trace(trace_id.hex(), tuple(_row(row) for row in connection.execute(chosen)), total)


def object_of(body: bytes) -> dict[str, Any]:
    """A stored JSON object; empty when there is none."""
    found = json.loads(body) if body else {}
    return found if isinstance(found, dict) else {}


def _array(body: bytes) -> tuple[Mapping[str, Any], ...]:
    return tuple(json.loads(body)) if body else ()


def _row(row: Row[*tuple[Any, ...]]) -> SpanRow:
    trace_id, span_id = ids.hex_pair(row.key)
    return SpanRow(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=row.parent_span_id.hex() if row.parent_span_id else None,
        name=row.name,
        kind=row.kind,
        start_unix_nano=row.start_unix_nano,
        end_unix_nano=row.end_unix_nano,
        service=row.service,
        instance=row.instance,
        scope=row.scope_name,
        status_code=row.status_code,
        status_message=row.status_message,
        trace_state=row.trace_state,
        attributes=object_of(row.attributes) | detail.as_attributes(detail.unpack(row.body)),
        events=_array(row.events),
        links=_array(row.links),
        resource=object_of(row.resource_attributes),
        is_decision=row.decision is not None,
        flagged=row.flagged,
    )
