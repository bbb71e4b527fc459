"""Webhooks over real sockets: what is sent, and what is made of the answers."""

import base64
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from standardwebhooks import Webhook

from collector.alerts.config import Destination
from collector.alerts.notify.webhook import WebhookSender, retry_after

SECRETS = tuple("whsec_" + base64.b64encode(bytes([n]) * 32).decode() for n in (1, 2))
BODY = b'{"type":"alert.firing","data":{"node":"\xc3\xa9"}}'
Receivers = Callable[..., Any]


@pytest.fixture
async def sender() -> AsyncIterator[WebhookSender]:
    async with WebhookSender() as made:
        yield made


async def test_a_message_verifies_with_the_standard_library(
    receivers: Receivers, sender: WebhookSender
) -> None:
    """Body untouched, id and time in the headers, and either secret verifies while one is rotated."""
    receiver = receivers()
    destination = Destination("ops", receiver.url, SECRETS, allow_private=True)
    answer = await sender.post(destination, "msg_1", BODY, time.time_ns())
    assert answer.delivered
    headers, body = receiver.got[0]
    assert body == BODY
    assert (headers["webhook-id"], headers["content-type"]) == ("msg_1", "application/json")
    assert headers["host"] == receiver.url.split("/")[2]
    for secret in SECRETS:
        assert Webhook(secret).verify(body, dict(headers))["type"] == "alert.firing"


async def test_without_a_secret_nothing_is_signed(receivers: Receivers, sender: WebhookSender) -> None:
    """The id and the time are sent all the same."""
    receiver = receivers()
    await sender.post(Destination("ops", receiver.url, allow_private=True), "msg_1", BODY, time.time_ns())
    assert "webhook-signature" not in receiver.got[0][0]
    assert receiver.got[0][0]["webhook-timestamp"].isdigit()


async def test_a_redirect_is_a_failure_and_not_followed(receivers: Receivers, sender: WebhookSender) -> None:
    """Neither to the same host nor to another."""
    other = receivers()
    receiver = receivers((307, {"location": other.url}))
    answer = await sender.post(
        Destination("ops", receiver.url, allow_private=True), "msg_1", BODY, time.time_ns()
    )
    assert not answer.delivered
    assert "redirect" in answer.error
    assert other.got == []


async def test_a_private_address_is_refused_before_anything_is_sent(
    receivers: Receivers, sender: WebhookSender
) -> None:
    """Loopback needs to be allowed; the message says how."""
    receiver = receivers()
    answer = await sender.post(Destination("ops", receiver.url), "msg_1", BODY, time.time_ns())
    assert answer.status is None
    assert "allow_private" in answer.error
    assert receiver.got == []


async def test_a_receiver_that_says_gone_is_known_as_gone(
    receivers: Receivers, sender: WebhookSender
) -> None:
    """410 is told from every other failure."""
    receiver = receivers((410, {}))
    answer = await sender.post(
        Destination("ops", receiver.url, allow_private=True), "msg_1", BODY, time.time_ns()
    )
    assert answer.gone
    assert not answer.delivered


async def test_a_wait_the_receiver_asks_for_is_told(receivers: Receivers, sender: WebhookSender) -> None:
    """Retry-After of a 503."""
    receiver = receivers((503, {"retry-after": "17"}))
    answer = await sender.post(
        Destination("ops", receiver.url, allow_private=True), "msg_1", BODY, time.time_ns()
    )
    assert (answer.status, answer.retry_after_s) == (503, 17.0)


async def test_a_silent_receiver_costs_the_time_limit_and_no_more(receivers: Receivers) -> None:
    """The limit covers the whole attempt."""
    receiver = receivers()
    receiver.go_on.clear()
    async with WebhookSender(time_limit_s=0.2) as sender:
        begun = time.monotonic()
        answer = await sender.post(
            Destination("ops", receiver.url, allow_private=True), "m", BODY, time.time_ns()
        )
    assert "within 0.2 s" in answer.error
    assert time.monotonic() - begun < 2.0


async def test_a_closed_port_and_an_unknown_name_are_answers_not_exceptions(sender: WebhookSender) -> None:
    """Whatever the network does is told."""
    for url in ("http://127.0.0.1:9/", "http://no-such-host.invalid/"):
        answer = await sender.post(Destination("ops", url, allow_private=True), "m", BODY, time.time_ns())
        assert answer.status is None
        assert answer.error


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        ("Fri, 15 Jan 2027 08:00:30 GMT", 30.0),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0.0),
        ("9" * 40, 86_400.0),
        ("soon", None),
        ("-5", None),
        ("", None),
    ],
)
def test_retry_after_is_read_in_both_forms(value: str, seconds: float | None) -> None:
    """Seconds or a date, never below 0 and at most a day; anything else is as if absent."""
    assert retry_after({"retry-after": value}, datetime(2027, 1, 15, 8, tzinfo=UTC)) == seconds
