"""Attribute names of a decision span and the version of that table: the wire contract.

There is no OpenTelemetry convention for scheduling decisions, so these names are Weighbridge's own
(docs/attributes.md describes each one); names that do exist as conventions (``service.name``,
``feature_flag.key``, ``gen_ai.request.model``) are used as they are. This module imports nothing.
"""

SCHEMA_VERSION = 1
"""Value of ``decision.schema``; a span with an unknown version is kept as a plain span and counted."""

SCOPE_NAME = "weighbridge.engine"
"""Instrumentation scope of the spans the recorder makes."""

SPAN_NAME_PREFIX = "schedule "
"""A decision span is named ``schedule <policy>``: low cardinality."""

DECISION_ID = "decision.id"
DECISION_NODE = "decision.node"
DECISION_SCHEMA = "decision.schema"
WEIGHT = "weight"
WEIGHT_ALIAS = "decision.weight"
CONFIDENCE = "confidence"
CONFIDENCE_ALIAS = "decision.confidence"
POLICY_NAME = "decision.policy.name"
POLICY_VERSION = "decision.policy.version"
POLICY_FINGERPRINT = "decision.policy.fingerprint"
STRATEGY = "decision.strategy"
REASON = "decision.reason"
CANDIDATES = "decision.candidates"
CANDIDATE_WEIGHTS = "decision.candidate.weights"
CANDIDATE_SCORES = "decision.candidate.scores"
CANDIDATES_TOTAL = "decision.candidates.total"
SCORER_NAMES = "decision.scorer.names"
SCORER_WEIGHTS = "decision.scorer.weights"
SCORER_SCORES = "decision.scorer.scores"
FILTERED = "decision.filtered"
FILTER_REASONS = "decision.filter.reasons"
MARGIN = "decision.margin"
TIE_COUNT = "decision.tie_count"
PROPENSITY = "decision.propensity"
SIGNAL_AGE_MS = "decision.signal_age_ms"
OUTCOME = "decision.outcome"
OUTCOME_LATENCY_MS = "decision.outcome.latency_ms"

OUTCOMES = ("ok", "error", "dropped")
"""Values of ``decision.outcome``."""

FEATURE_FLAG_KEY = "feature_flag.key"
FEATURE_FLAG_VARIANT = "feature_flag.result.variant"
TENANT_ID = "tenant.id"
REQUEST_MODEL = "gen_ai.request.model"
SERVICE_NAME = "service.name"
SERVICE_INSTANCE_ID = "service.instance.id"

DEFAULT_POLICY = "default"
"""Policy name given to a decision that states none."""
