"""Bounds what is being read, decoded and stored, by bytes and by requests; beyond it, "retry later"."""

import threading
from types import TracebackType
from typing import Self

from collector.errors import BusyError


class Admission:
    """Counts what is inside. Safe from several threads: decompression grows a ticket off the loop."""

    def __init__(self, max_bytes: int, max_requests: int, retry_after_s: float) -> None:
        self._max_bytes = max_bytes
        self._max_requests = max_requests
        self._retry_after_s = retry_after_s
        self._lock = threading.Lock()
        self.bytes = 0
        self.requests = 0
        self.refused = 0

    def enter(self, size: int = 0) -> "Ticket":
        """Admit one request of which ``size`` bytes are known; raises BusyError when it is full."""
        with self._lock:
            if self.requests >= self._max_requests:
                self._refuse(f"{self._max_requests} requests are waiting")
            self.requests += 1
        ticket = Ticket(self)
        try:
            ticket.grow(size)
        except BusyError:
            ticket.close()
            raise
        return ticket

    def take(self, size: int) -> None:
        """Count ``size`` more bytes; raises BusyError when they do not fit."""
        with self._lock:
            if self.bytes + size > self._max_bytes:
                self._refuse(f"{self._max_bytes} bytes of requests are waiting")
            self.bytes += size

    def leave(self, size: int) -> None:
        """Give back one request and its bytes."""
        with self._lock:
            self.bytes -= size
            self.requests -= 1

    def _refuse(self, why: str) -> None:
        self.refused += 1
        raise BusyError(f"the collector is busy: {why}", self._retry_after_s)


class Ticket:
    """One admitted request: what it holds is given back once, on ``close`` or at the end of ``with``."""

    __slots__ = ("_admission", "_open", "_size")

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._size = 0
        self._open = True

    def grow(self, size: int) -> None:
        """Count ``size`` more bytes; raises BusyError when they do not fit."""
        self._admission.take(size)
        self._size += size

    def move(self) -> "Ticket":
        """A ticket that holds what this one held; this one then holds nothing."""
        moved = Ticket(self._admission)
        moved._size, moved._open = self._size, self._open
        self._open = False
        return moved

    def close(self) -> None:
        """Give everything back; repeated calls do nothing."""
        if self._open:
            self._open = False
            self._admission.leave(self._size)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
