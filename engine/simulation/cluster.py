"""The simulated cluster: nodes, disturbances and requests under one virtual clock.

Purely event-driven: nothing sleeps, nothing is read or sent, and one seed gives one history. The
caller moves time with ``advance`` and hands in each request where it wants it; what happened comes back in
order of time.
"""

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np

from .disturbances import Disturbance
from .fleet import NodeSpec
from .node import Job, Load, SimulatedNode

FAILURE_S = 0.02
"""A failing node answers that soon."""


class End(Enum):
    """How a request ended."""

    OK = "ok"
    ERROR = "error"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class FirstToken:
    """A request got its first token at ``time``."""

    time: float
    node: int
    job: Job


@dataclass(frozen=True, slots=True)
class Finished:
    """A request ended at ``time``; ``message`` says why when not well."""

    time: float
    node: int
    job: Job
    end: End
    message: str = ""


Event = FirstToken | Finished | Disturbance


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """``error_rate`` in [0, 1] is the chance of a failure on a healthy node.

    ``patience`` > 0 is how many seconds a request waits in a node's queue before its client gives up.
    """

    error_rate: float = 0.003
    patience: float = 15.0


class Cluster:
    """N nodes at virtual time ``now``, in seconds from 0. Not thread-safe."""

    def __init__(
        self,
        fleet: tuple[NodeSpec, ...],
        seed: int,
        trouble: Iterator[Disturbance] | None = None,
        config: ClusterConfig | None = None,
    ) -> None:
        self.now = 0.0
        self.fleet = fleet
        self._config = config or ClusterConfig()
        self._rng = np.random.default_rng(seed)
        self._nodes = [SimulatedNode(spec.speed, spec.memory) for spec in fleet]
        self._condition = [Disturbance(0.0, i, "", begins=False) for i in range(len(fleet))]
        self._trouble = trouble if trouble is not None else iter(())
        self._next_trouble = next(self._trouble, None)
        self._agenda: list[tuple[float, int, int, Job | None, bool]] = []  # (time, order, node, job, fails)
        self._order = 0

    def condition(self, node: int) -> Disturbance:
        """The condition a node is in now."""
        return self._condition[node]

    def load(self, node: int) -> Load:
        """What a node reports of itself now."""
        return self._nodes[node].load(self.now)

    def submit(self, job: Job, node: int, delay: float = 0.0) -> None:
        """Send a request to a node, ``delay`` >= 0 seconds from now; it arrives half a round trip later.

        Raises ValueError when it can never fit that node.
        """
        spec, condition = self.fleet[node], self._condition[node]
        if job.prompt + job.output > spec.memory:
            raise ValueError(f"request {job.id} does not fit {spec.name}")
        job.dispatched = self.now + delay
        fails = bool(self._rng.random() < max(condition.error_rate, self._config.error_rate))
        self._put(job.dispatched + spec.rtt / 2 + (FAILURE_S if fails else 0.0), node, job, fails=fails)

    def advance(self, until: float) -> list[Event]:
        """Run to ``until`` (not before ``now``) and return what happened, in order of time."""
        if until < self.now:
            raise ValueError("time does not run backwards")
        events: list[Event] = []
        while True:
            at = self._agenda[0][0] if self._agenda else until
            if self._next_trouble is not None and self._next_trouble.time <= min(at, until):
                self._suffer(self._next_trouble)
                events.append(self._next_trouble)
                self._next_trouble = next(self._trouble, None)
            elif self._agenda and at <= until:
                self._happen(events)
            else:
                self.now = until
                return events

    def _put(self, time: float, node: int, job: Job | None, *, fails: bool = False) -> None:
        self._order += 1
        heapq.heappush(self._agenda, (time, self._order, node, job, fails))

    def _suffer(self, change: Disturbance) -> None:
        self.now = change.time
        self._condition[change.node] = change
        self._nodes[change.node].set_speed(self.fleet[change.node].speed * change.speed, self.now)
        self._wake(change.node)

    def _wake(self, node: int) -> None:
        due = self._nodes[node].due
        if due != math.inf:
            self._put(due, node, None)

    def _happen(self, events: list[Event]) -> None:
        time, _, where, job, fails = heapq.heappop(self._agenda)
        self.now, node = time, self._nodes[where]
        if job is None:
            if node.due != time:  # the plan was cut or replaced since
                return
            first, ended = node.step()
            events.extend(FirstToken(time, where, one) for one in first)
            events.extend(Finished(time, where, one, End.OK) for one in ended)
        elif fails:
            job.finished = time
            events.append(Finished(time, where, job, End.ERROR, "upstream connect error: connection refused"))
            return
        elif job.abandoned or not math.isnan(job.started):  # it left the queue in time
            return
        elif job.dispatched + self._config.patience <= time:
            job.abandoned, job.finished = True, time
            events.append(Finished(time, where, job, End.DROPPED, "gave up waiting in the queue"))
            return
        else:
            node.submit(job, time)
            self._put(max(time, job.dispatched + self._config.patience), where, job)
        self._wake(where)
