"""The candidates of a native decision: several forms in, one aligned CandidateDetail out."""

from collections.abc import Mapping
from typing import Any

from engine import semconv
from storage.records import CandidateDetail

from .values import BrokenError, first, matrix, name, names, number, numbers, structure

MAX_CANDIDATES = 1024
"""Candidates kept of one decision: each keeps a weight series alive in the store."""

CUT = f"more than {MAX_CANDIDATES} candidates: cut"

CANDIDATE_KEYS = frozenset(
    (
        semconv.CANDIDATES,
        semconv.CANDIDATE_WEIGHTS,
        semconv.CANDIDATE_SCORES,
        semconv.SCORER_NAMES,
        semconv.SCORER_WEIGHTS,
        semconv.SCORER_SCORES,
        semconv.FILTERED,
        semconv.FILTER_REASONS,
    )
)
"""A span with none of these says nothing of candidates."""


def read_candidates(row: Mapping[str, Any], notes: list[str]) -> tuple[CandidateDetail | None, int | None]:
    """Detail of a decision and how many candidates its list held; None where it says nothing.

    ``decision.candidates`` may be a string array, a map from name to weight or to ``{weight, score}``,
    a list of maps with ``node`` or ``name``, JSON text of one of these, or an int: then it is the total.
    Raises BrokenError when arrays differ in length or hold what is no finite number.
    """
    if CANDIDATE_KEYS.isdisjoint(row):
        return None, None
    given = structure(row.get(semconv.CANDIDATES), semconv.CANDIDATES)
    total = given if isinstance(given, int) and not isinstance(given, bool) else None
    listed, weights, scores = _listed(None if total is not None else given, notes)
    weights = numbers(row.get(semconv.CANDIDATE_WEIGHTS), semconv.CANDIDATE_WEIGHTS) or weights
    scores = numbers(row.get(semconv.CANDIDATE_SCORES), semconv.CANDIDATE_SCORES) or scores
    detail = CandidateDetail(
        candidates=listed,
        weights=weights,
        scores=scores,
        scorer_names=names(row.get(semconv.SCORER_NAMES), semconv.SCORER_NAMES, notes),
        scorer_weights=numbers(row.get(semconv.SCORER_WEIGHTS), semconv.SCORER_WEIGHTS),
        scorer_scores=matrix(row.get(semconv.SCORER_SCORES), semconv.SCORER_SCORES),
        filtered=names(row.get(semconv.FILTERED), semconv.FILTERED, notes),
        filter_reasons=names(row.get(semconv.FILTER_REASONS), semconv.FILTER_REASONS, notes),
    )
    if detail == _NOTHING:
        return None, total
    _check_aligned(detail)
    return _bounded(detail, notes), total if total is not None else len(listed) or None


_NOTHING = CandidateDetail()
_Listed = tuple[tuple[str, ...], tuple[float, ...], tuple[float, ...]]


def _listed(given: Any, notes: list[str]) -> _Listed:
    if isinstance(given, dict):
        given = [
            {**value, "node": key} if isinstance(value, dict) else {"node": key, "weight": value}
            for key, value in given.items()
        ]
    kinds = set(map(type, given)) if isinstance(given, list) else set[type]()
    if not isinstance(given, list) or dict not in kinds:
        return names(given, semconv.CANDIDATES, notes), (), ()
    if kinds != {dict}:
        raise BrokenError(f"{semconv.CANDIDATES} mixes names and maps")
    listed = tuple(name(first(item, "node", "name"), semconv.CANDIDATES, notes) or "" for item in given)
    return listed, _field(given, "weight"), _field(given, "score")


def _field(items: list[dict[str, Any]], key: str) -> tuple[float, ...]:
    """``key`` of every map; () when none has it."""
    values = [number(item.get(key), semconv.CANDIDATES) for item in items]
    present = [value for value in values if value is not None]
    if len(present) not in (0, len(values)):
        raise BrokenError(f"{semconv.CANDIDATES} has a gap")
    return tuple(present)


def _check_aligned(detail: CandidateDetail) -> None:
    size, scorers = len(detail.candidates), len(detail.scorer_names)
    aligned = (
        len(detail.weights) in (0, size)
        and len(detail.scores) in (0, size)
        and len(detail.scorer_weights) in (0, scorers)
        and len(detail.scorer_scores) in (0, size)
        and set(map(len, detail.scorer_scores)) <= {scorers}
        and len(detail.filter_reasons) in (0, len(detail.filtered))
    )
    if not aligned:
        raise BrokenError("arrays of unequal length")
    if "" in detail.candidates:
        raise BrokenError(f"{semconv.CANDIDATES} has an empty name")


def _bounded(detail: CandidateDetail, notes: list[str]) -> CandidateDetail:
    if max(len(detail.candidates), len(detail.filtered), len(detail.scorer_names)) <= MAX_CANDIDATES:
        return detail
    notes.append(CUT)
    kept = slice(MAX_CANDIDATES)
    return CandidateDetail(
        candidates=detail.candidates[kept],
        weights=detail.weights[kept],
        scores=detail.scores[kept],
        scorer_names=detail.scorer_names[kept],
        scorer_weights=detail.scorer_weights[kept],
        scorer_scores=tuple(row[kept] for row in detail.scorer_scores[kept]),
        filtered=detail.filtered[kept],
        filter_reasons=detail.filter_reasons[kept],
    )
