"""Candidates of a decision as one compressed blob, and back to the attributes they were read from.

The names are those of the wire contract (docs/attributes.md), spelled out here because the store knows
neither engine nor wire; a test holds the two together.
"""

import json
import zlib
from typing import Any

import orjson

from storage.records import CandidateDetail

ATTRIBUTES = {
    "decision.candidates": "candidates",
    "decision.candidate.weights": "weights",
    "decision.candidate.scores": "scores",
    "decision.scorer.names": "scorer_names",
    "decision.scorer.weights": "scorer_weights",
    "decision.scorer.scores": "scorer_scores",
    "decision.filtered": "filtered",
    "decision.filter.reasons": "filter_reasons",
}
"""Attribute name to field of ``CandidateDetail``: kept in the detail only, not with the span again."""

KEYS = frozenset(ATTRIBUTES)
EMPTY = CandidateDetail()

_MATRIX = "scorer_scores"
_TEXTS = {"candidates", "scorer_names", "filtered", "filter_reasons"}
_LEVEL = 1  # four times as fast as the default, a tenth larger


def pack(detail: CandidateDetail) -> bytes:
    """One blob; NaN and infinities become null."""
    fields = {name: value for name in ATTRIBUTES.values() if (value := getattr(detail, name))}
    return zlib.compress(orjson.dumps(fields, option=orjson.OPT_SERIALIZE_NUMPY), _LEVEL)


def unpack(body: bytes | None) -> CandidateDetail:
    """What ``pack`` was given; empty for None. A null number comes back as NaN."""
    if body is None:
        return EMPTY
    fields: dict[str, Any] = orjson.loads(zlib.decompress(body))
    return CandidateDetail(**{name: _tuple(name, value) for name, value in fields.items()})


def as_attributes(detail: CandidateDetail) -> dict[str, Any]:
    """The detail in the form of the wire contract: arrays, and the matrix as a JSON string."""
    found: dict[str, Any] = {}
    for attribute, name in ATTRIBUTES.items():
        value = getattr(detail, name)
        if value:
            found[attribute] = json.dumps(value, separators=(",", ":")) if name == _MATRIX else list(value)
    return found


def _tuple(name: str, values: list[Any]) -> tuple[Any, ...]:
    if name == _MATRIX:
        return tuple(tuple(_number(v) for v in row) for row in values)
    return tuple(values) if name in _TEXTS else tuple(_number(v) for v in values)


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
