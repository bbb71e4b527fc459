"""Keeps nodes whose queue has room."""

from dataclasses import dataclass
from typing import ClassVar

from ..errors import ConfigurationError
from ..fleet import View
from ..model import Mask, Request
from ..protocols import Filter
from ..scorers.queue_depth import waiting


@dataclass(frozen=True)
class QueueCapacityFilter:
    """Removes nodes on which ``limit`` requests or more wait, own dispatches included."""

    name: ClassVar[str] = "queue_capacity"

    limit: float = 128.0

    def __post_init__(self) -> None:
        if not self.limit > 0:
            raise ConfigurationError("the limit of queue_capacity must be above 0")

    def keep(self, request: Request, view: View) -> Mask:
        """True while fewer than ``limit`` requests wait."""
        has_room: Mask = waiting(view) < self.limit
        return has_room

    def reason(self, request: Request) -> str:
        """The reason shown for a removed node."""
        return f"queue holds {self.limit:g} or more"


_: type[Filter] = QueueCapacityFilter
