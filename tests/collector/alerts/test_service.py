"""From decisions in a real store to a signed message at a real receiver."""

import asyncio
import base64
import contextlib
import random
import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from standardwebhooks import Webhook

from collector.alerts import AlertsConfig, AlertService, Destination, DriftRule
from collector.alerts import service as service_module
from storage.control import Control
from storage.database import Database
from storage.errors import StoreUnavailableError
from storage.queries import Reader
from storage.records import AlertRow

NANO = 1_000_000_000
START_S = 1_800_000_000
SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
RULE = DriftRule("weights drifted", threshold=20.0, min_samples=30)
Weigh = Callable[[Sequence[int], Sequence[float], str], None]


def levels(level: float, seconds: int, seed: int) -> list[float]:
    rng = random.Random(seed)
    return [level + rng.gauss(0, 0.01) for _ in range(seconds)]


def service(
    database: Database, control: Control, clock: Any, *destinations: Destination, **more: Any
) -> AlertService:
    config = AlertsConfig((RULE,), destinations, external_url="http://dashboard.test", **more)
    return AlertService(config, Reader(database), control, clock=clock, rng=random.Random(1))


def drift(alerts: AlertService, clock: Any, weigh: Weigh, until: int = 150) -> None:
    """A fall from 0.61 to 0.34 after 120 s, judged second by second."""
    values = levels(0.61, 120, 1) + levels(0.34, until - 120, 2)
    weigh(range(START_S, START_S + until), values, "gpu-a10-07")
    weigh(range(START_S, START_S + until), levels(0.5, until, 3), "gpu-a10-08")
    for second in range(until):
        clock.now = (START_S + second + 3) * NANO
        alerts.evaluate()


def only(control: Control) -> AlertRow:
    (row,) = control.firing()
    return row


def test_a_drift_in_the_store_becomes_an_alert_with_an_example(
    database: Database, control: Control, clock: Any, weigh: Weigh
) -> None:
    """The node that drifted fires, the one that did not stays quiet, and a trace is named."""
    drift(service(database, control, clock), clock, weigh)
    row = only(control)
    assert row.labels["node"] == "gpu-a10-07"
    assert row.labels["service"] == "router"
    assert row.annotations["summary"].startswith("gpu-a10-07 weight fell from 0.61 to 0.3")
    assert len(bytes.fromhex(row.annotations["example_trace_id"])) == 16
    assert 120 * NANO <= row.starts_unix_nano - START_S * NANO <= 130 * NANO


def test_quiet_resolves_the_alert_in_the_store(
    database: Database, control: Control, clock: Any, weigh: Weigh
) -> None:
    """After the quiet time nothing fires and the end is kept."""
    alerts = service(database, control, clock)
    drift(alerts, clock, weigh)
    row = only(control)
    clock.pass_s(120)
    alerts.evaluate()
    assert control.firing() == ()
    ended = control.alert(row.alert_id)
    assert ended is not None
    assert ended.state == "resolved"
    assert alerts.figures()["alerts_resolved"] == 1


def test_a_restart_keeps_the_alert_that_fires(
    database: Database, control: Control, clock: Any, weigh: Weigh
) -> None:
    """The same alert fires on: no second one, and quiet resolves the first."""
    drift(service(database, control, clock), clock, weigh)
    row = only(control)
    again = service(database, control, clock)
    again.evaluate()
    assert only(control).alert_id == row.alert_id
    clock.pass_s(61)
    again.evaluate()
    ended = control.alert(row.alert_id)
    assert ended is not None
    assert ended.state == "resolved"


def test_a_restarted_detector_knows_the_level_of_before(
    database: Database, control: Control, clock: Any, weigh: Weigh
) -> None:
    """A drift right after a restart is found without learning for a minute first."""
    weigh(range(START_S, START_S + 170), levels(0.61, 140, 1) + levels(0.34, 30, 2), "gpu-1")
    alerts = service(database, control, clock)
    for second in range(140, 171):
        clock.now = (START_S + second) * NANO
        alerts.evaluate()
    assert only(control).labels["node"] == "gpu-1"


