"""Turns batches into rows for the driver; touches no database.

A batch is prepared before the write lock is taken; ids come in afterwards. Everything is columns until
``zip`` makes the tuples the driver binds, since per-row Python is what a durable write mostly costs.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from storage import detail
from storage.records import AdaptedBatch, SpanBatch, Strings

Row = tuple[Any, ...]

_NO_PARENT = bytes(8)


@dataclass(frozen=True, slots=True)
class Prepared:
    """One batch with what can be computed before its ids are known."""

    batch: AdaptedBatch
    trace_ids: list[bytes]
    span_ids: list[bytes]
    end_unix_nano: list[int]
    resource_index: list[int]
    adjusted: Sequence[float | None]
    attributes: Sequence[bytes]
    details: dict[int, bytes]  # by position among the decisions

    def __len__(self) -> int:
        return len(self.trace_ids)


def prepare(batch: AdaptedBatch) -> Prepared:
    """Encode what does not depend on the store."""
    spans = batch.spans
    details = {k: detail.pack(d) for k, d in enumerate(batch.decisions.detail) if d is not None}
    return Prepared(
        batch=batch,
        trace_ids=_cut(spans.trace_id, 16),
        span_ids=_cut(spans.span_id, 8),
        end_unix_nano=spans.end_unix_nano.tolist(),
        resource_index=spans.resource_index.tolist(),
        adjusted=_known(spans.adjusted_count),
        attributes=_attributes(batch, {batch.decisions.span_index[k] for k in details}),
        details=details,
    )


def span_rows(
    prepared: Prepared, first_id: int, resource_ids: Sequence[int], scope_ids: Sequence[int], received: int
) -> Iterator[Row]:
    """Rows of the span table; span i has the id ``first_id + i``."""
    spans = prepared.batch.spans
    return zip(
        range(first_id, first_id + len(prepared)),
        prepared.trace_ids,
        prepared.span_ids,
        _parents(spans),
        spans.name.to_list(),
        spans.kind.tolist(),
        spans.start_unix_nano.tolist(),
        prepared.end_unix_nano,
        map(resource_ids.__getitem__, prepared.resource_index),
        map(scope_ids.__getitem__, spans.scope_index.tolist()),
        spans.status_code.tolist(),
        _texts(spans.status_message),
        _texts(spans.trace_state),
        prepared.adjusted,
        spans.flagged.tolist(),
        repeat(received),
        prepared.attributes,
        _blobs(spans.events),
        _blobs(spans.links),
        strict=False,  # repeat() never ends; the ids tell the length
    )


def decision_rows(prepared: Prepared, first_id: int, resource_ids: Sequence[int]) -> Iterator[Row]:
    """Rows of the decision table; a decision has the id of its span."""
    columns = prepared.batch.decisions
    at = columns.span_index
    return zip(
        [first_id + i for i in at],
        columns.decision_key,
        map(prepared.end_unix_nano.__getitem__, at),
        [resource_ids[prepared.resource_index[i]] for i in at],
        columns.policy,
        columns.policy_version,
        columns.policy_fingerprint,
        columns.node,
        columns.weight,
        columns.confidence,
        columns.strategy,
        columns.reason,
        columns.candidates_total,
        columns.margin,
        columns.tie_count,
        columns.propensity,
        columns.signal_age_ms,
        columns.tenant,
        columns.model,
        columns.experiment,
        columns.variant,
        columns.inferred,
        strict=True,
    )


def _cut(ids: npt.NDArray[np.uint8], size: int) -> list[bytes]:
    data = np.ascontiguousarray(ids).tobytes()
    return [data[i : i + size] for i in range(0, len(data), size)]


def _known(values: npt.NDArray[np.float64]) -> list[float | None]:
    if bool(np.isnan(values).all()):
        return [None] * len(values)
    return [None if isnan(v) else v for v in values.tolist()]


def _parents(spans: SpanBatch) -> Iterable[bytes | None]:
    if not spans.parent_span_id.any():
        return repeat(None)
    return [None if p == _NO_PARENT else p for p in _cut(spans.parent_span_id, 8)]


def _texts(column: Strings) -> Iterable[str]:
    return column.to_list() if column.data else repeat("")


def _blobs(column: Strings) -> Iterable[bytes]:
    return column.to_bytes() if column.data else repeat(b"")


def _attributes(batch: AdaptedBatch, detailed: set[int]) -> Sequence[bytes]:
    """Each span's attributes, less those its decision keeps in the detail."""
    attributes = batch.spans.attributes
    if not detailed:
        return attributes.encoded()
    encoded = list(attributes.encoded(detail.KEYS))
    plain = [i for i in range(len(encoded)) if i not in detailed]
    if not plain:
        return encoded
    # A span of which no decision was made keeps everything it said, also under these names.
    columns = [attributes.find(key) for key in sorted(detail.KEYS)]
    whole = [i for i in plain if any(column[i] is not None for column in columns)]
    if whole:
        every = attributes.encoded()
        for i in whole:
            encoded[i] = every[i]
    return encoded
