"""What crosses the store's border: columns going in, frozen rows coming out.

Going in, everything is columnar: a ``SpanBatch`` holds one array or string column per field, not an
object per span. Coming out, rows are frozen dataclasses, because a page shows tens of them.

Units: times are integer nanoseconds since the Unix epoch (UTC), durations carry their unit in the name,
ids are raw bytes going in and lower-case hex coming out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

AttributeValue = str | bool | int | float | bytes | list[Any] | dict[str, Any] | None
U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
I32 = npt.NDArray[np.int32]


# ---------------------------------------------------------------------------------------- going in
@dataclass(frozen=True, slots=True)
class Strings:
    """A column of UTF-8 strings: offsets into one buffer.

    ``data[offsets[i]:offsets[i + 1]]`` is string i; ``offsets`` has n + 1 entries.
    """

    data: bytes
    offsets: I64

    @classmethod
    def of(cls, values: Iterable[str | bytes]) -> "Strings":
        """Build a column from strings; surrogates that UTF-8 cannot hold are replaced, never raised."""
        given = list(values)
        offsets = np.zeros(len(given) + 1, np.int64)
        if not any(given):
            return cls(b"", offsets)
        texts = [v for v in given if isinstance(v, str)]
        joined = "".join(texts)
        if len(texts) == len(given) and joined.isascii():  # as many bytes as characters
            data, sizes = joined.encode(), list(map(len, given))
        else:
            encoded = [v if isinstance(v, bytes) else v.encode("utf-8", "replace") for v in given]
            data, sizes = b"".join(encoded), list(map(len, encoded))
        np.cumsum(sizes, out=offsets[1:])
        return cls(data, offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def to_bytes(self) -> list[bytes]:
        """Every entry as bytes, shape (n,)."""
        data, cut = self.data, self.offsets.tolist()
        return [data[a:b] for a, b in pairwise(cut)]

    def to_list(self) -> list[str]:
        """Every entry as text, shape (n,)."""
        if self.data.isascii():
            text, cut = self.data.decode("ascii"), self.offsets.tolist()
            return [text[a:b] for a, b in pairwise(cut)]
        return [v.decode("utf-8", "replace") for v in self.to_bytes()]


class AttributeColumn(Protocol):
    """The attributes of n spans, however a decoder keeps them."""

    def __len__(self) -> int: ...

    def find(self, key: str) -> Sequence[AttributeValue]:
        """Value of ``key`` for every span, None where it is absent; shape (n,)."""
        ...

    def row(self, index: int) -> Mapping[str, AttributeValue]:
        """All attributes of one span."""
        ...

    def encoded(self, without: frozenset[str] = frozenset()) -> Sequence[bytes]:
        """JSON object of each span's attributes, less the keys in ``without``; shape (n,).

        NaN and infinities become the strings "NaN", "Infinity", "-Infinity"; bytes become
        ``{"bytesValue": <base64>}``.
        """
        ...


@dataclass(frozen=True, slots=True)
class Resource:
    """Who sent a span: the service, its instance and the resource attributes as a JSON object."""

    service: str
    instance: str
    attributes: bytes = b"{}"


@dataclass(frozen=True, slots=True)
class Scope:
    """The instrumentation scope of a span."""

    name: str
    version: str = ""


@dataclass(frozen=True, slots=True)
class SpanBatch:
    """n spans in columns.

    ``parent_span_id`` is all zero for a root. ``events`` and ``links`` are JSON arrays, empty bytes
    where there are none. ``adjusted_count`` is how many spans this one stands for (``ot=th`` of its
    trace state or the source's multiplier), NaN where that is unknown. ``flagged`` marks spans kept
    although their end lies before their start.
    """

    trace_id: U8  # (n, 16)
    span_id: U8  # (n, 8)
    parent_span_id: U8  # (n, 8)
    name: Strings
    kind: I32  # OTLP SpanKind, 0..5
    start_unix_nano: I64
    end_unix_nano: I64
    status_code: I32  # OTLP StatusCode, 0..2
    status_message: Strings
    trace_state: Strings
    events: Strings
    links: Strings
    resource_index: I32  # into resources
    scope_index: I32  # into scopes
    resources: tuple[Resource, ...]
    scopes: tuple[Scope, ...]
    attributes: AttributeColumn
    adjusted_count: npt.NDArray[np.float64]
    flagged: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(frozen=True, slots=True)
class CandidateDetail:
    """Everything a decision said about its candidates; tuples are aligned with each other.

    ``scorer_scores`` has one row per candidate and one column per scorer.
    """

    candidates: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()
    scorer_names: tuple[str, ...] = ()
    scorer_weights: tuple[float, ...] = ()
    scorer_scores: tuple[tuple[float, ...], ...] = ()
    filtered: tuple[str, ...] = ()
    filter_reasons: tuple[str, ...] = ()


@dataclass(slots=True)
class DecisionColumns:
    """m decisions in columns; entry k was made of span ``span_index[k]`` of the batch beside it.

    ``decision_key`` is the raw 24 bytes trace id + span id, or the UTF-8 bytes of an explicit
    ``decision.id``. Optional fields hold None.
    """

    span_index: list[int] = field(default_factory=list)
    decision_key: list[bytes] = field(default_factory=list)
    policy: list[str] = field(default_factory=list)
    policy_version: list[str | None] = field(default_factory=list)
    policy_fingerprint: list[str | None] = field(default_factory=list)
    node: list[str] = field(default_factory=list)
    weight: list[float | None] = field(default_factory=list)
    confidence: list[float | None] = field(default_factory=list)
    strategy: list[str | None] = field(default_factory=list)
    reason: list[str | None] = field(default_factory=list)
    candidates_total: list[int | None] = field(default_factory=list)
    margin: list[float | None] = field(default_factory=list)
    tie_count: list[int | None] = field(default_factory=list)
    propensity: list[float | None] = field(default_factory=list)
    signal_age_ms: list[float | None] = field(default_factory=list)
    outcome: list[str | None] = field(default_factory=list)
    outcome_latency_ms: list[float | None] = field(default_factory=list)
    tenant: list[str | None] = field(default_factory=list)
    model: list[str | None] = field(default_factory=list)
    experiment: list[str | None] = field(default_factory=list)
    variant: list[str | None] = field(default_factory=list)
    inferred: list[bool] = field(default_factory=list)
    detail: list[CandidateDetail | None] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.span_index)


@dataclass(slots=True)
class OutcomeColumns:
    """Outcomes that arrived on other spans than their decision; columns as in DecisionColumns."""

    span_index: list[int] = field(default_factory=list)
    decision_key: list[bytes] = field(default_factory=list)
    outcome: list[str | None] = field(default_factory=list)
    outcome_latency_ms: list[float | None] = field(default_factory=list)
    experiment: list[str | None] = field(default_factory=list)
    variant: list[str | None] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.span_index)


@dataclass(frozen=True, slots=True)
class AdaptedBatch:
    """What travels from the adapters to the writer: spans, the decisions found in them, outcomes."""

    spans: SpanBatch
    decisions: DecisionColumns
    outcomes: OutcomeColumns


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What one durable write did. Counts are spans; ``decisions`` are new decisions."""

    inserted: int
    duplicated: int
    decisions: int


@dataclass(frozen=True, slots=True)
class IntakeTally:
    """Counts of one source since the last flush; ``rejected`` and ``warned`` are counts by reason.

    ``decisions`` counts spans that made a decision, ``unmapped`` those that did not. ``message`` is the
    last partial-success text sent to the source.
    """

    source: str
    accepted: int = 0
    duplicated: int = 0
    decisions: int = 0
    unmapped: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    warned: Mapping[str, int] = field(default_factory=dict)
    message: str = ""
    last_seen_unix_nano: int = 0


# --------------------------------------------------------------------------------------- coming out
@dataclass(frozen=True, slots=True)
class TimeRange:
    """Half-open range [start, end) in nanoseconds since the epoch."""

    start_unix_nano: int
    end_unix_nano: int


@dataclass(frozen=True, slots=True)
class DecisionQuery:
    """What to look for; None means any. ``text`` is a trace id, or a part of a node or policy name."""

    time: TimeRange | None = None
    service: str | None = None
    policy: str | None = None
    node: str | None = None
    weight_min: float | None = None
    weight_max: float | None = None
    confidence_min: float | None = None
    confidence_max: float | None = None
    outcome: str | None = None
    experiment: str | None = None
    variant: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """One decision as a list shows it. ``outcome*`` may have come on a later span."""

    trace_id: str
    span_id: str
    decision_id: str
    time_unix_nano: int  # the span's end: when the choice was made
    duration_nano: int
    service: str
    instance: str
    policy: str
    policy_version: str | None
    policy_fingerprint: str | None
    node: str
    weight: float | None
    confidence: float | None
    strategy: str | None
    reason: str | None
    candidates_total: int | None
    margin: float | None
    tie_count: int | None
    propensity: float | None
    signal_age_ms: float | None
    outcome: str | None
    outcome_latency_ms: float | None
    tenant: str | None
    model: str | None
    experiment: str | None
    variant: str | None
    inferred: bool
    adjusted_count: float | None


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """Newest first; ``next`` is an opaque cursor, None at the end."""

    items: tuple[DecisionRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class DecisionDetail:
    """One decision whole."""

    row: DecisionRow
    detail: CandidateDetail
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SpanRow:
    """One span of a trace; ``parent_span_id`` is None for a root."""

    trace_id: str
    span_id: str
    parent_span_id: str | None
    name: str
    kind: int
    start_unix_nano: int
    end_unix_nano: int
    service: str
    instance: str
    scope: str
    status_code: int
    status_message: str
    trace_state: str
    attributes: Mapping[str, Any]
    events: tuple[Mapping[str, Any], ...]
    links: tuple[Mapping[str, Any], ...]
    resource: Mapping[str, Any]
    is_decision: bool
    flagged: bool


@dataclass(frozen=True, slots=True)
class Trace:
    """Spans of one trace by start time; ``total`` tells a list cut at the reader's limit."""

    trace_id: str
    spans: tuple[SpanRow, ...]
    total: int


@dataclass(frozen=True, slots=True)
class WeightSample:
    """Newest value of one weight series (service, policy, node).

    ``change`` grows with every update over all series, so a reader asks for what changed since.
    ``scores`` maps scorer name to its score in [0, 1]; ``time_unix_nano`` is the end of the span that
    said so.
    """

    service: str
    policy: str
    node: str
    weight: float
    score: float | None
    scores: Mapping[str, float]
    scorer_weights: Mapping[str, float]
    time_unix_nano: int
    change: int


@dataclass(frozen=True, slots=True)
class WeightPoint:
    """One second of one weight series. ``chosen`` is how often the node won in that second.

    ``observations`` counts mentions (as a candidate or as the winner); weights are over those.
    ``adjusted`` is ``chosen`` corrected for sampling, None when a rate was unknown.
    """

    second: int
    service: str
    policy: str
    node: str
    chosen: int
    adjusted: float | None
    observations: int
    weight_mean: float
    weight_min: float
    weight_max: float
    weight_last: float
    confidence_mean: float | None


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """One node over a window: its weight, its stated share (of weights) and its realised share."""

    node: str
    policy: str
    service: str
    weight: float | None
    decisions: int
    realised_share: float
    stated_share: float | None
    last_seen_unix_nano: int


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """One arm of an experiment. The moments are of the latency in ms of its ``latencies`` ok outcomes.

    ``errors`` counts the outcomes that were not ok (error or dropped).
    """

    variant: str
    exposures: int
    outcomes: int
    errors: int
    latency_mean_ms: float | None
    latency_variance_ms2: float | None
    first_unix_nano: int
    last_unix_nano: int
    latencies: int = 0


@dataclass(frozen=True, slots=True)
class ExperimentSummary:
    """One experiment (``feature_flag.key``) and its arms, by name."""

    key: str
    arms: tuple[ArmSummary, ...]


@dataclass(frozen=True, slots=True)
class Facets:
    """Distinct values present in a time range, sorted, for filter menus."""

    services: tuple[str, ...]
    policies: tuple[str, ...]
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """One webhook delivery of an alert. ``state`` is pending, delivered, failed or disabled."""

    webhook_id: str
    destination: str
    state: str
    attempts: int
    next_attempt_unix_nano: int | None
    last_status: int | None
    last_error: str
    delivered_unix_nano: int | None


@dataclass(frozen=True, slots=True)
class AlertRow:
    """One alert. ``state`` is firing or resolved; label values are strings."""

    fingerprint: str
    alert_id: int
    rule: str
    state: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    value: float | None
    starts_unix_nano: int
    ends_unix_nano: int | None
    deliveries: tuple[DeliveryRow, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceRow:
    """Intake of one source since the store was made, newest figures first in ``rate``.

    ``rate`` is accepted spans a second over the last minute; ``lag_ms`` is receive time minus span end
    of its newest batch, null when never seen.
    """

    source: str
    accepted: int
    duplicated: int
    decisions: int
    unmapped: int
    rejected: Mapping[str, int]
    warned: Mapping[str, int]
    message: str
    rate: float
    last_seen_unix_nano: int


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """Newest heartbeat of one process. ``figures`` are its own gauges (queue_spans, rss_bytes, ...)."""

    role: str
    instance: str
    version: str
    started_unix_nano: int
    seen_unix_nano: int
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class StoreFigures:
    """Size and extent of the store. Row counts may be estimates (highest id minus lowest)."""

    size_bytes: int
    limit_bytes: int | None
    max_age_s: float | None
    spans: int
    decisions: int
    oldest_unix_nano: int | None
    newest_unix_nano: int | None
    schema: str


@dataclass(frozen=True, slots=True)
class HealthView:
    """Everything the health page shows."""

    sources: tuple[SourceRow, ...]
    processes: tuple[ProcessRow, ...]
    store: StoreFigures