def test_an_alert_survives_a_store_that_is_locked_for_a_while(
    database: Database, control: Control, clock: Any, weigh: Weigh
) -> None:
    """What could not be kept is kept at the next round, once."""
    busy = Database(database.url, busy_timeout_s=0.05)
    alerts = service(database, Control(busy, clock), clock)
    blocker = sqlite3.connect(database.path, isolation_level=None)
    values = levels(0.61, 120, 1) + levels(0.34, 30, 2)
    weigh(range(START_S, START_S + 150), values, "gpu-1")
    blocker.execute("BEGIN IMMEDIATE")
    failures = 0
    for second in range(150):
        clock.now = (START_S + second + 3) * NANO
        try:
            alerts.evaluate()
        except StoreUnavailableError:
            failures += 1
    assert failures > 0
    assert control.firing() == ()
    blocker.execute("ROLLBACK")
    blocker.close()
    alerts.evaluate()
    assert only(control).labels["node"] == "gpu-1"
    busy.dispose()


def test_changes_beyond_what_can_wait_are_counted(
    database: Database, control: Control, clock: Any, weigh: Weigh, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that is away for too long costs changes, and says how many."""
    monkeypatch.setattr(service_module, "_MOST_UNSAVED", 1)
    busy = Database(database.url, busy_timeout_s=0.01)
    alerts = service(database, Control(busy, clock), clock)
    for node in ("gpu-1", "gpu-2", "gpu-3"):
        weigh(range(START_S, START_S + 150), levels(0.61, 120, 1) + levels(0.34, 30, 2), node)
    with contextlib.closing(sqlite3.connect(database.path, isolation_level=None)) as blocker:
        blocker.execute("BEGIN IMMEDIATE")
        for second in range(150):
            clock.now = (START_S + second + 3) * NANO
            with contextlib.suppress(StoreUnavailableError):
                alerts.evaluate()
        blocker.execute("ROLLBACK")
    lost = alerts.figures()["alerts_errors"]
    alerts.evaluate()
    assert lost >= 2
    assert len(control.firing()) == 1
    busy.dispose()


async def test_a_drift_reaches_a_receiver_signed_and_again_when_it_ends(
    database: Database, control: Control, clock: Any, weigh: Weigh, receivers: Callable[..., Any]
) -> None:
    """The whole way: roll-up, alert, outbox, signed Alertmanager message; then the resolved one."""
    receiver = receivers((500, {}), (200, {}))
    clock.now = time.time_ns() - 150 * NANO
    start = clock.now // NANO
    values = levels(0.61, 120, 1) + levels(0.34, 30, 2)
    await asyncio.to_thread(weigh, range(start, start + 150), values, "gpu-a10-07")
    clock.now = (start + 119) * NANO
    ops = Destination("ops", receiver.url, (SECRET,), allow_private=True)
    alerts, stop = service(database, control, clock, ops, interval_s=0.01), asyncio.Event()
    running = asyncio.create_task(alerts.run(stop))
    async with asyncio.timeout(20):
        while len(receiver.got) < 2:  # the failed attempt and the one five seconds after it
            clock.pass_s(1)
            await asyncio.sleep(0.02)
        while len(receiver.got) < 3:
            clock.pass_s(5)
            await asyncio.sleep(0.02)
    stop.set()
    await running
    first, second, last = receiver.got
    assert first[0]["webhook-id"] == second[0]["webhook-id"] != last[0]["webhook-id"]
    body = Webhook(SECRET).verify(second[1], dict(second[0]))
    assert (body["status"], body["receiver"]) == ("firing", "ops")
    assert body["alerts"][0]["labels"]["node"] == "gpu-a10-07"
    assert body["alerts"][0]["generatorURL"].startswith("http://dashboard.test/ui/decisions?node=gpu-a10-07")
    assert Webhook(SECRET).verify(last[1], dict(last[0]))["status"] == "resolved"


async def test_stopping_leaves_what_is_not_delivered_in_the_outbox(
    database: Database, control: Control, clock: Any, weigh: Weigh, receivers: Callable[..., Any]
) -> None:
    """A stop does not wait for a stuck receiver, and the next start delivers."""
    receiver = receivers()
    receiver.go_on.clear()
    ops = Destination("ops", receiver.url, allow_private=True)
    alerts = service(database, control, clock, ops)
    drift(alerts, clock, weigh)
    running = asyncio.create_task(alerts.run(asyncio.Event()))
    assert await asyncio.to_thread(receiver.arrived.acquire, timeout=10)
    running.cancel()
    await asyncio.wait([running], timeout=5)
    assert running.cancelled()
    (delivery,) = only(control).deliveries
    assert (delivery.state, delivery.attempts) == ("pending", 0)
    receiver.go_on.set()
    stop = asyncio.Event()
    running = asyncio.create_task(service(database, control, clock, ops, interval_s=0.01).run(stop))
    assert await asyncio.to_thread(receiver.arrived.acquire, timeout=10)
    stop.set()
    await running
    assert only(control).deliveries[0].state == "delivered"
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
