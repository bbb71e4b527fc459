"""The demo's clock: the cluster's virtual time shown as wall-clock time near now."""

import time
from collections.abc import Callable


class DemoClock:
    """Maps virtual seconds to nanoseconds since the epoch, and serves the scheduler as its clock.

    Virtual time 0 is ``start_unix_nano`` and runs ``speed`` times as fast as the wall, so times of spans
    lie near now at any speed (and their durations shrink with it). ``enter`` sets the present to a virtual
    time; from there ``time_ns`` runs on by what ``counter`` (nanoseconds) counts, so that a decision has its
    real duration.
    """

    def __init__(
        self, start_unix_nano: int, speed: float, counter: Callable[[], int] = time.perf_counter_ns
    ) -> None:
        self._start = start_unix_nano
        self._per_second = 1e9 / speed
        self._counter = counter
        self._skipped = 0
        self._base, self._since = start_unix_nano, counter()

    def start(self, virtual: float, unix_nano: int) -> None:
        """Make a virtual time this wall-clock time."""
        self._start = unix_nano - round(virtual * self._per_second)

    def virtual(self, nanoseconds: int) -> float:
        """Virtual seconds that pass in so much time of the wall."""
        return nanoseconds / self._per_second

    def at(self, virtual: float) -> int:
        """Nanoseconds since the epoch of a virtual time."""
        return self._start + self._skipped + round(virtual * self._per_second)

    def enter(self, virtual: float) -> None:
        """Make a virtual time the present."""
        self._base, self._since = self.at(virtual), self._counter()

    def skip(self, nanoseconds: int) -> None:
        """Let the wall be ahead by so much more: virtual time lost that much."""
        self._skipped += nanoseconds

    def time_ns(self) -> int:
        """Wall clock of the present."""
        return self._base + self._counter() - self._since

    def monotonic_ns(self) -> int:
        """Nanoseconds since the start; may step back by a decision's length, which nothing here minds."""
        return self.time_ns() - self._start
