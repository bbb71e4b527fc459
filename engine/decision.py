"""A decision: what was chosen, and the handle through which its outcome comes back.

``started_ns`` and ``decided_ns`` are wall clock (nanoseconds, UTC), ``monotonic_ns`` is not.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType

from .model import Candidate, Evaluation, Node, Outcome, OutcomeKind, Request, Scalar
from .trace_context import TraceContext, format_traceparent


@dataclass(frozen=True, slots=True)
class SpanIdentity:
    """Ids of a decision's span and of the call that follows it.

    ``parent`` is the caller's context, None for a decision that starts its own trace.
    """

    trace_id: int
    span_id: int
    upstream_span_id: int
    parent: TraceContext | None
    sampled: bool


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """One choice, and the handle through which its outcome is reported.

    As a context manager it reports an exception as ERROR (a cancellation as IGNORED) and leaving without
    a verdict as IGNORED. Only the first report counts; the methods return whether theirs did.
    """

    request: Request
    evaluation: Evaluation
    identity: SpanIdentity
    started_ns: int
    decided_ns: int
    monotonic_ns: int
    signal_age_ms: float | None
    experiment: tuple[str, str] | None
    reporter: Callable[["Decision", Outcome], bool] = field(repr=False)

    @property
    def node(self) -> Node:
        """The chosen node."""
        return self.evaluation.fleet[self.evaluation.chosen]

    @property
    def weight(self) -> float:
        """Effective weight of the chosen node at decision time, 0..1."""
        return float(self.evaluation.weights[self.evaluation.pick.index])

    @property
    def score(self) -> float:
        """Total score of the chosen node."""
        return float(self.evaluation.totals[self.evaluation.pick.index])

    @property
    def confidence(self) -> float | None:
        """Confidence of the profile's model, 0..1, None where it has none."""
        return self.evaluation.confidence

    @property
    def margin(self) -> float | None:
        """Total score less the best other candidate's, None without another."""
        return self.evaluation.margin

    @property
    def propensity(self) -> float:
        """Probability with which this node was chosen."""
        return self.evaluation.pick.propensity

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """All candidates, best first; built on each access."""
        return self.evaluation.candidates()

    @property
    def filtered(self) -> dict[str, str]:
        """Removed node name to reason; built on each access."""
        return self.evaluation.filtered()

    @property
    def trace_id(self) -> str:
        """Trace id, 32 lower-case hex digits."""
        return f"{self.identity.trace_id:032x}"

    @property
    def span_id(self) -> str:
        """Span id of the decision's span, 16 lower-case hex digits."""
        return f"{self.identity.span_id:016x}"

    @property
    def id(self) -> str:
        """``<trace id>/<span id>``: what an outcome span names in ``decision.id``."""
        return f"{self.trace_id}/{self.span_id}"

    @property
    def traceparent(self) -> str:
        """``traceparent`` header that makes a span the child of the decision's span."""
        identity = self.identity
        return format_traceparent(identity.trace_id, identity.span_id, sampled=identity.sampled)

    @property
    def upstream_traceparent(self) -> str:
        """``traceparent`` header to send to the node: child of the span ``upstream <node>``."""
        identity = self.identity
        return format_traceparent(identity.trace_id, identity.upstream_span_id, sampled=identity.sampled)

    def succeeded(
        self, latency_ms: float | None = None, attributes: Mapping[str, Scalar] | None = None
    ) -> bool:
        """Report success; without a latency, the time since the decision is taken."""
        return self.reporter(self, Outcome(OutcomeKind.OK, latency_ms, attributes=attributes or {}))

    def failed(self, message: str = "", latency_ms: float | None = None) -> bool:
        """Report an error of the node; it teaches a failure, never a latency."""
        return self.reporter(self, Outcome(OutcomeKind.ERROR, latency_ms, message=message))

    def dropped(self, message: str = "", latency_ms: float | None = None) -> bool:
        """Report that the node refused or timed out; it teaches a failure, never a latency."""
        return self.reporter(self, Outcome(OutcomeKind.DROPPED, latency_ms, message=message))

    def ignored(self) -> bool:
        """Report an end that says nothing about the node (the client left, a cancellation)."""
        return self.reporter(self, Outcome(OutcomeKind.IGNORED))

    def __enter__(self) -> "Decision":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and issubclass(kind, Exception):
            self.failed(kind.__name__)
        else:
            self.ignored()
