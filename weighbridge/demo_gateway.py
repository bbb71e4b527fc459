"""The demo's gateway: places each request of the simulated workload with the real engine.

It reports the nodes' signals to the scheduler, decides, retries a failed request once, tells the scheduler
how each attempt ended, and hands every finished request on to be made into spans. It knows virtual time
only; whoever drives it says how far.
"""

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from engine import (
    Decision,
    Node,
    NoEligibleNodeError,
    Outcome,
    OutcomeKind,
    PolicySplit,
    Request,
    Scheduler,
    SchedulerConfig,
    TraceContext,
    default_profile,
)
from engine.prefix import BLOCK_TOKENS
from engine.profile import Profile
from engine.protocols import DecisionSink
from engine.simulation import (
    PRIORITIES,
    Arrival,
    Cluster,
    Disturbance,
    End,
    Finished,
    Job,
    NodeSpec,
    arrivals,
    build_fleet,
    disturbances,
    load_trace,
    scale_to_load,
)
from weighbridge.demo_breaker import Breaker
from weighbridge.demo_clock import DemoClock

EXPERIMENT = "queue-first"
CONTROL = "llm-cost-aware"
TREATMENT = "llm-queue-first"
REPORT_S = 0.5
"""Seconds between two reports of one node, of the wall clock."""
TRACE_STATE = "ot=th:0"
"""Every trace is kept, so each span stands for one."""
SERVING_SLOTS = 48
"""Requests at which a node counts as fully occupied."""

_OUTCOMES = {End.OK: OutcomeKind.OK, End.ERROR: OutcomeKind.ERROR, End.DROPPED: OutcomeKind.DROPPED}


@dataclass(frozen=True, slots=True)
class GatewayConfig:
    """What is simulated. ``load`` is the share of the fleet's capacity in use at ``rate`` requests/s."""

    nodes: int = 64
    rate: float = 100.0
    seed: int = 7
    experiment: bool = True
    load: float = 0.62
    report_s: float = REPORT_S


@dataclass(slots=True, eq=False)
class Flight:
    """One request on its way: its root span's context and start, and its attempts in order.

    ``ended`` is the virtual time of the end; ``message`` says what went wrong, empty when all went well.
    """

    arrival: Arrival
    context: TraceContext
    started_ns: int
    attempts: list[tuple[Decision, Job]] = field(default_factory=list)
    ended: float = math.nan
    end: End = End.OK
    message: str = ""

    @property
    def shown(self) -> bool:
        """Whether its decisions are recorded; one that was never placed is shown as well."""
        return all(decision.identity.sampled for decision, _ in self.attempts)


@dataclass(slots=True)
class GatewayCounts:
    """Since the start. ``unplaced`` requests found no eligible node."""

    requests: int = 0
    decisions: int = 0
    errors: int = 0
    dropped: int = 0
    retried: int = 0
    unplaced: int = 0


