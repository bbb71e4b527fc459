"""Scheduler.decide(): the hot path. Owns the nodes' state and the only lock of the engine.

One lock guards everything that changes: signals, own counters, outstanding decisions, the rng. A decision
holds it for its whole computation (tens of microseconds), so that the dispatch is counted before the next
decision looks: requests that arrive together would otherwise all see the same empty queue.
"""

import math
import random
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from .clock import SystemClock
from .decision import Decision, SpanIdentity
from .errors import ConfigurationError
from .fleet import Fleet, View
from .model import Node, Outcome, OutcomeKind, Request
from .policies import default_profile
from .profile import Profile
from .protocols import Clock, DecisionSink, Rng, SignalSource
from .signals import Stage, checked_alpha, smooth
from .trace_context import TraceContext, parse_traceparent


class PolicySource(Protocol):
    """Says which profile decides a request: a ``Profile`` itself, or a ``PolicySplit`` over several."""

    def select(self, request: Request, rng: Rng) -> tuple[Profile, tuple[str, str] | None]:
        """The profile, and the experiment arm (key, variant) if there is one."""
        ...


@dataclass(frozen=True, slots=True)
class SchedulerConfig:
    """Settings of a scheduler.

    ``latency_alpha`` smooths latency (0.3..0.7), ``failure_alpha`` the failure rate (0..1).
    ``outcome_timeout_s``: a decision without an outcome by then counts as abandoned and is no longer in
    flight; nothing is learnt from it. ``extra_signals`` are further signal names plug-ins read.
    """

    latency_alpha: float = 0.5
    failure_alpha: float = 0.2
    outcome_timeout_s: float = 120.0
    extra_signals: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checked_alpha(Stage.SCORING, self.latency_alpha)
        if not 0 < self.failure_alpha <= 1:
            raise ConfigurationError("failure_alpha lies above 0, up to 1")
        if not self.outcome_timeout_s > 0:
            raise ConfigurationError("outcome_timeout_s must be above 0")


