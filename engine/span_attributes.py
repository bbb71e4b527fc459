"""The attributes of a decision's span and of its outcome's, as plain values; names are in semconv.

Text is made valid UTF-8 here: a lone surrogate in one node's name would otherwise cost the whole batch
when it is encoded.
"""

import json
from collections.abc import Mapping, Sequence

import numpy as np

from . import semconv
from .decision import Decision
from .model import F64, I64, Evaluation, Outcome, OutcomeKind, Scalar

DECIMALS = 6
Value = Scalar | Sequence[str] | Sequence[float]
Attributes = dict[str, Value]


def text(value: str) -> str:
    """The string with what UTF-8 cannot hold replaced by question marks."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def decision_attributes(decision: Decision, max_candidates: int) -> Attributes:
    """Everything a decision says of itself.

    At most ``max_candidates`` candidates, best first and the chosen one always among them; as many
    removed nodes at most. Per-candidate numbers are rounded to six decimals.
    """
    evaluation, policy = decision.evaluation, decision.evaluation.policy
    found = _own(decision.request.attributes)
    found |= {
        semconv.DECISION_SCHEMA: semconv.SCHEMA_VERSION,
        semconv.DECISION_ID: decision.id,
        semconv.DECISION_NODE: text(decision.node.name),
        semconv.WEIGHT: decision.weight,
        semconv.POLICY_NAME: text(policy.name),
        semconv.POLICY_VERSION: text(policy.version),
        semconv.POLICY_FINGERPRINT: policy.fingerprint,
        semconv.STRATEGY: text(policy.strategy),
        semconv.REASON: reason(evaluation),
        semconv.CANDIDATES_TOTAL: len(evaluation.totals),
        semconv.TIE_COUNT: evaluation.pick.tie_count,
        semconv.PROPENSITY: evaluation.pick.propensity,
    }
    optional = {
        semconv.CONFIDENCE: decision.confidence,
        semconv.MARGIN: decision.margin,
        semconv.SIGNAL_AGE_MS: decision.signal_age_ms,
        semconv.TENANT_ID: decision.request.tenant,
        semconv.REQUEST_MODEL: decision.request.model,
    }
    for name, value in optional.items():
        if value is not None:
            found[name] = text(value) if isinstance(value, str) else value
    found |= _candidates(evaluation, max_candidates)
    found |= _removed(evaluation, max_candidates)
    return found | _arm(decision)


def outcome_attributes(decision: Decision, outcome: Outcome) -> Attributes:
    """What ties an outcome to its decision; an ignored end carries no ``decision.outcome``."""
    found = _own(outcome.attributes)
    found[semconv.DECISION_ID] = decision.id
    if outcome.kind is not OutcomeKind.IGNORED:
        found[semconv.OUTCOME] = outcome.kind.value
    if outcome.latency_ms is not None:
        found[semconv.OUTCOME_LATENCY_MS] = float(outcome.latency_ms)
    return found | _arm(decision)


def reason(evaluation: Evaluation) -> str:
    """Why this node, in a few words."""
    pick, count = evaluation.pick, len(evaluation.totals)
    if count == 1:
        return "the only candidate"
    if pick.propensity == 1:
        return f"highest total score of {count}"
    if pick.propensity * pick.tie_count == 1:
        return f"drawn from {pick.tie_count} equal totals of {count}"
    return f"drawn with probability {pick.propensity:.3f} of {count}"


def _candidates(evaluation: Evaluation, limit: int) -> Attributes:
    order, policy = _shown(evaluation, limit), evaluation.policy
    matrix = _rounded(evaluation.scores[:, order]).T.tolist()
    return {
        semconv.CANDIDATES: [text(name) for name in evaluation.names(order)],
        semconv.CANDIDATE_WEIGHTS: _rounded(evaluation.weights[order]).tolist(),
        semconv.CANDIDATE_SCORES: _rounded(evaluation.totals[order]).tolist(),
        semconv.SCORER_NAMES: [text(name) for name in policy.scorer_names],
        semconv.SCORER_WEIGHTS: list(policy.scorer_weights),
        semconv.SCORER_SCORES: json.dumps(matrix, separators=(",", ":")),
    }


def _shown(evaluation: Evaluation, limit: int) -> I64:
    """Candidate positions to write: the best ``limit``, the chosen one in the last place if beyond."""
    order = evaluation.order()
    chosen = evaluation.pick.index
    if len(order) <= limit or chosen in order[:limit]:
        return order[:limit]
    return np.append(order[: limit - 1], chosen)


def _removed(evaluation: Evaluation, limit: int) -> Attributes:
    if not evaluation.removed:
        return {}
    names: list[str] = []
    reasons: list[str] = []
    for indices, why in evaluation.removed:
        shown = indices[: limit - len(names)].tolist()
        names += [text(evaluation.fleet[i].name) for i in shown]
        reasons += [text(why)] * len(shown)
    return {semconv.FILTERED: names, semconv.FILTER_REASONS: reasons}


def _arm(decision: Decision) -> Attributes:
    if decision.experiment is None:
        return {}
    key, variant = decision.experiment
    return {semconv.FEATURE_FLAG_KEY: text(key), semconv.FEATURE_FLAG_VARIANT: text(variant)}


def _own(attributes: Mapping[str, Scalar]) -> Attributes:
    """Attributes the caller gave, made valid; the engine's own names are written over them."""
    return {
        text(name): text(value) if isinstance(value, str) else value for name, value in attributes.items()
    }


def _rounded(values: F64) -> F64:
    """Six decimals, and no negative zero."""
    return np.round(values, DECIMALS) + 0.0
