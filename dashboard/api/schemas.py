"""What the API answers, as pydantic models; the only ones in the dashboard.

Times are integer nanoseconds since the epoch (``*_unix_nano``, exact) and again as RFC 3339 text for
people (``time``, ``last_seen``, ...). Readers in languages whose only number is a double lose the last
two or three digits of the integers. Numbers that are not finite are null. Names and attributes come from
senders and are passed on as they came: escape them before you show them.
"""

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from dashboard.api.values import Attributes, Number, Numbers, OptionalText, Text, Texts

T = TypeVar("T", bound=BaseModel)


class Body(BaseModel):
    """What all answers share: frozen, made of the store's records."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class Items(Body, Generic[T]):
    """A whole list."""

    items: list[T]


class ParameterError(Body):
    """A parameter that was wrong and what to do about it."""

    parameter: Text
    message: Text


class ProblemBody(Body):
    """The body of every answer that is not a success."""

    status: int
    title: str
    detail: Text = Field(description="What to do.")
    errors: list[ParameterError] = []


class Decision(Body):
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


class DecisionList(Body):
    """Newest first. Pass `next` as `cursor` for the page after; null at the end."""

    items: list[Decision]
    next: str | None


class Candidate(Body):
    """One candidate; `scorers` maps a scorer's name to its score in 0..1."""

    node: Text
    weight: Number
    score: Number
    scorers: Numbers
    chosen: bool


class Filtered(Body):
    """A node left out before scoring."""

    node: Text
    reason: Text


class DecisionWhole(Decision):
    """One decision with its candidates, best first, and its span's attributes."""

    candidates: list[Candidate]
    scorer_weights: Numbers
    filtered: list[Filtered]
    attributes: Attributes


class Span(Body):
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


class TraceWhole(Body):
    """Spans by start time; there are more in the store when `total` exceeds their number."""

    trace_id: str
    spans: list[Span]
    total: int


class Weight(Body):
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


class WeightHistory(Body):
    """One policy's weights in columns: `weight[n][s]` is of `nodes[n]` in second `seconds[s]`.

    A value is the mean over that second, over all services that asked, weighted by their mentions of the
    node; null where none mentioned it. Seconds without any mention are there too: columns are evenly spaced.
    """

    policy: OptionalText
    seconds: list[int] = Field(description="Seconds since the epoch, ascending, without gaps.")
    nodes: list[Text]
    weight: list[list[float | None]]


class WeightList(Body):
    """Newest weights, by service, policy and node; `history` only when a window was asked for."""

    items: list[Weight]
    more: bool = Field(False, description="There are more than are listed: name a policy or a service.")
    history: WeightHistory | None = None


class Node(Body):
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


class NodeList(Body):
    """Nodes by name."""

    items: list[Node]
    more: bool = Field(False, description="There are more than are listed: name a policy or a service.")


class Arm(Body):
    """One arm; latency in ms over the outcomes that arrived."""

    variant: Text
    exposures: int
    outcomes: int
    errors: int
    latency_mean_ms: Number
    latency_variance_ms2: Number
    first_unix_nano: int
    last_unix_nano: int


class ArmComparison(Body):
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


class Experiment(Body):
    """One experiment (`feature_flag.key`), its arms by name, and each compared with the control."""

    key: Text
    control: OptionalText
    arms: list[Arm]
    comparisons: list[ArmComparison]


class Delivery(Body):
    """One webhook delivery. `state` is pending, delivered, failed or disabled."""

    webhook_id: str
    destination: Text
    state: str
    attempts: int
    next_attempt_unix_nano: int | None
    last_status: int | None
    last_error: Text
    delivered_unix_nano: int | None


class Alert(Body):
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