class Scheduler:
    """Places requests on nodes.

    ``profile`` is a ``Profile`` or a ``PolicySplit``; without one, ``default_profile()``. ``clock`` and
    ``rng`` make it deterministic: the same seed and the same calls give the same decisions and the same
    ids. ``recorder`` receives every sampled decision and its outcome. Safe to use from several threads.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        profile: PolicySource | None = None,
        *,
        clock: Clock | None = None,
        rng: Rng | None = None,
        recorder: DecisionSink | None = None,
        config: SchedulerConfig | None = None,
    ) -> None:
        self._config = config or SchedulerConfig()
        self._profile: PolicySource = profile or default_profile()
        self._clock: Clock = clock or SystemClock()
        self._rng: Rng = rng or random.Random()  # noqa: S311 - spreads load, guards nothing
        self._ids = random.Random(self._seed()) if rng is not None else random.Random()  # noqa: S311 - span ids
        self._recorder = recorder
        self._lock = threading.Lock()
        self._fleet = Fleet(nodes, self._config.extra_signals)
        self._timeout_ns = round(self._config.outcome_timeout_s * 1e9)
        self._outstanding: dict[int, Decision] = {}

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes, in the order given."""
        return self._fleet.nodes

    def decide(self, request: Request) -> Decision:
        """Choose a node for the request.

        NoEligibleNodeError (with a reason per node) when no node may take it.
        """
        clock, fleet = self._clock, self._fleet
        started = clock.time_ns()
        parent = request.trace_parent
        if isinstance(parent, str):
            parent = parse_traceparent(parent, request.trace_state)
        with self._lock:
            monotonic = clock.monotonic_ns()
            self._expire(monotonic)
            profile, experiment = self._profile.select(request, self._rng)
            evaluation = profile.evaluate(request, View(fleet, started), self._rng)
            chosen = evaluation.chosen
            oldest = fleet.oldest_ns(profile.signals, chosen)
            identity = self._identify(parent)
            decision = Decision(
                request=request,
                evaluation=evaluation,
                identity=identity,
                started_ns=started,
                decided_ns=clock.time_ns(),
                monotonic_ns=monotonic,
                signal_age_ms=None if oldest is None else max(0, started - oldest) / 1e6,
                experiment=experiment,
                reporter=self.report,
            )
            self._dispatch(decision, chosen)
        if identity.sampled and self._recorder is not None:
            self._recorder.record(decision)
        return decision

    def report(self, decision: Decision, outcome: Outcome) -> bool:
        """Take the outcome of a decision in; False when it was reported before or has timed out."""
        now = self._clock.time_ns()
        with self._lock:
            monotonic = self._clock.monotonic_ns()
            self._expire(monotonic)
            if self._outstanding.get(decision.identity.span_id) is not decision:
                return False
            del self._outstanding[decision.identity.span_id]
            outcome = _completed(outcome, now, (monotonic - decision.monotonic_ns) / 1e6)
            self._release(decision)
            self._learn(decision, outcome, now)
        if decision.identity.sampled and self._recorder is not None:
            self._recorder.record_outcome(decision, outcome)
        return True

    def update_signals(self, node: str, values: Mapping[str, float], at: int | None = None) -> int:
        """Store what a node reports; names are those of ``engine.fleet.REPORTED``.

        ``at`` is the wall-clock time in ns at which the values were taken, now by default. A value older
        than the stored one is left out; returns how many were stored. UnknownNodeError for an unknown
        node, ConfigurationError for an unknown signal or a value that is not finite.
        """
        taken = self._clock.time_ns() if at is None else at
        with self._lock:
            return self._fleet.update(self._fleet.find(node), values, taken)

    def poll(self, source: SignalSource) -> int:
        """Store everything a source has; nodes it names that are unknown here are skipped."""
        stored = 0
        for node, values in source.read().items():
            with self._lock:
                at = self._fleet.index.get(node)
                if at is not None:
                    stored += sum(self._fleet.update(at, {n: v}, t) for n, (v, t) in values.items())
        return stored

    def signals(self, node: str) -> dict[str, tuple[float, int]]:
        """Signal name to (value, time taken) of one node, those ever seen."""
        with self._lock:
            fleet = self._fleet
            at = fleet.find(node)
            return {
                name: (fleet.get(name, at), taken)
                for name in fleet.rows
                if (taken := fleet.taken_ns(name, at))
            }

    def replace_nodes(self, nodes: Sequence[Node]) -> None:
        """Set the nodes; one that keeps its name keeps its signals and what was learnt of it."""
        with self._lock:
            self._fleet.replace(nodes)

    def replace_profile(self, profile: PolicySource) -> None:
        """Decide by another profile from the next request on."""
        with self._lock:
            self._profile = profile

    @property
    def inflight(self) -> int:
        """Decisions whose outcome is still to come."""
        with self._lock:
            self._expire(self._clock.monotonic_ns())
            return len(self._outstanding)

    def _seed(self) -> int:
        return int(self._rng.random() * 2**53) << 53 | int(self._rng.random() * 2**53)

    def _identify(self, parent: TraceContext | None) -> SpanIdentity:
        bits = self._ids.getrandbits
        trace_id = parent.trace_id if parent is not None else bits(128) or 1
        span_id = bits(64) or 1
        while span_id in self._outstanding:
            span_id = bits(64) or 1
        sampled = parent.sampled if parent is not None else True
        if self._recorder is not None:
            state = parent.trace_state if parent is not None else ""
            sampled = sampled and self._recorder.samples(trace_id, state)
        return SpanIdentity(trace_id, span_id, bits(64) or 1, parent, sampled)

    def _dispatch(self, decision: Decision, chosen: int) -> None:
        fleet = self._fleet
        for name in ("inflight", "dispatched"):
            fleet.set(name, chosen, fleet.get(name, chosen) + 1, decision.decided_ns)
        if decision.request.prefix:
            fleet.prefix.add(decision.request.prefix, chosen)
        self._outstanding[decision.identity.span_id] = decision

    def _release(self, decision: Decision) -> None:
        fleet = self._fleet
        at = fleet.index.get(decision.node.name)
        if at is None:
            return
        fleet.set("inflight", at, max(0.0, fleet.get("inflight", at) - 1), fleet.taken_ns("inflight", at))
        # A request counted in the last report has left the node's own figure, not ours.
        if fleet.taken_ns("queue_depth", at) <= decision.decided_ns:
            left = max(0.0, fleet.get("dispatched", at) - 1)
            fleet.set("dispatched", at, left, fleet.taken_ns("dispatched", at))

    def _learn(self, decision: Decision, outcome: Outcome, now: int) -> None:
        fleet, kind = self._fleet, outcome.kind
        at = fleet.index.get(decision.node.name)
        if at is None or kind is OutcomeKind.IGNORED:
            return
        failed = 0.0 if kind is OutcomeKind.OK else 1.0
        before = fleet.get("failure_rate", at)
        rate = smooth(0.0 if math.isnan(before) else before, failed, self._config.failure_alpha)
        fleet.set("failure_rate", at, rate, now)
        if kind is OutcomeKind.OK and outcome.latency_ms is not None:
            average = smooth(fleet.get("latency_ms", at), outcome.latency_ms, self._config.latency_alpha)
            fleet.set("latency_ms", at, average, now)

    def _expire(self, monotonic: int) -> None:
        """Drop the decisions whose outcome is overdue: the oldest come first, as they were made."""
        outstanding = self._outstanding
        while outstanding:
            span_id, decision = next(iter(outstanding.items()))
            if monotonic - decision.monotonic_ns < self._timeout_ns:
                return
            del outstanding[span_id]
            self._release(decision)


def _completed(outcome: Outcome, now: int, elapsed_ms: float) -> Outcome:
    """Fill in the end, and for a success the latency, where the caller left them out."""
    latency = outcome.latency_ms
    if latency is None and outcome.kind is OutcomeKind.OK:
        latency = max(0.0, elapsed_ms)
    time_ns = now if outcome.time_ns is None else outcome.time_ns
    if latency is outcome.latency_ms and time_ns == outcome.time_ns:
        return outcome
    return Outcome(outcome.kind, latency, time_ns, outcome.message, outcome.attributes)
