"""Replaces what no database can hold, in the rare batch that has it: hostile text and huge numbers."""

from dataclasses import fields, replace
from typing import Any

import orjson

from storage.records import AdaptedBatch, CandidateDetail, DecisionColumns, OutcomeColumns, Resource, Scope

UNBINDABLE = (UnicodeEncodeError, OverflowError, orjson.JSONEncodeError)
"""Raised by the driver and the encoder for values that ``repaired`` replaces."""


def repaired(batch: AdaptedBatch) -> AdaptedBatch:
    """The batch with lone surrogates replaced by ``?`` and integers brought into 64 bits."""
    spans = replace(
        batch.spans,
        resources=tuple(
            Resource(_valid(r.service), _valid(r.instance), r.attributes) for r in batch.spans.resources
        ),
        scopes=tuple(Scope(_valid(s.name), _valid(s.version)) for s in batch.spans.scopes),
    )
    decisions, outcomes = batch.decisions, batch.outcomes
    return AdaptedBatch(
        spans,
        DecisionColumns(**{f.name: _column(getattr(decisions, f.name)) for f in fields(DecisionColumns)}),
        OutcomeColumns(**{f.name: _column(getattr(outcomes, f.name)) for f in fields(OutcomeColumns)}),
    )


def _column(values: list[Any]) -> Any:
    return [_valid(value) for value in values]


def _valid(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-(2**63), min(value, 2**63 - 1))
    if isinstance(value, tuple):
        return tuple(_valid(item) for item in value)
    if isinstance(value, CandidateDetail):
        return CandidateDetail(*(_valid(getattr(value, f.name)) for f in fields(CandidateDetail)))
    return value
