"""Every extension point of the engine.

A plug-in is best a frozen dataclass: its fields are its configuration, and the policy's fingerprint is
made of them. Plug-ins are pure: they read the request and the view and keep nothing between calls.
"""

from collections.abc import Mapping
from typing import ClassVar, Protocol, runtime_checkable

from .decision import Decision
from .fleet import View
from .model import F64, Mask, Outcome, Pick, Request, Standing


class Clock(Protocol):
    """Time as an argument."""

    def time_ns(self) -> int:
        """Wall clock, nanoseconds since the Unix epoch."""
        ...

    def monotonic_ns(self) -> int:
        """Nanoseconds that never step back."""
        ...


class Rng(Protocol):
    """Randomness as an argument: ``random.Random`` and ``numpy.random.Generator`` both fit."""

    def random(self) -> float:
        """A float in [0, 1)."""
        ...


@runtime_checkable
class Filter(Protocol):
    """Removes nodes that cannot take the request."""

    name: ClassVar[str]

    def keep(self, request: Request, view: View) -> Mask | None:
        """True for each node that stays, shape (n,); None when all stay."""
        ...

    def reason(self, request: Request) -> str:
        """Why a node was removed, in a few words."""
        ...


@runtime_checkable
class Scorer(Protocol):
    """Says how well each candidate suits. Which scorer counts how much is the profile's business."""

    name: ClassVar[str]
    signals: ClassVar[tuple[str, ...]]
    """Reported signals it reads; the age of a decision is that of the oldest of them."""

    def score(self, request: Request, view: View) -> F64:
        """A score in [0, 1] per candidate, higher is better, shape (n,)."""
        ...


@runtime_checkable
class WeightPolicy(Protocol):
    """Gives each node its effective weight, the one the heat map shows."""

    name: ClassVar[str]
    signals: ClassVar[tuple[str, ...]]

    def weights(self, request: Request, view: View) -> F64:
        """A weight in [0, 1] per candidate, shape (n,)."""
        ...


@runtime_checkable
class Picker(Protocol):
    """Chooses among scored candidates."""

    name: ClassVar[str]

    def pick(self, totals: F64, weights: F64, rng: Rng) -> Pick:
        """Choose one of n >= 1 candidates; its propensity is exact, not an estimate."""
        ...

    def probabilities(self, totals: F64, weights: F64) -> F64:
        """Probability of each candidate, summing to 1, shape (n,)."""
        ...


@runtime_checkable
class ConfidenceModel(Protocol):
    """Turns how the winner stands into a confidence."""

    name: ClassVar[str]

    def confidence(self, standing: Standing) -> float | None:
        """A value in [0, 1], None where the model cannot say."""
        ...


class SignalSource(Protocol):
    """Something that can be asked for the newest values of nodes."""

    def read(self) -> Mapping[str, Mapping[str, tuple[float, int]]]:
        """Node name to signal name to (value, wall-clock nanoseconds at which it was taken)."""
        ...


class DecisionSink(Protocol):
    """Where decisions and their outcomes go; ``engine.recorder.Recorder`` is one."""

    def samples(self, trace_id: int, trace_state: str) -> bool:
        """Whether a decision of this trace will be kept; the caller's own flag is looked at before."""
        ...

    def record(self, decision: Decision) -> None:
        """Take a decision; must return at once."""
        ...

    def record_outcome(self, decision: Decision, outcome: Outcome) -> None:
        """Take the outcome of a decision; must return at once."""
        ...
