"""The process of `weighbridge collect`: intake, retention and alerts on one store."""

import asyncio
import logging
import random
import socket
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack

from collector.errors import AddressInUseError, ListenError
from collector.pipeline import Collector
from storage.control import Control
from storage.database import Database
from storage.errors import StorageError
from storage.queries import Reader
from storage.records import ProcessRow
from storage.retention import Retention
from storage.writer import Writer
from weighbridge import __version__
from weighbridge.errors import UsageError
from weighbridge.running import Say, run
from weighbridge.settings import Settings
from weighbridge.wiring.intake import alert_service, alerts_config, collector_config
from weighbridge.wiring.store import open_store, sole_collector

_logger = logging.getLogger(__name__)
_DRAIN_S = 6.0


def run_collect(settings: Settings, *, supervised: bool, say: Say) -> int:
    """Collect until asked to end; the exit code. Raises UsageError or SettingsError when it cannot start."""
    alerts_config(settings)  # said before anything is opened
    with open_store(settings) as database, sole_collector(database):
        return run(
            lambda stop: _collect(settings, database, say, stop),
            supervised=supervised,
            log_level=settings.log_level,
        )


async def _collect(settings: Settings, database: Database, say: Say, stop: asyncio.Event) -> None:
    control = Control(database, time.time_ns)
    alerts = alert_service(settings, Reader(database), control, time.time_ns, random.Random())  # noqa: S311 - jitter
    started = time.time_ns()

    def heartbeat(figures: Mapping[str, float]) -> None:
        told = {**figures, **alerts.figures()}
        control.heartbeat(
            ProcessRow("collect", socket.gethostname(), __version__, started, time.time_ns(), told)
        )

    collector = Collector(
        collector_config(settings), Writer(database, time.time_ns).write, control.record_intake, heartbeat
    )
    async with AsyncExitStack() as stack:
        await _start(collector, settings)
        stack.push_async_callback(collector.stop, _DRAIN_S)
        for side in (_retain(settings, database, stop), alerts.run(stop)):
            stack.push_async_callback(_end, asyncio.create_task(side))
        say(f"otlp-grpc listening on {collector.grpc_address}")
        say(f"otlp-http listening on {collector.http_address}")
        say("ready")
        await stop.wait()


async def _start(collector: Collector, settings: Settings) -> None:
    try:
        await collector.start()
    except AddressInUseError as error:
        option = "--otlp-grpc" if error.address == str(settings.otlp_grpc) else "--otlp-http"
        raise UsageError(
            f"{error}; stop the program that uses it, or choose another with {option} HOST:PORT"
        ) from None
    except ListenError as error:
        raise UsageError(str(error)) from None


async def _retain(settings: Settings, database: Database, stop: asyncio.Event) -> None:
    """Check the store against its limits now and then; a failure is logged and tried again."""
    limits = settings.retention
    retention = Retention(database, max_age_s=limits.max_age, max_size_bytes=limits.max_size)
    while not stop.is_set():
        try:
            await asyncio.to_thread(retention.run_once, time.time_ns())
        except StorageError as error:
            _logger.warning("retention did not run: %s", error)
        except Exception:  # a fault in one run must not leave the store to grow until the disk is full
            _logger.exception("retention failed; it is tried again in %g s", limits.interval)
        await _pause(stop, limits.interval)


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled() and task.exception() is not None:
        _logger.error("a side task failed", exc_info=task.exception())
