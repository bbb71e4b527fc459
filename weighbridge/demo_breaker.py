"""The demo gateway's circuit breakers: a node that fails several times in a row is left alone for a while."""

from dataclasses import dataclass

FAILURES = 4
FIRST_S = 5.0
LONGEST_S = 20.0


@dataclass(slots=True)
class Breaker:
    """One node's breaker. Times are virtual seconds.

    After ``FAILURES`` in a row it opens for 5 s, then lets requests through again; a failure right then
    opens it for twice as long, up to 20 s. A success closes it.
    """

    failures: int = 0
    pause: float = FIRST_S
    opened_until: float = 0.0
    open: bool = False

    def failed(self, now: float) -> bool:
        """Count a failure; True when it opened."""
        self.failures += 1
        if self.open or self.failures < FAILURES:
            return False
        self.open, self.opened_until = True, now + self.pause
        self.pause = min(LONGEST_S, 2.0 * self.pause)
        return True

    def succeeded(self) -> None:
        """Count a success; one from before the opening changes nothing."""
        if not self.open:
            self.failures, self.pause = 0, FIRST_S

    def closes(self, now: float) -> bool:
        """True once when the pause is over."""
        if not self.open or now < self.opened_until:
            return False
        self.open = False
        return True
