"""The process of `weighbridge serve`: the dashboard, the API and the live feed on one store."""

import asyncio
import errno
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI

from collector.receivers.http_protocol import BoundedHttpProtocol
from storage.database import Database
from weighbridge.errors import UsageError
from weighbridge.quantities import Address
from weighbridge.running import Say, run
from weighbridge.settings import Settings
from weighbridge.wiring.dashboard import build_dashboard
from weighbridge.wiring.store import open_store

_BACKLOG = 512
_DRAIN_S = 2


def run_serve(settings: Settings, *, supervised: bool, say: Say) -> int:
    """Serve until asked to end; the exit code. Raises UsageError when it cannot start."""
    with open_store(settings) as database, _listen(settings.web) as bound:
        return run(
            lambda stop: _serve(settings, database, bound, say, stop),
            supervised=supervised,
            log_level=settings.log_level,
        )


class _Server(uvicorn.Server):
    """uvicorn, less its signal handlers: the process has its own."""

    @asynccontextmanager
    async def running(self, bound: socket.socket) -> AsyncIterator[None]:
        """Serve on ``bound`` inside the block."""
        self.config.load()
        self.lifespan = self.config.lifespan_class(self.config)
        await self.startup(sockets=[bound])
        loop = asyncio.create_task(self.main_loop())
        try:
            yield
        finally:
            self.should_exit = True
            await loop
            await self.shutdown(sockets=[bound])


async def _serve(
    settings: Settings, database: Database, bound: socket.socket, say: Say, stop: asyncio.Event
) -> None:
    app: FastAPI = build_dashboard(settings, database, time.time_ns)
    config = uvicorn.Config(
        app,
        http=BoundedHttpProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_DRAIN_S,
        ws_per_message_deflate=False,  # it costs fifteen times the CPU of the feed
    )
    async with _Server(config).running(bound):
        host, port = bound.getsockname()[:2]
        say(f"web listening on {Address(host, port)}")
        say("ready")
        await stop.wait()


def _listen(address: Address) -> socket.socket:
    try:
        family, kind, protocol, _, target = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(target)
        bound.listen(_BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise UsageError(
                f"address {address} is already in use; stop the program that uses it, or choose another with "
                "--web HOST:PORT"
            ) from None
        raise UsageError(f"cannot listen on {address}: {error.strerror or error}; see --web") from None
    bound.setblocking(False)
    return bound
