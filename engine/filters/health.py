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

    def keep(self, request: Request, view: View) -> Mask:
        """True unless the node said it is unhealthy."""
        unhealthy: Mask = view.signal("healthy") < 0.5  # NaN, never reported, compares false
        return ~unhealthy

    def reason(self, request: Request) -> str:
        """The reason shown for a removed node."""
        return "unhealthy"


_: type[Filter] = HealthFilter
