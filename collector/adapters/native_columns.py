"""Reads the decisions of one batch column by column, where the values allow it.

Most sources write every attribute with its plain type, and one check of a whole column then costs less
than one function call per value. A column that fails its check is read value by value by the readers of
``values``; a decision of which anything is broken or worth a note is left out, for the careful way to
read it and say why.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from math import isfinite
from types import NoneType
from typing import Any, TypeVar

import numpy as np

from engine import semconv
from storage.records import CandidateDetail, DecisionColumns, SpanBatch

from .candidates import CANDIDATE_KEYS, read_candidates
from .values import BrokenError, count, decision_key, name, number, text, unit

_Value = TypeVar("_Value")
_Notes = list[str]

POLICY_ALIAS = "decision.policy"

_SHORT = 128  # characters that are neither too many for a name nor for a decision.id
_LARGEST_COUNT = 2**53
_SCHEMAS = {None, semconv.SCHEMA_VERSION, str(semconv.SCHEMA_VERSION)}
_OUTCOMES = {None, *semconv.OUTCOMES}


class DecisionReader:
    """Reads the spans at ``indexes`` of ``batch`` as decisions; ``broken`` holds what it cannot vouch for.

    ``broken`` are positions in ``indexes``; what ``read`` returns at these is without meaning.
    """

    def __init__(self, batch: SpanBatch, indexes: Sequence[int]) -> None:
        self._batch = batch
        self._indexes = indexes
        self._rows = [batch.attributes.row(i) for i in indexes]
        self._present = frozenset[str]().union(*self._rows)
        self.broken: set[int] = set()

    def read(self) -> DecisionColumns:
        """One entry per index."""
        self._check_schemas()
        details, listed = self._candidates()
        totals = self._counts(semconv.CANDIDATES_TOTAL)
        return DecisionColumns(
            span_index=list(self._indexes),
            decision_key=self._keys(),
            policy=[p or semconv.DEFAULT_POLICY for p in self._names(semconv.POLICY_NAME, POLICY_ALIAS)],
            policy_version=self._names(semconv.POLICY_VERSION),
            policy_fingerprint=self._names(semconv.POLICY_FINGERPRINT),
            node=self._required(self._names(semconv.DECISION_NODE)),
            weight=self._required(self._numbers(semconv.WEIGHT, semconv.WEIGHT_ALIAS)),
            confidence=self._units(semconv.CONFIDENCE, semconv.CONFIDENCE_ALIAS),
            strategy=self._names(semconv.STRATEGY),
            reason=self._names(semconv.REASON),
            candidates_total=[n if t is None else t for t, n in zip(totals, listed, strict=True)],
            margin=self._numbers(semconv.MARGIN),
            tie_count=self._counts(semconv.TIE_COUNT),
            propensity=self._units(semconv.PROPENSITY),
            signal_age_ms=self._numbers(semconv.SIGNAL_AGE_MS),
            outcome=self._outcomes(),
            outcome_latency_ms=self._numbers(semconv.OUTCOME_LATENCY_MS),
            tenant=self._names(semconv.TENANT_ID),
            model=self._names(semconv.REQUEST_MODEL),
            experiment=self._names(semconv.FEATURE_FLAG_KEY),
            variant=self._names(semconv.FEATURE_FLAG_VARIANT),
            inferred=[False] * len(self._indexes),
            detail=details,
        )

    def _column(self, key: str, alias: str | None = None) -> list[Any]:
        column = [row.get(key) for row in self._rows] if key in self._present else [None] * len(self._rows)
        if alias is None or None not in column:
            return column
        return [a if v is None else v for v, a in zip(column, self._column(alias), strict=True)]

    def _one_by_one(
        self, column: Iterable[Any], read: Callable[[Any, _Notes], _Value | None]
    ) -> list[_Value | None]:
        """The column as ``read`` takes each value; where it complains, None and the position is broken."""
        out: list[_Value | None] = []
        for position, value in enumerate(column):
            notes: _Notes = []
            try:
                out.append(read(value, notes))
            except BrokenError:
                out.append(None)
                notes.append("")
            if notes:
                self.broken.add(position)
        return out

    def _names(self, key: str, alias: str | None = None) -> list[str | None]:
        column = self._column(key, alias)
        kinds = set(map(type, column))
        if kinds == {NoneType} or (kinds == {str} and "" not in column and _short(column)):
            return column
        if kinds <= {str, NoneType} and _short(v for v in column if v):
            return [v or None for v in column]
        return self._one_by_one(column, lambda value, notes: name(value, key, notes))

    def _numbers(self, key: str, alias: str | None = None) -> list[float | None]:
        column = self._column(key, alias)
        if _finite(column):
            return column
        return self._one_by_one(column, lambda value, _: number(value, key))

    def _units(self, key: str, alias: str | None = None) -> list[float | None]:
        column = self._column(key, alias)
        if _finite(column):
            given = [value for value in column if value is not None]
            if not given or (min(given) >= 0.0 and max(given) <= 1.0):
                return column
        return self._one_by_one(column, lambda value, _: unit(value, key))

    def _counts(self, key: str) -> list[int | None]:
        column = self._column(key)
        kinds = set(map(type, column))
        if kinds == {NoneType}:
            return column
        if kinds == {int} and min(column) >= 0 and max(column) <= _LARGEST_COUNT:
            return column
        return self._one_by_one(column, lambda value, _: count(value, key))

    def _outcomes(self) -> list[str | None]:
        column = self._column(semconv.OUTCOME)
        if set(map(type, column)) <= {str, NoneType} and set(column) <= _OUTCOMES:
            return column
        return self._one_by_one(column, _known_outcome)

    def _required(self, column: list[_Value | None]) -> list[_Value]:
        """The same column; where it says nothing, the decision is broken."""
        if None in column:
            self.broken.update(k for k, value in enumerate(column) if value is None)
        return column  # type: ignore[return-value]  # None stays at broken positions only

    def _check_schemas(self) -> None:
        column = self._column(semconv.DECISION_SCHEMA)
        if set(map(type, column)) <= {str, int, NoneType} and _SCHEMAS.issuperset(column):
            return
        known = str(semconv.SCHEMA_VERSION)
        self.broken.update(k for k, value in enumerate(column) if value is not None and str(value) != known)

    def _keys(self) -> list[bytes]:
        ids = np.concatenate([self._batch.trace_id, self._batch.span_id], axis=1)
        own = ids.tobytes()
        step = ids.shape[1]
        keys = [own[i * step : (i + 1) * step] for i in self._indexes]
        given = self._column(semconv.DECISION_ID)
        if set(map(type, given)) == {NoneType}:
            return keys
        pairs = zip(given, keys, strict=True)
        return self._required(self._one_by_one(pairs, lambda pair, _: decision_key(*pair)))

    def _candidates(self) -> tuple[list[CandidateDetail | None], list[int | None]]:
        if CANDIDATE_KEYS.isdisjoint(self._present):
            return [None] * len(self._rows), [None] * len(self._rows)
        found = self._one_by_one(self._rows, read_candidates)
        pairs = [(None, None) if pair is None else pair for pair in found]
        return [detail for detail, _ in pairs], [total for _, total in pairs]


def extend(
    into: DecisionColumns, read: DecisionColumns, broken: Iterable[int], then: Callable[[int], None]
) -> None:
    """Append what was read to ``into``, calling ``then`` at each broken position instead of it."""
    for before, position in pairwise((-1, *sorted(broken), len(read))):
        for column in DecisionColumns.__dataclass_fields__:
            getattr(into, column).extend(getattr(read, column)[before + 1 : position])
        if position < len(read):
            then(position)


def _known_outcome(value: Any, notes: _Notes) -> str | None:
    outcome = text(value, semconv.OUTCOME)
    if outcome is not None and outcome not in semconv.OUTCOMES:
        notes.append("")
    return outcome


def _short(texts: Iterable[str]) -> bool:
    return max(map(len, texts), default=0) <= _SHORT


def _finite(column: list[Any]) -> bool:
    """Whether the column holds finite floats or None and nothing else."""
    kinds = set(map(type, column))
    if kinds == {float}:
        return all(map(isfinite, column))
    return kinds <= {float, NoneType} and all(map(isfinite, filter(None, column)))
