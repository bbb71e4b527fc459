"""What the API answers, as pydantic models; the only ones in the dashboard.

Times are integer nanoseconds since the epoch (``*_unix_nano``, exact) and again as RFC 3339 text for
people (``time``, ``last_seen``, ...). Readers in languages whose only number is a double lose the last
two or three digits of the integers. Numbers that are not finite are null. Names and attributes come from
senders and are passed on as they came: escape them before you show them.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def finite(value: float | None) -> float | None:
    """The number, or None when it is NaN or infinite."""
    return value if value is None or math.isfinite(value) else None


def plain(value: Any, depth: int = 0) -> Any:
    """``value`` as JSON can hold it: no NaN or infinity, no lone surrogate, no bottomless nesting."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float):
        return finite(value)
    if isinstance(value, Mapping | list | tuple) and depth >= 32:
        return "(nested too deep to show)"
    if isinstance(value, Mapping):
        return {plain(str(k)): plain(v, depth + 1) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v, depth + 1) for v in value]
    return value


Number = Annotated[float | None, BeforeValidator(finite)]
Text = Annotated[str, BeforeValidator(plain)]
OptionalText = Annotated[str | None, BeforeValidator(plain)]
Attributes = Annotated[dict[str, Any], BeforeValidator(plain)]
Counts = Annotated[dict[str, int], BeforeValidator(plain)]
Numbers = Annotated[dict[str, float | None], BeforeValidator(plain)]
Texts = Annotated[dict[str, str], BeforeValidator(plain)]


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True)


class ParameterError(_Body):
    """A parameter that was wrong and what to do about it."""

    parameter: Text
    message: Text


class ProblemBody(_Body):
    """The body of every answer that is not a success."""

    status: int
    title: str
    detail: Text = Field(description="What to do.")
    errors: list[ParameterError] = []


class Decision(_Body):
    """One decision as a list shows it. `outcome` may have come later, on another span."""

    trace_id: str
    span_id: str
    decision_id: Text
    time_unix_nano: int = Field(description="When the choice was made.")
    time: str
    duration_nano: int
    service: Text
    instance: Text
    policy: Text
    policy_version: OptionalText
    policy_fingerprint: OptionalText
    node: Text
    weight: Number
    confidence: Number = Field(description="0..1, null when the sender did not say.")
    strategy: OptionalText
    reason: OptionalText
    candidates_total: int | None
    margin: Number
    tie_count: int | None
    propensity: Number
    signal_age_ms: Number
    outcome: OptionalText
    outcome_latency_ms: Number
    tenant: OptionalText
    model: OptionalText
    experiment: OptionalText
    variant: OptionalText
    inferred: bool = Field(description="Whether the node was deduced rather than stated.")
    adjusted_count: Number = Field(
        description="Decisions this one stands for after sampling; null when unknown."
    )


class DecisionList(_Body):
    """Newest first. Pass `next` as `cursor` for the page after; null at the end."""

    items: list[Decision]
    next: str | None


class Candidate(_Body):
    """One candidate; `scorers` maps a scorer's name to its score in 0..1."""

    node: Text
    weight: Number
    score: Number
    scorers: Numbers
    chosen: bool


class Filtered(_Body):
    """A node left out before scoring."""

    node: Text
    reason: Text


class DecisionWhole(Decision):
    """One decision with its candidates, best first, and its span's attributes."""

    candidates: list[Candidate]
    scorer_weights: Numbers
    filtered: list[Filtered]
    attributes: Attributes


class Span(_Body):
    """One span; `parent_span_id` is null for a root. `kind` and `status_code` are OTLP's numbers."""

    trace_id: str
    span_id: str
    parent_span_id: str | None
    name: Text
    kind: int
    start_unix_nano: int
    end_unix_nano: int
    start: str
    service: Text
    instance: Text
    scope: Text
    status_code: int
    status_message: Text
    trace_state: Text
    attributes: Attributes
    events: list[Attributes]
    links: list[Attributes]
    resource: Attributes
    is_decision: bool
    flagged: bool = Field(description="Whether its end lies before its start.")


class TraceWhole(_Body):
    """Spans by start time; there are more in the store when `total` exceeds their number."""

    trace_id: str
    spans: list[Span]
    total: int


