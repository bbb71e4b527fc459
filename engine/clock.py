"""Clocks: the system's, and one that a test or a simulation moves by hand."""

import time


class SystemClock:
    """The machine's clocks."""

    def time_ns(self) -> int:
        """Wall clock, nanoseconds since the Unix epoch (UTC)."""
        return time.time_ns()

    def monotonic_ns(self) -> int:
        """Nanoseconds that never step back; the zero is arbitrary."""
        return time.monotonic_ns()


class ManualClock:
    """A clock that stands still until it is moved.

    ``start_unix_nano`` is where the wall clock starts; the monotonic clock starts at 0.
    """

    def __init__(self, start_unix_nano: int = 1_700_000_000_000_000_000) -> None:
        self._start = start_unix_nano
        self._elapsed = 0

    def time_ns(self) -> int:
        """Wall clock, nanoseconds since the Unix epoch."""
        return self._start + self._elapsed

    def monotonic_ns(self) -> int:
        """Nanoseconds moved since construction."""
        return self._elapsed

    def advance(self, seconds: float) -> None:
        """Move both clocks forward; a negative step raises ValueError."""
        if seconds < 0:
            raise ValueError("a clock does not run backwards")
        self._elapsed += round(seconds * 1e9)
