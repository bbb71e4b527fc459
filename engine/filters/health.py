"""Keeps nodes that are healthy, or have not said that they are not."""

from dataclasses import dataclass
from typing import ClassVar

from ..fleet import View
from ..model import Mask, Request
from ..protocols import Filter


@dataclass(frozen=True)
class HealthFilter:
    """Removes nodes whose ``healthy`` signal is below one half."""

    name: ClassVar[str] = "health"

    def keep(self, request: Request, view: View) -> Mask | None:
        """True unless the node said it is unhealthy."""
        return view.derived(self.name, ("healthy",), _healthy)

    def reason(self, request: Request) -> str:
        """The reason shown for a removed node."""
        return "unhealthy"


def _healthy(view: View) -> Mask | None:
    unhealthy: Mask = view.signal("healthy") < 0.5  # NaN, never reported, compares false
    return ~unhealthy if unhealthy.any() else None


_: type[Filter] = HealthFilter
