"""Asks the store from the event loop: in threads, few at a time, within a time limit."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from dashboard.api.problems import BusyError

P = ParamSpec("P")
T = TypeVar("T")


class Store:
    """Runs blocking questions beside the event loop.

    At most ``concurrency`` run at once and ``waiting`` more wait; a question that is not answered within
    ``time_limit_s`` (waiting included) ends with BusyError. Its thread cannot be stopped, so its place is
    free only when the thread ends: a store that hangs costs ``concurrency`` threads, not one per request.
    """

    def __init__(self, *, concurrency: int = 4, waiting: int = 64, time_limit_s: float = 10.0) -> None:
        self._places = asyncio.Semaphore(concurrency)
        self._waiting = 0
        self._most_waiting = waiting
        self._time_limit_s = time_limit_s

    async def ask(self, question: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The answer of ``question(*args, **kwargs)``; raises what it raises, or BusyError."""
        if self._waiting >= self._most_waiting:
            raise BusyError("too many questions wait for the store")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._time_limit_s):
                await self._places.acquire()
                task = asyncio.ensure_future(asyncio.to_thread(question, *args, **kwargs))
                task.add_done_callback(self._leave)
                return await asyncio.shield(task)
        except TimeoutError:
            raise BusyError(f"the store did not answer within {self._time_limit_s:g} s") from None
        finally:
            self._waiting -= 1

    def _leave(self, task: "asyncio.Task[T]") -> None:
        self._places.release()
        if not task.cancelled():
            task.exception()  # looked at, so that an answer nobody waits for any more is not logged
