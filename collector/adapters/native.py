"""Weighbridge's own dialect: the attributes of engine/semconv.py.

A span with ``decision.node`` is a decision; one without it, but with ``decision.id`` and
``decision.outcome``, is the outcome of a decision made on another span. What breaks the table (no weight,
a weight that is not finite, a confidence outside 0..1, arrays of unequal length, an unknown
``decision.schema``) costs the decision, never the span. A lesser field of the wrong type costs only
itself. Both are counted by source and reason.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from engine import semconv
from storage.records import DecisionColumns, SpanBatch

from .adaptation import Adaptation, Adapter
from .candidates import read_candidates
from .native_columns import POLICY_ALIAS, DecisionReader, extend
from .values import BrokenError, count, decision_key, first, name, number, text, unit

_Value = TypeVar("_Value")
_Row = Mapping[str, Any]

WEIGHT_MISSING = "weight missing"
UNKNOWN_SCHEMA = "unknown decision.schema"
UNKNOWN_OUTCOME = "unknown decision.outcome"


class NativeAdapter:
    """Reads the decisions of Weighbridge's engine, and of anyone who writes the same attributes."""

    def adapt(self, batch: SpanBatch, into: Adaptation) -> None:
        """Add the decisions and outcomes of ``batch``."""
        nodes = batch.attributes.find(semconv.DECISION_NODE)
        decided = [i for i, node in enumerate(nodes) if node is not None and i not in into.claimed]
        if decided:
            into.claimed.update(decided)
            reader = DecisionReader(batch, decided)
            read = reader.read()
            extend(
                into.decisions,
                read,
                reader.broken,
                lambda position: _carefully(_decide, batch, decided[position], into),
            )
        for index, outcome in enumerate(batch.attributes.find(semconv.OUTCOME)):
            if outcome is None or nodes[index] is not None or index in into.claimed:
                continue
            if batch.attributes.row(index).get(semconv.DECISION_ID) is not None:
                into.claimed.add(index)
                _carefully(_resolve, batch, index, into)


_: type[Adapter] = NativeAdapter


_Read = Callable[[SpanBatch, int, _Row, Adaptation, list[str]], None]


def _carefully(read: _Read, batch: SpanBatch, index: int, into: Adaptation) -> None:
    """Read one span value by value; what is wrong with it is counted."""
    notes: list[str] = []
    try:
        read(batch, index, batch.attributes.row(index), into, notes)
    except BrokenError as exc:
        notes.append(str(exc))
    for note in notes:
        into.warn(batch, index, note)


def _decide(batch: SpanBatch, index: int, row: _Row, into: Adaptation, notes: list[str]) -> None:
    _check_schema(row)
    node = name(row.get(semconv.DECISION_NODE), semconv.DECISION_NODE, notes)
    if node is None:
        raise BrokenError(f"{semconv.DECISION_NODE} is empty")
    weight = number(first(row, semconv.WEIGHT, semconv.WEIGHT_ALIAS), "weight")
    if weight is None:
        raise BrokenError(WEIGHT_MISSING)
    confidence = unit(first(row, semconv.CONFIDENCE, semconv.CONFIDENCE_ALIAS), "confidence")
    detail, listed = read_candidates(row, notes)
    key = decision_key(row.get(semconv.DECISION_ID), _own_key(batch, index))
    total = _lesser(count, row, semconv.CANDIDATES_TOTAL, notes)

    columns = into.decisions
    columns.span_index.append(index)
    columns.decision_key.append(key)
    columns.node.append(node)
    columns.weight.append(weight)
    columns.confidence.append(confidence)
    columns.candidates_total.append(listed if total is None else total)
    columns.inferred.append(False)
    columns.detail.append(detail)
    _append_lesser(columns, row, notes)


def _append_lesser(columns: DecisionColumns, row: _Row, notes: list[str]) -> None:
    """Append the fields whose loss does not cost the decision."""
    policy_key = semconv.POLICY_NAME if row.get(semconv.POLICY_NAME) is not None else POLICY_ALIAS
    columns.policy.append(_name(row, policy_key, notes) or semconv.DEFAULT_POLICY)
    columns.policy_version.append(_name(row, semconv.POLICY_VERSION, notes))
    columns.policy_fingerprint.append(_name(row, semconv.POLICY_FINGERPRINT, notes))
    columns.strategy.append(_name(row, semconv.STRATEGY, notes))
    columns.reason.append(_name(row, semconv.REASON, notes))
    columns.margin.append(_lesser(number, row, semconv.MARGIN, notes))
    columns.tie_count.append(_lesser(count, row, semconv.TIE_COUNT, notes))
    columns.propensity.append(_lesser(unit, row, semconv.PROPENSITY, notes))
    columns.signal_age_ms.append(_lesser(number, row, semconv.SIGNAL_AGE_MS, notes))
    columns.outcome.append(_outcome(row, notes))
    columns.outcome_latency_ms.append(_lesser(number, row, semconv.OUTCOME_LATENCY_MS, notes))
    columns.tenant.append(_name(row, semconv.TENANT_ID, notes))
    columns.model.append(_name(row, semconv.REQUEST_MODEL, notes))
    columns.experiment.append(_name(row, semconv.FEATURE_FLAG_KEY, notes))
    columns.variant.append(_name(row, semconv.FEATURE_FLAG_VARIANT, notes))


def _resolve(batch: SpanBatch, index: int, row: _Row, into: Adaptation, notes: list[str]) -> None:
    _check_schema(row)
    outcome = _outcome(row, notes)
    if outcome is None:
        return
    key = decision_key(row.get(semconv.DECISION_ID), _own_key(batch, index))
    columns = into.outcomes
    columns.span_index.append(index)
    columns.decision_key.append(key)
    columns.outcome.append(outcome)
    columns.outcome_latency_ms.append(_lesser(number, row, semconv.OUTCOME_LATENCY_MS, notes))
    columns.experiment.append(_name(row, semconv.FEATURE_FLAG_KEY, notes))
    columns.variant.append(_name(row, semconv.FEATURE_FLAG_VARIANT, notes))


def _check_schema(row: _Row) -> None:
    schema = row.get(semconv.DECISION_SCHEMA)
    if schema is not None and str(schema) != str(semconv.SCHEMA_VERSION):
        raise BrokenError(UNKNOWN_SCHEMA)


def _outcome(row: _Row, notes: list[str]) -> str | None:
    outcome = _lesser(text, row, semconv.OUTCOME, notes)
    if outcome is not None and outcome not in semconv.OUTCOMES:
        notes.append(UNKNOWN_OUTCOME)
        return None
    return outcome


def _name(row: _Row, key: str, notes: list[str]) -> str | None:
    value = row.get(key)
    if value is None:
        return None
    try:
        return name(value, key, notes)
    except BrokenError as exc:
        notes.append(str(exc))
        return None


def _lesser(
    read: Callable[[Any, str], _Value | None], row: _Row, key: str, notes: list[str]
) -> _Value | None:
    """The field as ``read`` gives it; when it is broken, None and a note."""
    value = row.get(key)
    if value is None:
        return None
    try:
        return read(value, key)
    except BrokenError as exc:
        notes.append(str(exc))
        return None


def _own_key(batch: SpanBatch, index: int) -> bytes:
    return bytes(batch.trace_id[index].data) + bytes(batch.span_id[index].data)
