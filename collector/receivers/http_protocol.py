"""uvicorn's HTTP protocol with the two limits it lacks: the size of a request's head, and the time for it.

Without them one connection that never ends its head takes memory without bound, and many that never
begin one take every file handle there is.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD_BYTES = 64 * 1024
HEAD_TIME_S = 30.0


class BoundedHttpProtocol(HttpToolsProtocol):
    """Ends a connection whose request head is too large (told as a 400) or too late (without a word)."""

    _awaiting: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._head_is_here()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came, and no more once the head is too large."""
        if self._awaiting is not None:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._awaiting is not None and self._head_bytes > MAX_HEAD_BYTES:
            self._head_is_here()
            if not self.transport.is_closing():
                self.send_400_response("The head of the request is too large.")

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        if self._awaiting is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        """The head has ended."""
        self._head_is_here()
        super().on_headers_complete()

    def _await_head(self) -> None:
        self._head_bytes = 0
        self._awaiting = self.loop.call_later(HEAD_TIME_S, self._give_up)

    def _head_is_here(self) -> None:
        if self._awaiting is not None:
            self._awaiting.cancel()
            self._awaiting = None

    def _give_up(self) -> None:
        self._awaiting = None
        self.transport.close()
