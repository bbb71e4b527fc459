"""Joint weight of a request's latency sensitivity delta and a node's occupancy rho.

    w = (1 - rho)/4 + (0.65 - (1 - delta)/9) * max(0, 1 - (rho/0.8)^2)^1.5

The first term is what is left of a node that is nearly full, the second falls to nothing at the knee
rho = 0.8. w(0.3, 0.4) = 0.522, w(0.9, 0.2) = 0.780, w(0.9, 0.85) = 0.0375, w(1, 0) = 0.9; strictly falling
in rho, rising in delta below the knee and independent of it above.

``inverse_sensitivity`` is the rule as it was first published, ``max(0.1, 1 - delta) * (1 - rho^1.5)``. It
falls as delta grows, against its own description, and is here for comparison only.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import ConfigurationError
from ..fleet import View
from ..model import F64, Request
from ..protocols import WeightPolicy

RESIDUAL = 0.25
IDLE = 0.65
PREMIUM = 1 / 9
KNEE = 0.8
UNKNOWN_OCCUPANCY = 0.5
"""Occupancy assumed when no candidate has reported any."""


def joint_weight(delta: float | F64, rho: F64) -> F64:
    """Weight in [0, 0.9] of delta and rho in [0, 1]; shapes broadcast."""
    insensitive, slope = joint_parts(rho)
    return insensitive + delta * slope


def joint_parts(rho: F64) -> tuple[F64, F64]:
    """The weight is a straight line in delta: its value at delta = 0 and its slope. Shapes of ``rho``."""
    room = np.maximum(0.0, 1.0 - np.square(rho * (1 / KNEE)))
    room *= np.sqrt(room)
    return RESIDUAL * (1.0 - rho) + (IDLE - PREMIUM) * room, PREMIUM * room


def inverse_sensitivity(delta: float | F64, rho: F64) -> F64:
    """The published formula, for comparison only; shapes broadcast."""
    return np.maximum(0.1, 1.0 - delta) * (1.0 - rho * np.sqrt(rho))


FORMULAS = ("joint", "inverse_sensitivity")
OCCUPANCY = ("cpu_utilisation", "memory_utilisation", "kv_utilisation")


def occupancy(view: View) -> F64:
    """Combined occupancy rho in [0, 1] per candidate: the largest of what was reported. Shape (n,).

    A node is as full as its scarcest resource, so CPU, memory and KV cache combine by maximum. A node
    that reported none has the mean of the others.
    """
    rho = np.fmax(view.signal("cpu_utilisation"), view.signal("memory_utilisation"))
    rho = np.fmin(np.fmax(np.fmax(rho, view.signal("kv_utilisation")), -1.0), 1.0)
    unknown = rho < 0
    if unknown.any():
        known = rho[~unknown]
        rho[unknown] = known.mean() if len(known) else UNKNOWN_OCCUPANCY
    return rho


@dataclass(frozen=True)
class JointWeight:
    """Effective weight = joint weight of the request's delta and the node's occupancy.

    ``formula`` is ``joint`` or, for comparison, ``inverse_sensitivity``.
    """

    name: ClassVar[str] = "joint"
    signals: ClassVar[tuple[str, ...]] = OCCUPANCY

    formula: str = "joint"

    def __post_init__(self) -> None:
        if self.formula not in FORMULAS:
            raise ConfigurationError(
                f"unknown weight formula {self.formula!r}; there are {', '.join(FORMULAS)}"
            )

    def weights(self, request: Request, view: View) -> F64:
        """Weight in [0, 0.9] per candidate."""
        if self.formula == "inverse_sensitivity":
            return inverse_sensitivity(request.delta, view.derived("occupancy", OCCUPANCY, occupancy))
        insensitive, slope = view.derived(self.name, OCCUPANCY, _parts)
        return insensitive + request.delta * slope


def _parts(view: View) -> tuple[F64, F64]:
    return joint_parts(occupancy(view))


_: type[WeightPolicy] = JointWeight