class Gateway:
    """The gateway and its cluster at one virtual time. Not thread-safe.

    ``done`` receives every request that ended, ``recorder`` the decisions and outcomes.
    """

    def __init__(
        self,
        config: GatewayConfig,
        clock: DemoClock,
        recorder: DecisionSink | None,
        done: Callable[[Flight], None],
    ) -> None:
        self.counts = GatewayCounts()
        self._clock = clock
        self._done = done
        trace = load_trace()
        self.fleet = scale_to_load(build_fleet(config.nodes), config.rate, trace.mean_cost(), config.load)
        trouble = disturbances(config.nodes, config.seed + 1)
        self._cluster = Cluster(self.fleet, config.seed + 2, trouble)
        self._arrivals: Iterator[Arrival] = arrivals(trace, config.rate, config.seed)
        self._next = next(self._arrivals)
        self._rng = random.Random(config.seed + 3)  # noqa: S311  # trace ids of a simulation
        self._scheduler = Scheduler(
            [_node(spec) for spec in self.fleet],
            _profile(experiment=config.experiment),
            clock=clock,
            rng=random.Random(config.seed + 4),  # noqa: S311  # breaks ties
            recorder=recorder,
            config=SchedulerConfig(outcome_timeout_s=3_600.0),
        )
        self._index = {spec.name: at for at, spec in enumerate(self.fleet)}
        self._breakers = [Breaker() for _ in self.fleet]
        self._flights: dict[int, Flight] = {}
        self._attempts = 0
        self._report_step = config.report_s / config.nodes
        self._reports = 0
        for node, spec in enumerate(self.fleet):
            self._tell(node, {"healthy": 1.0, "rtt_ms": spec.rtt * 1e3})

    @property
    def inflight(self) -> int:
        """Requests that have not ended."""
        return len(self._flights)

    @property
    def next_time(self) -> float:
        """Virtual time of the next request."""
        return self._next.time

    def run(self, until: float) -> None:
        """Let everything happen up to the virtual time ``until``."""
        while True:
            report = self._reports * self._report_step
            upcoming = min(report, self._next.time)
            if upcoming > until:
                break
            self._advance(upcoming)
            if report <= self._next.time:
                self._report(self._reports % len(self.fleet))
                self._reports += 1
            else:
                self._arrive(self._next)
                self._next = next(self._arrivals)
        self._advance(until)

    def _advance(self, until: float) -> None:
        for event in self._cluster.advance(until):
            if isinstance(event, Finished):
                self._finish(event)
            elif isinstance(event, Disturbance):
                self._suffer(event)

    def _arrive(self, arrival: Arrival) -> None:
        self.counts.requests += 1
        context = TraceContext(
            self._rng.getrandbits(128) or 1, self._rng.getrandbits(64) or 1, trace_state=TRACE_STATE
        )
        self._place(Flight(arrival, context, self._clock.at(arrival.time)))

    def _place(self, flight: Flight) -> None:
        """Decide and dispatch at the cluster's present."""
        arrival, now = flight.arrival, self._cluster.now
        self._clock.enter(now)
        try:
            decision = self._scheduler.decide(_request(flight))
        except NoEligibleNodeError as error:
            self.counts.unplaced += 1
            self._end(flight, now, End.DROPPED, str(error))
            return
        self.counts.decisions += 1
        self._attempts += 1
        job = Job(self._attempts, arrival.prompt, arrival.output, arrival.session, arrival.prefix)
        flight.attempts.append((decision, job))
        self._flights[job.id] = flight
        # The request leaves when the decision is made, which took real time.
        took = self._clock.virtual(decision.decided_ns - self._clock.at(now))
        self._cluster.submit(job, self._index[decision.node.name], took)

    def _finish(self, event: Finished) -> None:
        flight = self._flights.pop(event.job.id)
        decision, job = flight.attempts[-1]
        self._clock.enter(event.time)
        self._scheduler.report(decision, self._outcome(event, job))
        breaker = self._breakers[event.node]
        if event.end is End.OK:
            breaker.succeeded()
        elif breaker.failed(event.time):
            self._tell(event.node, {"breaker_open": 1.0})
        if event.end is End.ERROR and len(flight.attempts) == 1:
            self.counts.retried += 1
            self._place(flight)
            return
        self._end(flight, event.time, event.end, event.message)

    def _outcome(self, event: Finished, job: Job) -> Outcome:
        """How the attempt ended; its latency is the time to first token, which is what placement decides.

        The whole duration (on the span itself) mostly tells how long the answer was.
        """
        latency = (job.first_token - job.dispatched) * 1e3 if event.end is End.OK else None
        usage = {"gen_ai.usage.input_tokens": job.prompt, "gen_ai.usage.output_tokens": job.output}
        return Outcome(
            _OUTCOMES[event.end],
            latency,
            self._clock.at(event.time),
            event.message,
            usage if event.end is End.OK else {},
        )

    def _end(self, flight: Flight, time: float, end: End, message: str) -> None:
        flight.ended, flight.end, flight.message = time, end, message
        self.counts.errors += end is End.ERROR
        self.counts.dropped += end is End.DROPPED
        self._done(flight)

    def _suffer(self, change: Disturbance) -> None:
        if change.kind == "drain":
            self._clock.enter(change.time)
            self._tell(change.node, {"healthy": 0.0 if change.draining else 1.0})

    def _report(self, node: int) -> None:
        """What the node and its host say of themselves, as a scrape would bring it."""
        self._clock.enter(self._cluster.now)
        load, taken = self._cluster.load(node), 1.0 - self._cluster.condition(node).speed
        serving = min(1.0, load.running / SERVING_SLOTS)
        values = {
            "queue_depth": float(load.waiting),
            "running": float(load.running),
            "kv_utilisation": load.kv,
            # A disturbed machine is busy with something else; the rest of it serves.
            "cpu_utilisation": min(1.0, 0.05 + taken + (1.0 - taken) * 0.6 * serving),
            "memory_utilisation": 0.2 + 0.3 * serving,
        }
        if self._breakers[node].closes(self._cluster.now):
            values["breaker_open"] = 0.0
        self._tell(node, values)

    def _tell(self, node: int, values: dict[str, float]) -> None:
        self._scheduler.update_signals(self.fleet[node].name, values)


def _node(spec: NodeSpec) -> Node:
    return Node(
        spec.name,
        models=spec.models,
        accelerator=spec.accelerator,
        kv_capacity=float(spec.memory),
        slots=float(SERVING_SLOTS),
        labels={"zone": spec.zone},
    )


def _profile(*, experiment: bool) -> Profile | PolicySplit:
    """The two arms, half of the sessions each; without an experiment only the control's policy."""
    control = default_profile(CONTROL)
    if not experiment:
        return control
    treatment = default_profile(
        TREATMENT,
        scorers={
            "weight": 0.15,
            "queue_depth": 0.45,
            "latency": 0.10,
            "reliability": 0.15,
            "prefix_affinity": 0.10,
            "kv_room": 0.05,
        },
    )
    return PolicySplit(EXPERIMENT, {"control": (control, 0.5), "treatment": (treatment, 0.5)})


_DELTAS = {name: delta for name, _, delta in PRIORITIES}


def _request(flight: Flight) -> Request:
    arrival = flight.arrival
    # A block is shared when both prompts reach it: three quarters of the shorter one, as the workload states.
    blocks = 3 * arrival.prompt // 4 // BLOCK_TOKENS
    attributes: dict[str, str | int] = {"request.priority": arrival.priority}
    if flight.attempts:
        attributes["http.request.resend_count"] = len(flight.attempts)
    return Request(
        id=str(arrival.id),
        model=arrival.model,
        delta=arrival.delta,
        tokens=arrival.prompt,
        prefix=tuple((arrival.session << 8) + block for block in range(blocks)),
        tenant=arrival.tenant,
        unit=f"session-{arrival.session}",
        trace_parent=flight.context,
        attributes=attributes,
    )
