"""The outbox is worked off over real sockets, each destination in its own lane."""

import asyncio
import base64
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from collector.alerts import dispatch
from collector.alerts.config import Destination
from collector.alerts.dispatch import Dispatcher
from collector.alerts.model import Alert
from collector.alerts.notify.webhook import WebhookSender
from collector.alerts.outbox import deliveries_for
from storage.control import Control, NewAlert
from storage.records import AlertRow, DeliveryRow

NANO = 1_000_000_000
SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
Receivers = Callable[..., Any]


@pytest.fixture
async def sender() -> AsyncIterator[WebhookSender]:
    async with WebhookSender() as made:
        yield made


def to(receiver: Any, name: str = "ops", **settings: Any) -> Destination:
    return Destination(name, receiver.url, **({"allow_private": True} | settings))


def open_alert(control: Control, clock: Any, *destinations: Destination, node: str = "gpu-1") -> AlertRow:
    """An alert with its messages, as the service opens it."""
    alert = Alert("drift", {"alertname": "drift", "node": node}, {"summary": "it fell"}, 0.3, clock())
    new = NewAlert(
        alert.fingerprint, alert.rule, alert.labels, alert.annotations, alert.value, alert.starts_unix_nano
    )
    return control.open_alert(new, deliveries_for(alert, destinations, external_url="", now=clock()))


def resolve_alert(control: Control, clock: Any, row: AlertRow, *destinations: Destination) -> None:
    ended = Alert(row.rule, row.labels, row.annotations, 0.3, row.starts_unix_nano, clock())
    messages = deliveries_for(ended, destinations, external_url="", now=clock())
    control.resolve_alert(row.alert_id, ends_unix_nano=clock(), deliveries=messages)


def deliveries(control: Control, row: AlertRow) -> tuple[DeliveryRow, ...]:
    found = control.alert(row.alert_id)
    assert found is not None
    return found.deliveries


def dispatcher(control: Control, clock: Any, sender: WebhookSender, *destinations: Destination) -> Dispatcher:
    return Dispatcher(destinations, control, sender, clock=clock, rng=random.Random(1))


async def test_a_due_message_is_delivered_once(
    control: Control, clock: Any, receivers: Receivers, sender: WebhookSender
) -> None:
    """After success nothing is due any more."""
    receiver = receivers()
    ops = to(receiver)
    row, lanes = open_alert(control, clock, ops), dispatcher(control, clock, sender, ops)
    assert await lanes.round() == 1
    await lanes.drain(5)
    assert await lanes.round() == 0
    (delivery,) = deliveries(control, row)
    assert (delivery.state, delivery.attempts, delivery.last_status) == ("delivered", 1, 200)
    assert len(receiver.got) == 1


async def test_a_failed_message_is_repeated_with_the_same_id(
    control: Control, clock: Any, receivers: Receivers, sender: WebhookSender
) -> None:
    """500, then 5 seconds later success: one id, a fresh time, a valid signature."""
    receiver = receivers((500, {}), (204, {}))
    ops = to(receiver, secrets=(SECRET,))
    row, lanes = open_alert(control, clock, ops), dispatcher(control, clock, sender, ops)
    await lanes.round()
    await lanes.drain(5)
    (delivery,) = deliveries(control, row)
    assert (delivery.state, delivery.attempts, delivery.last_status) == ("pending", 1, 500)
    assert 5 * NANO <= (delivery.next_attempt_unix_nano or 0) - clock() <= 5.5 * NANO
    clock.pass_s(4)
    assert await lanes.round() == 0
    clock.pass_s(2)
    assert await lanes.round() == 1
    await lanes.drain(5)
    assert deliveries(control, row)[0].state == "delivered"
    first, second = (headers for headers, _ in receiver.got)
    assert first["webhook-id"] == second["webhook-id"] == delivery.webhook_id
    assert int(second["webhook-timestamp"]) == int(first["webhook-timestamp"]) + 6
    assert first["webhook-signature"] != second["webhook-signature"]


