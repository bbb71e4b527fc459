"""Frozen values of the engine: Node, Request, Candidate, Score, Evaluation, Outcome.

Arrays inside a value are never written again after the value was made. Times are integer nanoseconds of
the wall clock (UTC).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import numpy.typing as npt

from .trace_context import TraceContext

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Scalar = str | bool | int | float


@dataclass(frozen=True, slots=True)
class Node:
    """A place a request can go.

    ``models`` is what it serves, empty means any. ``kv_capacity`` is in tokens, ``slots`` the requests
    it runs at once; None means unknown. ``labels`` are free (an address, a zone).
    """

    name: str
    models: frozenset[str] = frozenset()
    accelerator: str = ""
    kv_capacity: float | None = None
    slots: float | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a node needs a name")
        if self.kv_capacity is not None and not self.kv_capacity > 0:
            raise ValueError(f"a KV cache holds more than 0 tokens, not {self.kv_capacity!r}")


@dataclass(frozen=True, slots=True)
class Request:
    """What has to be placed.

    ``delta`` is the latency sensitivity in [0, 1]. ``tokens`` is the prompt's length and ``prefix`` the
    hashes of its leading blocks, outermost first, both optional. ``unit`` is who an experiment assigns
    (a user, a session). ``trace_parent`` is the caller's context or its ``traceparent`` header.
    ``experiment`` is (key, variant) when the caller has assigned the arm itself.
    """

    id: str = ""
    model: str | None = None
    accelerator: str | None = None
    delta: float = 0.5
    tokens: int = 0
    prefix: tuple[int, ...] = ()
    tenant: str | None = None
    unit: str | None = None
    experiment: tuple[str, str] | None = None
    trace_parent: str | TraceContext | None = None
    trace_state: str = ""
    attributes: Mapping[str, Scalar] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0.0 <= self.delta <= 1.0:
            raise ValueError(f"delta is a latency sensitivity in 0..1, not {self.delta!r}")
        if not self.tokens >= 0:
            raise ValueError(f"a prompt has 0 tokens or more, not {self.tokens!r}")


@dataclass(frozen=True, slots=True)
class Score:
    """What one scorer said of one candidate: ``value`` in [0, 1], ``weight`` of the scorer."""

    scorer: str
    weight: float
    value: float

    @property
    def contribution(self) -> float:
        """The part of the candidate's total that comes from this scorer."""
        return self.weight * self.value


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node that passed the filters: its effective weight, total score and the scores behind it."""

    node: Node
    weight: float
    total: float
    scores: tuple[Score, ...]


@dataclass(frozen=True, slots=True)
class Pick:
    """A picker's choice: ``index`` into the candidates, ``propensity`` = probability of that index.

    ``tie_count`` is how many candidates share the chosen one's total, itself included.
    """

    index: int
    propensity: float
    tie_count: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How the chosen candidate stands, for a confidence model.

    ``margin`` is its total less the best other one's (negative when a random picker took a lower one,
    None without another), ``span`` the largest total that can occur.
    """

    margin: float | None
    span: float
    candidates: int
    tie_count: int


@dataclass(frozen=True, slots=True)
class Policy:
    """Who decided: the profile's name, version and fingerprint, its scorers and its picker."""

    name: str
    version: str
    fingerprint: str
    strategy: str
    scorer_names: tuple[str, ...]
    scorer_weights: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What a profile said about one request: n candidates, k scorers.

    ``index`` (n,) points into ``fleet``, None when every node is a candidate. ``weights`` and ``totals``
    have shape (n,), ``scores`` (k, n). ``removed`` holds, per filter that removed nodes, their indices
    into ``fleet`` and its reason.
    """

    policy: Policy
    fleet: tuple[Node, ...]
    index: I64 | None
    weights: F64
    totals: F64
    scores: F64
    removed: tuple[tuple[I64, str], ...]
    pick: Pick
    margin: float | None
    confidence: float | None

    @property
    def chosen(self) -> int:
        """Index of the chosen node in ``fleet``."""
        picked = self.pick.index
        return picked if self.index is None else int(self.index[picked])

    def order(self) -> I64:
        """Candidate positions best first; among equal totals the chosen one leads. Shape (n,)."""
        behind = np.arange(len(self.totals)) != self.pick.index
        return np.lexsort((behind, -self.totals))

    def names(self, order: I64) -> list[str]:
        """Node names at the given candidate positions."""
        where = order if self.index is None else self.index[order]
        return [self.fleet[i].name for i in where.tolist()]

    def candidates(self) -> tuple[Candidate, ...]:
        """The candidates as objects, best first."""
        policy, found = self.policy, []
        for position in self.order().tolist():
            at = position if self.index is None else int(self.index[position])
            scores = tuple(
                Score(name, weight, float(self.scores[k, position]))
                for k, (name, weight) in enumerate(
                    zip(policy.scorer_names, policy.scorer_weights, strict=True)
                )
            )
            weight, total = float(self.weights[position]), float(self.totals[position])
            found.append(Candidate(self.fleet[at], weight, total, scores))
        return tuple(found)

    def filtered(self) -> dict[str, str]:
        """Removed node name to the reason of the filter that removed it."""
        return {self.fleet[i].name: reason for indices, reason in self.removed for i in indices.tolist()}


class OutcomeKind(Enum):
    """How a request ended; ``teaches`` tells what the engine learns from it."""

    OK = "ok"
    ERROR = "error"
    DROPPED = "dropped"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a request.

    OK teaches its latency and a success; ERROR and DROPPED teach a failure and never a latency; IGNORED
    teaches nothing. ``latency_ms`` defaults, for OK, to the time since the decision. ``time_ns`` is the
    wall clock of the end. ``attributes`` go on the outcome's span.
    """

    kind: OutcomeKind
    latency_ms: float | None = None
    time_ns: int | None = None
    message: str = ""
    attributes: Mapping[str, Scalar] = field(default_factory=dict)

    def __post_init__(self) -> None:
        latency = self.latency_ms
        if latency is not None and not (math.isfinite(latency) and latency >= 0):
            raise ValueError(f"a latency is a finite number of milliseconds from 0 up, not {latency!r}")
