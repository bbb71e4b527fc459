"""How a callback asks the store: in a worker thread, for a bounded time."""

import asyncio
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

from storage.errors import StoreUnavailableError

P = ParamSpec("P")
T = TypeVar("T")

READ_LIMIT_S: Final = 8.0
"""How long a person waits for one answer of the store before the error state is shown."""


async def read(question: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Ask in a worker thread, so that the event loop goes on serving the live view.

    Raises ``StoreUnavailableError`` when the answer takes longer than ``READ_LIMIT_S``; whatever the
    question raises comes through. The abandoned read ends by itself in its thread, of which the loop's
    executor allows a bounded number.
    """
    try:
        async with asyncio.timeout(READ_LIMIT_S):
            return await asyncio.to_thread(question, *args, **kwargs)
    except TimeoutError as slow:
        raise StoreUnavailableError(f"the store did not answer within {READ_LIMIT_S:.0f} s") from slow