class Weight(_Body):
    """Newest value of one weight series (service, policy, node)."""

    service: Text
    policy: Text
    node: Text
    weight: Number
    score: Number
    scores: Numbers
    scorer_weights: Numbers
    time_unix_nano: int
    time: str


class WeightHistory(_Body):
    """One policy's weights in columns: `weight[n][s]` is of `nodes[n]` in second `seconds[s]`.

    A value is the mean over that second, over all services that asked, weighted by their mentions of the
    node; null where none mentioned it. Seconds without any mention are there too: columns are evenly spaced.
    """

    policy: OptionalText
    seconds: list[int] = Field(description="Seconds since the epoch, ascending, without gaps.")
    nodes: list[Text]
    weight: list[list[float | None]]


class WeightList(_Body):
    """Newest weights, by service, policy and node; `history` only when a window was asked for."""

    items: list[Weight]
    history: WeightHistory | None = None


class Node(_Body):
    """One node over the range: weight, stated share (of weights) and realised share (of decisions), 0..1."""

    node: Text
    policy: Text
    service: Text
    weight: Number
    decisions: int
    realised_share: Number
    stated_share: Number
    last_seen_unix_nano: int
    last_seen: str | None


class NodeList(_Body):
    """Nodes by name."""

    items: list[Node]


class Arm(_Body):
    """One arm; latency in ms over the outcomes that arrived."""

    variant: Text
    exposures: int
    outcomes: int
    errors: int
    latency_mean_ms: Number
    latency_variance_ms2: Number
    first_unix_nano: int
    last_unix_nano: int


class ArmComparison(_Body):
    """`variant` against the control: variant minus control, an interval and a p value valid at every look.

    `relative_*` are over the control's value. `verdict` is better, worse, inside (too small to matter) or
    settling; `needed` estimates the outcomes still missing.
    """

    variant: Text
    metric: str = Field(description="latency_ms or error_rate; lower is better for both.")
    difference: Number
    low: Number
    high: Number
    p_value: Number
    relative_difference: Number
    relative_low: Number
    relative_high: Number
    method: str
    verdict: str
    needed: int | None


class Experiment(_Body):
    """One experiment (`feature_flag.key`), its arms by name, and each compared with the control."""

    key: Text
    control: OptionalText
    arms: list[Arm]
    comparisons: list[ArmComparison]


class ExperimentList(_Body):
    """Experiments by key."""

    items: list[Experiment]


class Delivery(_Body):
    """One webhook delivery. `state` is pending, delivered, failed or disabled."""

    webhook_id: str
    destination: Text
    state: str
    attempts: int
    next_attempt_unix_nano: int | None
    last_status: int | None
    last_error: Text
    delivered_unix_nano: int | None


class Alert(_Body):
    """One alert. `state` is firing or resolved."""

    alert_id: int
    fingerprint: str
    rule: Text
    state: str
    labels: Texts
    annotations: Texts
    value: Number
    starts_unix_nano: int
    starts: str
    ends_unix_nano: int | None
    ends: str | None
    deliveries: list[Delivery]


class AlertList(_Body):
    """Alerts, newest first."""

    items: list[Alert]


class Source(_Body):
    """Intake of one source; `rate` is accepted spans a second over the last minute."""

    source: Text
    accepted: int
    duplicated: int
    decisions: int
    unmapped: int
    rejected: Counts
    warned: Counts
    message: Text
    rate: Number
    last_seen_unix_nano: int
    last_seen: str | None


class Process(_Body):
    """Newest heartbeat of one process; `figures` are its own gauges."""

    role: str
    instance: Text
    version: str
    started_unix_nano: int
    seen_unix_nano: int
    seen: str | None
    figures: Numbers


class StoreSize(_Body):
    """Size and extent of the store; row counts may be estimates."""

    size_bytes: int
    limit_bytes: int | None
    max_age_s: Number
    spans: int
    decisions: int
    oldest_unix_nano: int | None
    newest_unix_nano: int | None
    schema_revision: str


class Health(_Body):
    """Sources, processes, the store and the settings in force (secrets masked)."""

    version: str
    time_unix_nano: int
    sources: list[Source]
    processes: list[Process]
    store: StoreSize
    configuration: dict[str, Any]


class Alive(_Body):
    """Whether the process is alive, or ready to answer."""

    status: str
    version: str
