"""What can go wrong in the engine.

EngineError
 +- ConfigurationError (also a ValueError)
 +- NoEligibleNodeError
 +- UnknownNodeError (also a KeyError)
"""

from collections.abc import Mapping

_SHOWN = 8


class EngineError(Exception):
    """The engine could not do what it was asked."""


class ConfigurationError(EngineError, ValueError):
    """A configured value is outside the range its meaning allows."""


class UnknownNodeError(EngineError, KeyError):
    """A node was named that the scheduler does not have."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)

    def __str__(self) -> str:
        return f"no node is named {self.name!r}"


class NoEligibleNodeError(EngineError):
    """Every node was removed by a filter; ``reasons`` maps node name to why."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self.reasons = dict(reasons)
        super().__init__(self._message())

    def _message(self) -> str:
        if not self.reasons:
            return "no eligible node: the scheduler has no nodes"
        shown = [f"{name!r}: {reason}" for name, reason in list(self.reasons.items())[:_SHOWN]]
        left = len(self.reasons) - len(shown)
        more = f"; and {left} more" if left else ""
        return f"no eligible node of {len(self.reasons)}: " + "; ".join(shown) + more
