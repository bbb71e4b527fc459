"""Delivers what is due in the outbox: each destination in its own lane, one message at a time.

A lane that waits for a slow or dead receiver holds up no other. Within a lane the messages of one alert
keep their order: "resolved" is not told before its "firing" was delivered or given up, since a receiver
that hears them the other way round believes in a fire for ever.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from collector.alerts.config import Destination
from collector.alerts.notify.webhook import Answer, WebhookSender
from collector.alerts.outbox import NANO, next_attempt
from storage.control import Control, OutboxItem
from storage.errors import StorageError

_LOG = logging.getLogger(__name__)
BATCH = 200
MOST = 6_400
"""Most messages looked at in one round, while those of one alert hold each other back."""

LONGEST_PAUSE_S = 300.0


class _Lane:
    """One destination: what is on its way, and how long it rests after failures."""

    def __init__(self, destination: Destination) -> None:
        self.destination = destination
        self.task: asyncio.Task[None] | None = None
        self.failures = 0
        self.rest_until = 0  # ns

    def free(self, now: int) -> bool:
        """Whether it may take a message now."""
        return (self.task is None or self.task.done()) and now >= self.rest_until


class Dispatcher:
    """Takes due messages out of the outbox and posts them.

    ``clock`` gives nanoseconds since the epoch, ``rng`` the jitter. Messages of destinations that are no
    longer configured stay in the outbox.
    """

    def __init__(
        self,
        destinations: Iterable[Destination],
        control: Control,
        sender: WebhookSender,
        *,
        clock: Callable[[], int],
        rng: random.Random,
    ) -> None:
        self._lanes = {d.name: _Lane(d) for d in destinations}
        self._control, self._sender, self._clock, self._rng = control, sender, clock, rng
        self.counts: Counter[str] = Counter()

    async def round(self) -> int:
        """Start every free lane that has something due; returns how many started. Raises StorageError."""
        now = self._clock()
        free = {name for name, lane in self._lanes.items() if lane.free(now)}
        chosen = await asyncio.to_thread(self._choose, free, now) if free else {}
        for name, item in chosen.items():
            lane = self._lanes[name]
            lane.task = asyncio.create_task(self._work(lane, item), name=f"deliver to {name}")
        return len(chosen)

    async def drain(self, time_limit_s: float) -> None:
        """Wait for attempts under way; those that take longer are cut and stay in the outbox."""
        running = [
            lane.task for lane in self._lanes.values() if lane.task is not None and not lane.task.done()
        ]
        if running:
            _, late = await asyncio.wait(running, timeout=time_limit_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _choose(self, free: set[str], now: int) -> Mapping[str, OutboxItem]:
        """The first due message of each free lane that no earlier one holds back."""
        limit = BATCH
        while True:
            due = self._control.due(now, limit, destinations=free)
            chosen: dict[str, OutboxItem] = {}
            for item in due:
                if item.destination in free and item.destination not in chosen and not self._held(item):
                    chosen[item.destination] = item
            if len(due) < limit or len(chosen) == len(free) or limit >= MOST:
                return chosen
            limit *= 2

    def _held(self, item: OutboxItem) -> bool:
        """Whether an earlier message about the same alert still waits for this destination."""
        for alert_id in item.alert_ids:
            row = self._control.alert(alert_id)
            for delivery in row.deliveries if row else ():
                if delivery.webhook_id == item.webhook_id:
                    break
                if delivery.destination == item.destination and delivery.state == "pending":
                    return True
        return False

    async def _work(self, lane: _Lane, first: OutboxItem) -> None:
        """Post ``first`` and, as long as all goes well, what is due after it."""
        item: OutboxItem | None = first
        try:
            while item is not None:
                answer = await self._sender.post(lane.destination, item.webhook_id, item.body, self._clock())
                await asyncio.to_thread(self._note, lane, item, answer)
                item = await self._following(lane) if answer.delivered else None
        except StorageError as error:
            # The message stays due and is posted again under the same id: rather twice than never.
            self.counts["errors"] += 1
            self._rest(lane, 1.0)
            _LOG.warning("the outbox of %s waits for the store: %s", lane.destination.name, error)

    async def _following(self, lane: _Lane) -> OutboxItem | None:
        name = lane.destination.name
        return (await asyncio.to_thread(self._choose, {name}, self._clock())).get(name)

    def _note(self, lane: _Lane, item: OutboxItem, answer: Answer) -> None:
        name, now = lane.destination.name, self._clock()
        if answer.delivered:
            lane.failures = 0
            self.counts["delivered"] += 1
            self._control.mark_delivered(item.webhook_id, status=answer.status or 0)
            return
        lane.failures += 1
        self.counts["failed_attempts"] += 1
        _LOG.warning("delivery %s to %s failed: %s", item.webhook_id, name, answer.error)
        if answer.gone:
            self._control.mark_failed(item.webhook_id, status=answer.status, error=answer.error)
            self._control.disable(name, reason="the receiver answered 410 Gone")
            return
        at = next_attempt(item.attempts + 1, now, self._rng, answer.retry_after_s)
        if at is None:
            self.counts["given_up"] += 1
            self._control.mark_failed(item.webhook_id, status=answer.status, error=answer.error)
        else:
            self._control.mark_retry(
                item.webhook_id, next_attempt_unix_nano=at, status=answer.status, error=answer.error
            )
        if answer.status is None or answer.status == 429 or answer.status >= 500:
            self._rest(lane, answer.retry_after_s or min(2.0 ** min(lane.failures - 1, 10), LONGEST_PAUSE_S))

    def _rest(self, lane: _Lane, seconds: float) -> None:
        lane.rest_until = self._clock() + round(seconds * NANO)
