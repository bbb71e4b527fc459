"""Keeps nodes whose queue has room."""

from dataclasses import dataclass
from typing import ClassVar

from ..errors import ConfigurationError
from ..fleet import View
from ..model import Mask, Request
from ..protocols import Filter


@dataclass(frozen=True)
class QueueCapacityFilter:
    """Removes nodes that report ``limit`` waiting requests or more.

    Only the node's own word excludes it: dispatches whose outcome nobody reports must not.
    """

    name: ClassVar[str] = "queue_capacity"

    limit: float = 128.0

    def __post_init__(self) -> None:
        if not self.limit > 0:
            raise ConfigurationError("the limit of queue_capacity must be above 0")

    def keep(self, request: Request, view: View) -> Mask | None:
        """True while fewer than ``limit`` requests are reported to wait, or none were."""
        return view.derived((self.name, self.limit), ("queue_depth",), self._with_room)

    def _with_room(self, view: View) -> Mask | None:
        full: Mask = view.signal("queue_depth") >= self.limit
        return ~full if full.any() else None

    def reason(self, request: Request) -> str:
        """The reason shown for a removed node."""
        return f"queue holds {self.limit:g} or more"


_: type[Filter] = QueueCapacityFilter
