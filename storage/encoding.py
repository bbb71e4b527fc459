"""Turns batches into columns for the driver; touches no database.

A batch is prepared before the write lock is taken; ids come in afterwards. Values stay columns until
``zip`` makes the tuples the driver binds, and a column that is the same literal for the whole batch is not
bound at all: per-row Python is what a durable write mostly costs.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import repeat
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from storage import detail, ids
from storage.records import AdaptedBatch, Strings

Row = tuple[Any, ...]

_NO_PARENT = bytes(ids.SPAN_BYTES)


class Constant(Enum):
    """What a whole column can be, as SQL."""

    NULL = "NULL"
    FALSE = "0"
    NO_TEXT = "''"
    NO_BYTES = "x''"


Values = Iterable[Any] | Constant


@dataclass(frozen=True, slots=True)
class Prepared:
    """One batch with what can be computed before its ids are known. ``keys`` are trace id + span id."""

    batch: AdaptedBatch
    keys: list[bytes]
    end_unix_nano: list[int]
    resource_index: list[int]
    adjusted: list[float] | None  # None: unknown for all
    attributes: Sequence[bytes]
    details: dict[int, bytes]  # by position among the decisions

    def __len__(self) -> int:
        return len(self.keys)


def prepare(batch: AdaptedBatch) -> Prepared:
    """Encode what does not depend on the store."""
    spans = batch.spans
    details = {k: detail.pack(d) for k, d in enumerate(batch.decisions.detail) if d is not None}
    adjusted = spans.adjusted_count
    return Prepared(
        batch=batch,
        keys=_cut(np.concatenate([spans.trace_id, spans.span_id], axis=1)),
        end_unix_nano=spans.end_unix_nano.tolist(),
        resource_index=spans.resource_index.tolist(),
        adjusted=None if bool(np.isnan(adjusted).all()) else adjusted.tolist(),
        attributes=_attributes(batch, {batch.decisions.span_index[k] for k in details}),
        details=details,
    )


def span_columns(
    prepared: Prepared, first_id: int, resource_ids: Sequence[int], scope_ids: Sequence[int], received: int
) -> list[Values]:
    """Columns of the span table in its order; span i has the id ``first_id + i``."""
    spans = prepared.batch.spans
    return [
        range(first_id, first_id + len(prepared)),
        prepared.keys,
        _parents(spans.parent_span_id),
        spans.name.to_list(),
        spans.kind.tolist(),
        spans.start_unix_nano.tolist(),
        prepared.end_unix_nano,
        map(resource_ids.__getitem__, prepared.resource_index),
        map(scope_ids.__getitem__, spans.scope_index.tolist()),
        spans.status_code.tolist(),
        _texts(spans.status_message),
        _texts(spans.trace_state),
        Constant.NULL if prepared.adjusted is None else [None if isnan(v) else v for v in prepared.adjusted],
        spans.flagged.tolist() if bool(spans.flagged.any()) else Constant.FALSE,
        repeat(received),
        prepared.attributes,
        _blobs(spans.events),
        _blobs(spans.links),
    ]


def decision_columns(prepared: Prepared, first_id: int, resource_ids: Sequence[int]) -> list[Values]:
    """Columns of the decision table in its order; a decision has the id of its span."""
    columns = prepared.batch.decisions
    at, keys = columns.span_index, prepared.keys
    return [
        [first_id + i for i in at],
        _optional([None if key == keys[i] else key for key, i in zip(columns.decision_key, at, strict=True)]),
        map(prepared.end_unix_nano.__getitem__, at),
        [resource_ids[prepared.resource_index[i]] for i in at],
        columns.policy,
        _optional(columns.policy_version),
        _optional(columns.policy_fingerprint),
        columns.node,
        columns.weight,
        _optional(columns.confidence),
        _optional(columns.strategy),
        _optional(columns.reason),
        _optional(columns.candidates_total),
        _optional(columns.margin),
        _optional(columns.tie_count),
        _optional(columns.propensity),
        _optional(columns.signal_age_ms),
        _optional(columns.tenant),
        _optional(columns.model),
        _optional(columns.experiment),
        _optional(columns.variant),
        columns.inferred if True in columns.inferred else Constant.FALSE,
    ]


def rows_of(columns: Iterable[Values]) -> Iterator[Row]:
    """Rows of the columns that are not constant."""
    return zip(*(values for values in columns if not isinstance(values, Constant)), strict=False)


def _cut(table: npt.NDArray[np.uint8]) -> list[bytes]:
    """Each row's bytes."""
    size, data = table.shape[1], np.ascontiguousarray(table).tobytes()
    return [data[i : i + size] for i in range(0, len(data), size)]


def _parents(parent_ids: npt.NDArray[np.uint8]) -> Values:
    if not parent_ids.any():
        return Constant.NULL
    return [None if parent == _NO_PARENT else parent for parent in _cut(parent_ids)]


def _optional(values: list[Any]) -> Values:
    # The first tells most columns apart; count() only compares identities when all are None.
    none = values and values[0] is None and values.count(None) == len(values)
    return Constant.NULL if none else values


def _texts(column: Strings) -> Values:
    return column.to_list() if column.data else Constant.NO_TEXT


def _blobs(column: Strings) -> Values:
    return column.to_bytes() if column.data else Constant.NO_BYTES


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
