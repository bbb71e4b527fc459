"""What goes wrong in the simulated fleet, drawn from a seed and without end.

Four kinds, each with its own mean pause from the end of one to the start of the next, on a node that has
none at the time:

* antagonist: another tenant of the machine takes half of it for some seconds, without a ramp;
* degrade: the node slows to a fifth over half a minute, stays so, and recovers;
* drain: the node takes no new requests for a while (maintenance), then joins again;
* failing: most requests to the node fail at once.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

RAMP_STEPS = 10


@dataclass(frozen=True, slots=True)
class Disturbance:
    """A new condition of a node from ``time`` on.

    ``speed`` multiplies the node's own in (0, 1], ``error_rate`` in [0, 1] is the chance that a request
    fails there, ``draining`` refuses new ones. ``kind`` is what causes it and ``begins`` marks the first
    of its steps; the last one has speed 1, no errors and no draining.
    """

    time: float
    node: int
    kind: str
    begins: bool
    speed: float = 1.0
    error_rate: float = 0.0
    draining: bool = False

    @property
    def ends(self) -> bool:
        """Whether the node is well again."""
        return self.speed == 1.0 and self.error_rate == 0.0 and not self.draining


@dataclass(frozen=True, slots=True)
class Calendar:
    """Mean pause in seconds before each kind; inf turns it off. ``first`` scales the first pause."""

    antagonist: float = 20.0
    degrade: float = 60.0
    drain: float = 90.0
    failing: float = 120.0
    first: float = 0.4


def disturbances(nodes: int, seed: int, calendar: Calendar | None = None) -> Iterator[Disturbance]:
    """Endless conditions in order of time for ``nodes`` nodes; the same seed gives the same ones."""
    return _generate(nodes, np.random.default_rng(seed), calendar or Calendar())


def _generate(nodes: int, rng: np.random.Generator, calendar: Calendar) -> Iterator[Disturbance]:
    pauses = {
        "antagonist": calendar.antagonist,
        "degrade": calendar.degrade,
        "drain": calendar.drain,
        "failing": calendar.failing,
    }
    starts: list[tuple[float, str]] = []
    for kind, mean in pauses.items():
        if np.isfinite(mean):
            heapq.heappush(starts, (float(mean * calendar.first * (0.5 + rng.random())), kind))
    ahead: list[tuple[float, int, Disturbance]] = []
    taken: dict[int, float] = {}  # node to when it is well again
    number = 0
    while starts:
        time, kind = heapq.heappop(starts)
        while ahead and ahead[0][0] <= time:
            yield heapq.heappop(ahead)[2]
        free = [node for node in range(nodes) if taken.get(node, 0.0) <= time]
        end = time
        if free:
            steps = _episode(kind, time, int(rng.choice(free)), rng)
            end = steps[-1].time
            taken[steps[0].node] = end
            for step in steps:
                number += 1
                heapq.heappush(ahead, (step.time, number, step))
        pause = pauses[kind] * (0.5 + float(rng.exponential(0.5)))
        heapq.heappush(starts, (end + pause, kind))


def _episode(kind: str, time: float, node: int, rng: np.random.Generator) -> list[Disturbance]:
    length = float(rng.uniform(0.7, 1.3))
    if kind == "antagonist":
        middle = [Disturbance(time, node, kind, begins=True, speed=float(rng.uniform(0.35, 0.65)))]
        return [*middle, Disturbance(time + 8.0 * length, node, kind, begins=False)]
    if kind == "drain":
        middle = [Disturbance(time, node, kind, begins=True, draining=True)]
        return [*middle, Disturbance(time + 30.0 * length, node, kind, begins=False)]
    if kind == "failing":
        middle = [Disturbance(time, node, kind, begins=True, error_rate=float(rng.uniform(0.6, 0.9)))]
        return [*middle, Disturbance(time + 15.0 * length, node, kind, begins=False)]
    low, ramp, hold = float(rng.uniform(0.15, 0.3)), 20.0 * length, 40.0 * length
    down = [
        Disturbance(
            time + ramp * k / RAMP_STEPS, node, kind, k == 0, speed=1 + (low - 1) * (k + 1) / RAMP_STEPS
        )
        for k in range(RAMP_STEPS)
    ]
    up = [
        Disturbance(
            time + ramp + hold + ramp * k / (2 * RAMP_STEPS),
            node,
            kind,
            begins=False,
            speed=low + (1 - low) * k / RAMP_STEPS,
        )
        for k in range(1, RAMP_STEPS)
    ]
    return [*down, *up, Disturbance(time + 1.5 * ramp + hold, node, kind, begins=False)]
