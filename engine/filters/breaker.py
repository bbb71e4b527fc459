"""Keeps nodes whose circuit breaker is closed; whoever runs the breaker reports ``breaker_open``."""

from dataclasses import dataclass
from typing import ClassVar

from ..fleet import View
from ..model import Mask, Request
from ..protocols import Filter


@dataclass(frozen=True)
class BreakerFilter:
    """Removes nodes whose ``breaker_open`` signal is at or above one half."""

    name: ClassVar[str] = "breaker"

    def keep(self, request: Request, view: View) -> Mask | None:
        """True unless the breaker is open."""
        return view.derived(self.name, ("breaker_open",), _closed)

    def reason(self, request: Request) -> str:
        """The reason shown for a removed node."""
        return "breaker open"


def _closed(view: View) -> Mask | None:
    is_open: Mask = view.signal("breaker_open") >= 0.5
    return ~is_open if is_open.any() else None


_: type[Filter] = BreakerFilter
