"""Runs one process: its event loop, its signals, its log."""

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

Say = Callable[[str], None]
Main = Callable[[asyncio.Event], Coroutine[Any, Any, None]]
_AT_ONCE = 1


def run(main: Main, *, supervised: bool, log_level: str) -> int:
    """Run ``main`` until it returns; its argument is set when the process is asked to end.

    SIGTERM, SIGINT and, for a supervised process, the end of its standard input ask once; a second
    signal ends the process at once. Returns the exit code.
    """
    _log_to_stderr(log_level)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_until_asked(main, supervised))
    return 0


def _log_to_stderr(level: str) -> None:
    """One line for each message, its time in UTC as its Z says, whatever the machine's zone."""
    form = logging.Formatter("%(asctime)sZ %(levelname)s %(name)s: %(message)s")
    form.converter = time.gmtime
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(form)
    logging.basicConfig(level=level.upper(), handlers=[handler])


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop  # noqa: PLC0415 - absent on Windows, where asyncio's own loop serves
    except ImportError:
        return None
    return uvloop.new_event_loop


async def _until_asked(main: Callable[[asyncio.Event], Awaitable[None]], supervised: bool) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def asked() -> None:
        if stop.is_set():
            os._exit(_AT_ONCE)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked)
    if supervised:
        threading.Thread(target=_await_orphaned, args=(loop, stop), daemon=True).start()
    await main(stop)


def _await_orphaned(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """Set ``stop`` when the supervisor's end of the pipe closes."""
    try:
        while os.read(sys.stdin.fileno(), 1024):
            pass
    finally:
        if not loop.is_closed():
            loop.call_soon_threadsafe(stop.set)