async def test_a_restart_goes_on_where_the_outbox_was(
    control: Control, clock: Any, receivers: Receivers, sender: WebhookSender
) -> None:
    """Attempts made before a restart count; nothing is lost and the id stays."""
    receiver = receivers((500, {}), (200, {}))
    ops = to(receiver)
    row, lanes = open_alert(control, clock, ops), dispatcher(control, clock, sender, ops)
    await lanes.round()
    await lanes.drain(5)
    clock.pass_s(6)
    again = dispatcher(control, clock, sender, ops)
    assert await again.round() == 1
    await again.drain(5)
    (delivery,) = deliveries(control, row)
    assert (delivery.state, delivery.attempts) == ("delivered", 2)
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1


async def test_a_backlog_nobody_takes_any_more_hides_no_other_message(
    control: Control, clock: Any, receivers: Receivers, sender: WebhookSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages of a destination that left the settings wait for ever, and in nobody's way."""
    monkeypatch.setattr(dispatch, "BATCH", 1)
    monkeypatch.setattr(dispatch, "MOST", 2)
    receiver = receivers()
    ops, renamed = to(receiver), to(receiver, "renamed")
    for i in range(5):
        open_alert(control, clock, renamed, node=f"n{i}")
    row, lanes = open_alert(control, clock, ops), dispatcher(control, clock, sender, ops)
    assert await lanes.round() == 1
    await lanes.drain(5)
    assert deliveries(control, row)[0].state == "delivered"


async def test_a_stuck_destination_holds_up_no_other(
    control: Control, clock: Any, receivers: Receivers, sender: WebhookSender
) -> None:
    """While one lane waits for an answer the other delivers all of its messages."""
    stuck, quick = receivers(), receivers()
    stuck.go_on.clear()
    slow, ops = to(stuck, "slow"), to(quick, "ops")
    lanes = dispatcher(control, clock, sender, slow, ops)
    rows = [open_alert(control, clock, slow, ops, node=f"n{i}") for i in range(3)]
    async with asyncio.timeout(10):
        while len(quick.got) < 3:
            await lanes.round()
            await asyncio.sleep(0.01)
    assert len(stuck.got) == 1
    stuck.go_on.set()
    await lanes.drain(5)
    states = {d.destination: d.state for d in deliveries(control, rows[0])}
    assert states == {"slow": "delivered", "ops": "delivered"}


async def test_a_long_backlog_of_one_destination_does_not_hide_another(
    control: Control, clock: Any, receivers: Receivers, sender: WebhookSender
) -> None:
    """Messages behind hundreds of a resting destination are found."""
    quick = receivers()
    dead, ops = Destination("dead", "http://127.0.0.1:9/", allow_private=True), to(quick)
    lanes = dispatcher(control, clock, sender, dead, ops)
    row = open_alert(control, clock, dead, node="first")
    backlog = [
        d
        for i in range(450)
        for d in deliveries_for(
            Alert("drift", {"n": str(i)}, {}, 0.3, clock()), [dead], external_url="", now=clock()
        )
    ]
    control.enqueue(backlog, [row.alert_id])
    clock.pass_s(1)
    open_alert(control, clock, ops)
    await lanes.round()
    await lanes.drain(5)
    assert len(quick.got) == 1


async def test_resolved_waits_for_its_firing(
    control: Control, clock: Any, receivers: Receivers, sender: WebhookSender
) -> None:
    """A receiver never hears the end before the beginning."""
    receiver = receivers((500, {}), (200, {}))
    ops = to(receiver)
    row, lanes = open_alert(control, clock, ops), dispatcher(control, clock, sender, ops)
    await lanes.round()
    await lanes.drain(5)
    clock.pass_s(2)
    resolve_alert(control, clock, row, ops)
    assert await lanes.round() == 0
    clock.pass_s(4)
    for _ in range(2):
        await lanes.round()
        await lanes.drain(5)
    assert [b'"status": "resolved"' in body for _, body in receiver.got] == [False, False, True]
    assert [d.state for d in deliveries(control, row)] == ["delivered", "delivered"]


async def test_a_lane_goes_on_as_long_as_all_goes_well(
    control: Control, clock: Any, receivers: Receivers, sender: WebhookSender
) -> None:
    """A storm of alerts does not wait a round for each message."""
    receiver = receivers()
    ops = to(receiver)
    lanes = dispatcher(control, clock, sender, ops)
    for n in range(20):
        open_alert(control, clock, ops, node=f"n{n}")
    assert await lanes.round() == 1
    await lanes.drain(10)
    assert len(receiver.got) == 20


async def test_gone_disables_the_destination(
    control: Control, clock: Any, receivers: Receivers, sender: WebhookSender
) -> None:
    """After 410 nothing is sent there any more, and what waits says why."""
    receiver = receivers((410, {}))
    ops = to(receiver)
    lanes = dispatcher(control, clock, sender, ops)
    first, second = (open_alert(control, clock, ops, node=n) for n in ("a", "b"))
    await lanes.round()
    await lanes.drain(5)
    assert "410" in control.disabled()["ops"]
    assert {deliveries(control, row)[0].state for row in (first, second)} <= {"failed", "disabled"}
    third = open_alert(control, clock, ops, node="c")
    clock.pass_s(100)
    assert await lanes.round() == 0
    assert deliveries(control, third)[0].state == "disabled"
    assert len(receiver.got) == 1


async def test_retry_after_rests_the_whole_destination(
    control: Control, clock: Any, receivers: Receivers, sender: WebhookSender
) -> None:
    """429 with Retry-After: neither this message nor the next before the time."""
    receiver = receivers((429, {"retry-after": "30"}), (200, {}))
    ops = to(receiver)
    lanes = dispatcher(control, clock, sender, ops)
    open_alert(control, clock, ops, node="a")
    open_alert(control, clock, ops, node="b")
    await lanes.round()
    await lanes.drain(5)
    clock.pass_s(29)
    assert await lanes.round() == 0
    clock.pass_s(2)
    for _ in range(2):
        await lanes.round()
        await lanes.drain(5)
    assert len(receiver.got) == 3


async def test_redirects_and_refused_addresses_are_failed_attempts(
    control: Control, clock: Any, receivers: Receivers, sender: WebhookSender
) -> None:
    """Both are kept with their reason and tried again later, in case somebody mends it."""
    receiver = receivers((302, {"location": "http://127.0.0.1:1/"}))
    moved, private = to(receiver, "moved"), to(receivers(), "private", allow_private=False)
    row, lanes = (
        open_alert(control, clock, moved, private),
        dispatcher(control, clock, sender, moved, private),
    )
    await lanes.round()
    await lanes.drain(5)
    found = {d.destination: d for d in deliveries(control, row)}
    assert {d.state for d in found.values()} == {"pending"}
    assert "redirect" in found["moved"].last_error
    assert "allow_private" in found["private"].last_error


async def test_the_tenth_failure_is_the_last(
    control: Control, clock: Any, receivers: Receivers, sender: WebhookSender
) -> None:
    """Three and a half days of trying, then the message is given up and says so."""
    receiver = receivers((500, {}))
    ops = to(receiver)
    row, lanes = open_alert(control, clock, ops), dispatcher(control, clock, sender, ops)
    for _ in range(10):
        assert await lanes.round() == 1
        await lanes.drain(5)
        clock.pass_s(26 * 3600)
    assert await lanes.round() == 0
    (delivery,) = deliveries(control, row)
    assert (delivery.state, delivery.attempts, len(receiver.got)) == ("failed", 10, 10)
    assert lanes.counts["given_up"] == 1
