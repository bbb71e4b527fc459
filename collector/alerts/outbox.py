"""What goes into the outbox for an alert, and when an attempt is repeated. Pure."""

import hashlib
import random
from collections.abc import Iterable

from collector.alerts.config import Destination
from collector.alerts.model import Alert
from collector.alerts.notify.bodies import body_of
from storage.control import NewDelivery

NANO = 1_000_000_000
DELAYS_S = (0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""Waits before each attempt, counted from the one before: ten attempts over three and a half days."""

JITTER = 0.1
"""Share by which a wait may be longer, so that receivers are not hit by everybody at once after an outage."""


def deliveries_for(
    alert: Alert, destinations: Iterable[Destination], *, external_url: str, now: int
) -> list[NewDelivery]:
    """One message to each destination, due at once; ``now`` in nanoseconds since the epoch.

    Ids follow from what is told, so saying the same again after a failure queues nothing twice.
    """
    return [
        NewDelivery(
            webhook_id=_id_of(alert, d.name),
            destination=d.name,
            body=body_of(alert, d.format, receiver=d.name, external_url=external_url, now=now),
            due_unix_nano=now,
        )
        for d in destinations
    ]


def next_attempt(
    attempts: int, now: int, rng: random.Random, retry_after_s: float | None = None
) -> int | None:
    """When to try again after ``attempts`` >= 1 failed ones (ns); None when it was the last.

    A receiver that asks for a longer wait gets it.
    """
    if attempts >= len(DELAYS_S):
        return None
    wait = DELAYS_S[attempts] * (1.0 + JITTER * rng.random())
    return now + round(max(wait, retry_after_s or 0.0) * NANO)


def _id_of(alert: Alert, destination: str) -> str:
    told = f"{alert.fingerprint}/{alert.starts_unix_nano}/{alert.firing}/{destination}"
    return "msg_" + hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:32]
