"""A value and when it was taken."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """One signal value; ``taken_ns`` is wall clock."""

    value: float
    taken_ns: int

    def age_ms(self, now_ns: int) -> float:
        """Milliseconds since it was taken; a time ahead of ``now_ns`` (clock skew) counts as 0."""
        return max(0, now_ns - self.taken_ns) / 1e6
