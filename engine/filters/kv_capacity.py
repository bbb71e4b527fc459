"""Keeps nodes whose KV cache has room for the prompt."""

from dataclasses import dataclass
from typing import ClassVar

from ..errors import ConfigurationError
from ..fleet import View
from ..model import Mask, Request
from ..protocols import Filter
from ..scorers.kv_room import kv_after


@dataclass(frozen=True)
class KvCapacityFilter:
    """Removes nodes whose KV cache would be filled above ``limit`` (a share) by the request's prompt."""

    name: ClassVar[str] = "kv_capacity"

    limit: float = 0.98

    def __post_init__(self) -> None:
        if not 0 < self.limit <= 1:
            raise ConfigurationError("the limit of kv_capacity is a share above 0, up to 1")

    def keep(self, request: Request, view: View) -> Mask | None:
        """True where the prompt fits, or nothing is known."""
        full: Mask = kv_after(request, view) > self.limit
        return ~full if full.any() else None

    def reason(self, request: Request) -> str:
        """The reason shown for a removed node."""
        return f"KV cache would be fuller than {self.limit:.0%}"


_: type[Filter] = KvCapacityFilter
