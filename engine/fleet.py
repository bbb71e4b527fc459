"""The nodes and their newest signals, in arrays; and the view of them that plug-ins read.

One row per signal, one column per node, and beside each value the time it was taken. The fleet has no
lock of its own: the scheduler's guards it.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

import numpy as np

from .errors import ConfigurationError, UnknownNodeError
from .model import F64, I64, Mask, Node
from .prefix import PrefixIndex

REPORTED = (
    "cpu_utilisation",  # 0..1
    "memory_utilisation",  # 0..1
    "kv_utilisation",  # 0..1
    "gpu_memory_utilisation",  # 0..1
    "io_wait",  # share of time, 0..1
    "queue_depth",  # requests waiting
    "running",  # requests being served
    "instances",  # of the same service on the node
    "rtt_ms",
    "loss",  # share of packets, 0..1
    "healthy",  # 0 or 1
    "breaker_open",  # 0 or 1
)
"""Signals that come from outside through ``Scheduler.update_signals``."""

OWN = (
    "latency_ms",  # smoothed, successes only
    "failure_rate",  # smoothed share of failures, 0..1
    "inflight",  # decisions without an outcome
    "dispatched",  # own decisions since queue_depth was last reported
)
"""Signals the scheduler keeps itself from its decisions and their outcomes."""

_MASKS = 256
_NOT_NEGATIVE = frozenset(REPORTED)

T = TypeVar("T")


class Fleet:
    """Nodes by index, signal values (NaN where never seen) and the wall-clock time of each value."""

    def __init__(self, nodes: Sequence[Node], extra_signals: Sequence[str] = ()) -> None:
        names = dict.fromkeys((*REPORTED, *OWN, *extra_signals))
        self.rows = {name: row for row, name in enumerate(names)}
        self.nodes: tuple[Node, ...] = ()
        self.index: dict[str, int] = {}
        self.values: F64 = np.empty((len(self.rows), 0))
        self.times: I64 = np.zeros((len(self.rows), 0), np.int64)
        self.prefix = PrefixIndex()
        self.kv_share: F64 = np.empty(0)
        self._masks: dict[Hashable, Mask | None] = {}
        self._derived: dict[Hashable, tuple[int, Any]] = {}
        self._changes = [0] * len(self.rows)
        self._signals: dict[str, F64] = {}
        self.replace(nodes)

    def replace(self, nodes: Sequence[Node]) -> None:
        """Set the nodes; one that keeps its name keeps its signals. Two of one name: ConfigurationError."""
        index = {node.name: at for at, node in enumerate(nodes)}
        if len(index) != len(nodes):
            raise ConfigurationError("two nodes have the same name")
        values = np.full((len(self.rows), len(nodes)), math.nan)
        times = np.zeros((len(self.rows), len(nodes)), np.int64)
        values[[self.rows["inflight"], self.rows["dispatched"]]] = 0.0
        for name, at in index.items():
            if (before := self.index.get(name)) is not None:
                values[:, at], times[:, at] = self.values[:, before], self.times[:, before]
        self.nodes, self.index, self.values, self.times = tuple(nodes), index, values, times
        self._signals = {name: values[row] for name, row in self.rows.items()}
        self.kv_share = np.array([1.0 / (node.kv_capacity or math.inf) for node in nodes], np.float64)
        self._masks.clear()
        self._derived.clear()
        self.prefix.clear()

    def find(self, name: str) -> int:
        """Index of the node of this name; UnknownNodeError without one."""
        at = self.index.get(name)
        if at is None:
            raise UnknownNodeError(name)
        return at

    def signal(self, name: str) -> F64:
        """The live row of a signal, shape (nodes,); ConfigurationError for an unknown name."""
        row = self._signals.get(name)
        if row is None:
            raise ConfigurationError(self._unknown(name))
        return row

    def update(self, at: int, values: Mapping[str, float], taken_ns: int) -> int:
        """Store reported values of node ``at``; older than what is there are left out. Returns how many.

        ConfigurationError for an unknown or own signal, for NaN or infinity and for a negative value of a
        signal in ``REPORTED``; then nothing is stored.
        """
        for name, value in values.items():
            if name in OWN or name not in self.rows:
                raise ConfigurationError(self._unknown(name))
            if not math.isfinite(value) or (value < 0 and name in _NOT_NEGATIVE):
                raise ConfigurationError(f"signal {name!r} is finite and not negative, so never {value!r}")
        stored = 0
        for name, value in values.items():
            if taken_ns < self.times[self.rows[name], at]:
                continue
            self.set(name, at, value, taken_ns)
            stored += 1
            if name == "queue_depth":
                self.set("dispatched", at, 0.0, taken_ns)
        return stored

    def set(self, name: str, at: int, value: float, taken_ns: int) -> None:
        """Store one value."""
        row = self.rows[name]
        if self.values[row, at] != value:
            self.values[row, at] = value
            self._changes[row] += 1
        self.times[row, at] = taken_ns

    def get(self, name: str, at: int) -> float:
        """Value of one signal of one node, NaN when never seen."""
        return float(self.values[self.rows[name], at])

    def taken_ns(self, name: str, at: int) -> int:
        """Wall-clock time at which one value was taken, 0 when never."""
        return int(self.times[self.rows[name], at])

    def oldest_ns(self, names: Sequence[str], at: int) -> int | None:
        """Time of the oldest value among the reported signals ``names`` of one node, None without any."""
        times, rows = self.times, self.rows
        seen = [taken for name in names if (taken := times[rows[name], at])]
        return int(min(seen)) if seen else None

    def mask(self, key: Hashable, wanted: Callable[[Node], bool]) -> Mask | None:
        """Which nodes satisfy a predicate that depends on nothing but the node and ``key``; cached.

        None when all do.
        """
        if key not in self._masks:
            if len(self._masks) >= _MASKS:
                self._masks.clear()
            found = np.fromiter((wanted(node) for node in self.nodes), np.bool_, len(self.nodes))
            self._masks[key] = None if found.all() else found
        return self._masks[key]

    def derived(self, key: Hashable, signals: Sequence[str], compute: Callable[[], T]) -> T:
        """What ``compute`` makes of some signals' rows, kept until a value of those rows changes."""
        change = 0
        for signal in signals:  # counters only grow, so their sum tells any change
            change += self._changes[self.rows[signal]]
        held = self._derived.get(key)
        if held is None or held[0] != change:
            held = self._derived[key] = change, compute()
        value: T = held[1]
        return value

    def _unknown(self, name: str) -> str:
        if name in OWN:
            return f"signal {name!r} is kept by the scheduler itself"
        near = get_close_matches(name, self.rows, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"unknown signal {name!r}{hint}"


class View:
    """The fleet as one decision sees it: all nodes, or only the candidates.

    Arrays it returns are to be read, never written. ``weights`` is set by the profile before the scorers
    run: the effective weight of each candidate.
    """

    __slots__ = ("_fleet", "_memo", "index", "now_ns", "weights")

    def __init__(self, fleet: Fleet, now_ns: int, index: I64 | None = None) -> None:
        self._fleet = fleet
        self.now_ns = now_ns
        self.index = index
        self.weights: F64 = _NONE
        self._memo: dict[Hashable, F64] = {}

    def __len__(self) -> int:
        return len(self._fleet.nodes) if self.index is None else len(self.index)

    @property
    def fleet_nodes(self) -> tuple[Node, ...]:
        """Every node of the fleet, candidates or not."""
        return self._fleet.nodes

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of this view."""
        nodes = self._fleet.nodes
        return nodes if self.index is None else tuple(nodes[i] for i in self.index.tolist())

    def restricted(self, index: I64) -> "View":
        """The view of the candidates ``index`` of the fleet."""
        return View(self._fleet, self.now_ns, index)

    def signal(self, name: str) -> F64:
        """Newest value per node, NaN where never seen. Shape (n,)."""
        row = self._fleet.signal(name)
        return row if self.index is None else row[self.index]

    def filled(self, name: str, default: float) -> F64:
        """Newest value per node with ``default`` where never seen. Shape (n,)."""
        row = self.signal(name)
        return np.where(np.isnan(row), default, row)

    def decay(self, name: str, time_constant_s: float) -> F64:
        """``exp(-age / time constant)`` of each value, 0 where never seen. Shape (n,)."""
        taken = self._fleet.times[self._fleet.rows[name]]
        if self.index is not None:
            taken = taken[self.index]
        exponent = (taken - self.now_ns) * (1e-9 / time_constant_s)
        found: F64 = np.exp(np.minimum(exponent, 0.0, out=exponent), out=exponent)
        return found

    def age_s(self, name: str) -> F64:
        """Seconds since each value was taken, infinite where never seen, never negative. Shape (n,)."""
        taken = self._fleet.times[self._fleet.rows[name]]
        if self.index is not None:
            taken = taken[self.index]
        return np.where(taken == 0, np.inf, np.maximum(0, self.now_ns - taken) * 1e-9)

    def mask(self, key: Hashable, wanted: Callable[[Node], bool]) -> Mask | None:
        """Which nodes satisfy a predicate of the node alone, None when all do.

        ``key`` names the predicate; the answer is cached.
        """
        found = self._fleet.mask(key, wanted)
        return found if found is None or self.index is None else found[self.index]

    def derived(self, key: Hashable, signals: Sequence[str], compute: Callable[["View"], T]) -> T:
        """``compute`` of this view, which may read those signals and no clock.

        For a view of all nodes the answer is kept until a value of one of the signals changes.
        """
        if self.index is not None:
            return compute(self)
        return self._fleet.derived(key, signals, lambda: compute(self))

    def once(self, key: Hashable, compute: Callable[["View"], F64]) -> F64:
        """``compute`` of this view, worked out once per decision for all plug-ins that need it."""
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = compute(self)
        return found

    def kv_share(self) -> F64:
        """Share of each node's KV cache that one token takes, 0 where its size is unknown. Shape (n,)."""
        found = self._fleet.kv_share
        return found if self.index is None else found[self.index]

    def prefix_hits(self, blocks: tuple[int, ...]) -> F64:
        """Leading blocks each node probably has cached. Shape (n,)."""
        found = self._fleet.prefix.hits(blocks, len(self._fleet.nodes))
        return found if self.index is None else found[self.index]


_NONE: F64 = np.empty(0)
