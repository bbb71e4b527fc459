"""When a delivery is tried again, and how messages are named."""

import random

import pytest

from collector.alerts.config import Destination
from collector.alerts.model import Alert
from collector.alerts.outbox import DELAYS_S, NANO, deliveries_for, next_attempt

ALERT = Alert("r", {"alertname": "r", "node": "n"}, {"summary": "s"}, 0.3, 5 * NANO)
TWO = [Destination("a", "https://a.test"), Destination("b", "https://b.test", format="standard")]


def test_the_waits_grow_to_a_day_and_then_end() -> None:
    """5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h, each at most a tenth longer."""
    rng = random.Random(1)
    waits = [next_attempt(n, 0, rng) for n in range(1, 10)]
    for wait, plan in zip(waits, (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400), strict=True):
        assert wait is not None
        assert plan <= wait / NANO <= plan * 1.1
    assert next_attempt(10, 0, rng) is None
    assert DELAYS_S[0] == 0


def test_a_receiver_that_asks_for_a_longer_wait_gets_it() -> None:
    """Retry-After lengthens a wait and never shortens it."""
    assert next_attempt(1, 0, random.Random(1), retry_after_s=60) == 60 * NANO
    later = next_attempt(2, 0, random.Random(1), retry_after_s=1)
    assert later is not None
    assert later >= 300 * NANO


def test_an_id_follows_from_what_is_told() -> None:
    """The same news has the same id, each destination and each state its own."""
    first = deliveries_for(ALERT, TWO, external_url="", now=1)
    again = deliveries_for(ALERT, TWO, external_url="", now=2)
    assert [d.webhook_id for d in first] == [d.webhook_id for d in again]
    ended = Alert("r", ALERT.labels, {}, 0.3, ALERT.starts_unix_nano, 9 * NANO)
    others = deliveries_for(ended, TWO, external_url="", now=3)
    assert len({d.webhook_id for d in [*first, *others]}) == 4
    assert all(d.due_unix_nano == 3 for d in others)


@pytest.mark.parametrize("character", [".", " ", "/"])
def test_an_id_is_safe_to_sign(character: str) -> None:
    """The signature joins id, time and body with dots."""
    assert all(character not in d.webhook_id for d in deliveries_for(ALERT, TWO, external_url="", now=1))
