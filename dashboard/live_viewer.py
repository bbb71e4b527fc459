"""One viewer of the live feed: a bounded queue that drops to a full frame instead of growing."""

import asyncio
from collections import deque

QUEUE_LIMIT = 8


class Viewer:
    """What waits to be sent to one browser.

    ``offer`` never blocks. When the queue is full everything in it is thrown away, and ``take`` answers
    None once: the sender then sends the layout and a full frame made at that moment, which is both
    smaller and newer than what was dropped. A new viewer starts in that state.

    ``policy`` is the policy asked for ("" means the first one there is) and ``service`` the service, or
    None for all.
    """

    def __init__(self, policy: str, service: str | None, limit: int = QUEUE_LIMIT) -> None:
        self.policy = policy
        self.service = service
        self.dropped = 0
        self.closed = False
        self._limit = limit
        self._queue: deque[bytes | str] = deque()
        self._behind = True
        self._slow = False
        self._ready = asyncio.Event()
        self._ready.set()

    def offer(self, message: bytes | str) -> bool:
        """Queue a message; False when this viewer is too slow for it.

        While a full frame is due, a message is left out: the full frame says the same.
        """
        if self._behind:
            self.dropped += self._slow
            return not self._slow
        if len(self._queue) >= self._limit:
            self.dropped += len(self._queue) + 1
            self.fall_back()
            self._slow = True
            return False
        self._queue.append(message)
        self._ready.set()
        return True

    def fall_back(self) -> None:
        """Throw away what waits and ask for a full frame next."""
        self._queue.clear()
        self._behind = True
        self._ready.set()

    def close(self) -> None:
        """Wake the sender so that it ends."""
        self.closed = True
        self._ready.set()

    async def take(self) -> bytes | str | None:
        """The next message; None when layout and full frame are due or the viewer is ``closed``."""
        await self._ready.wait()
        if self._behind or self.closed:
            self._behind = self._slow = False
            if not self._queue:
                self._ready.clear()
            return None
        message = self._queue.popleft()
        if not self._queue:
            self._ready.clear()
        return message
