"""Runs the alerts beside the sink: reads roll-ups, keeps alerts, delivers messages.

It shares nothing with the intake but the store. What fails here is counted, logged and tried again at
the next second; it never reaches a sender.
"""

import asyncio
import logging
import random
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from collector.alerts.config import AlertsConfig
from collector.alerts.dispatch import Dispatcher
from collector.alerts.evaluate import Evaluator
from collector.alerts.model import Alert, Event
from collector.alerts.notify.webhook import WebhookSender
from collector.alerts.outbox import NANO, deliveries_for
from storage.control import Control, NewAlert, NewDelivery
from storage.errors import StorageError
from storage.records import AlertRow, DecisionPage, DecisionQuery, TimeRange, WeightPoint

_LOG = logging.getLogger(__name__)
WARM_UP_S = 300
_WARM_UP_POINTS = 100_000
_SWEEP_S = 5  # seconds between two looks for what came late
_CHUNK_S = 30  # seconds of history read at once
_MOST_UNSAVED = 10_000
DRAIN_S = 5.0


class WeightSource(Protocol):
    """Where roll-ups are read: the store's reader."""

    def weight_history(self, time: TimeRange) -> Sequence[WeightPoint]:
        """1 s roll-ups in a range, by second. Raises StoreUnavailableError."""
        ...

    def decisions(self, query: DecisionQuery, *, limit: int = 100) -> DecisionPage:
        """Decisions that match, newest first. Raises StoreUnavailableError."""
        ...


class AlertService:
    """Evaluates every second and delivers what is due.

    ``clock`` gives nanoseconds since the epoch, ``rng`` the jitter of retries. Alerts that fired before
    a restart go on firing, and the outbox goes on where it was.
    """

    def __init__(
        self,
        config: AlertsConfig,
        source: WeightSource,
        control: Control,
        *,
        clock: Callable[[], int],
        rng: random.Random,
        sender: WebhookSender | None = None,
    ) -> None:
        self._config, self._source, self._control, self._clock = config, source, control, clock
        self._sender = sender or WebhookSender()
        self._evaluator = Evaluator(config.rules)
        self._dispatcher = Dispatcher(config.destinations, control, self._sender, clock=clock, rng=rng)
        self._ids: dict[str, int] = {}  # fingerprint to the number of its firing alert
        self._unsaved: deque[Event] = deque(maxlen=_MOST_UNSAVED)
        self._counts: Counter[str] = Counter()
        self._restored = False
        self._swept_s = self._read_s = 0

    def figures(self) -> Mapping[str, float]:
        """Gauges for the heartbeat: what is watched, fires, went out and went wrong."""
        sent = self._dispatcher.counts
        return {
            "alerts_series": self._evaluator.watched,
            "alerts_series_refused": self._evaluator.refused,
            "alerts_firing": len(self._ids),
            "alerts_opened": self._counts["open"],
            "alerts_resolved": self._counts["resolve"],
            "alerts_errors": self._counts["errors"] + sent["errors"],
            "webhooks_delivered": sent["delivered"],
            "webhooks_failed_attempts": sent["failed_attempts"],
            "webhooks_given_up": sent["given_up"],
        }

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; attempts under way get a few seconds to end."""
        async with self._sender:
            try:
                await asyncio.gather(
                    self._repeat(stop, lambda: asyncio.to_thread(self.evaluate), "evaluation"),
                    self._repeat(stop, self._dispatcher.round, "delivery"),
                )
            finally:
                await self._dispatcher.drain(DRAIN_S if stop.is_set() else 0.0)

    async def _repeat(self, stop: asyncio.Event, step: Callable[[], Awaitable[object]], what: str) -> None:
        while not stop.is_set():
            try:
                await step()
            except StorageError as error:
                self._counts["errors"] += 1
                _LOG.warning("%s of alerts waits for the store: %s", what, error)
            except Exception:
                self._counts["errors"] += 1
                _LOG.exception("%s of alerts failed", what)
            try:
                await asyncio.wait_for(stop.wait(), self._config.interval_s)
            except TimeoutError:
                continue

    def evaluate(self) -> None:
        """One round: restore once, feed what is new, keep what changed. Blocking. Raises StorageError."""
        now_s = self._clock() // NANO
        if not self._restored:
            self._restore(now_s)
            self._restored = True
        end = now_s - self._config.settle_s
        # Mostly what is new since the round before; now and then all that may have come late.
        sweep = end - self._swept_s >= _SWEEP_S
        start = max(self._read_s - 1, end - WARM_UP_S)
        points = self._read(min(start, end - self._config.late_s) if sweep else start, end)
        self._read_s = end
        self._swept_s = end if sweep else self._swept_s
        events = self._evaluator.feed(points, now_s)
        lost = max(0, len(self._unsaved) + len(events) - _MOST_UNSAVED)
        if lost:
            self._counts["errors"] += lost
            _LOG.error("%d changes of alerts were dropped: the store has been away for too long", lost)
        self._unsaved.extend(events)
        while self._unsaved:
            self._save(self._unsaved[0])
            self._unsaved.popleft()

    def _restore(self, now_s: int) -> None:
        rows = self._control.firing()
        self._ids = {row.fingerprint: row.alert_id for row in rows}
        self._evaluator.restore([_alert_of(row) for row in rows], now_s)
        end = now_s - self._config.settle_s - self._config.late_s
        for start in range(end - self._warm_up_s(end), end, _CHUNK_S):
            self._evaluator.learn(self._read(start, min(start + _CHUNK_S, end)))
        self._read_s = end

    def _warm_up_s(self, end: int) -> int:
        """Seconds of history to learn from: fewer when there are so many series that it would take long."""
        sample = len(self._read(end - _SWEEP_S, end)) / _SWEEP_S
        return min(WARM_UP_S, max(_CHUNK_S, round(_WARM_UP_POINTS / max(sample, 1.0))))

    def _read(self, start_s: int, end_s: int) -> Sequence[WeightPoint]:
        if not self._config.rules:
            return ()
        return self._source.weight_history(TimeRange(max(0, start_s) * NANO, max(0, end_s) * NANO))

    def _save(self, event: Event) -> None:
        alert, number = event.alert, self._ids.get(event.alert.fingerprint)
        if event.kind == "open":
            alert = self._with_example(alert)
            row = self._control.open_alert(
                NewAlert(
                    fingerprint=alert.fingerprint,
                    rule=alert.rule,
                    labels=alert.labels,
                    annotations=alert.annotations,
                    value=alert.value,
                    starts_unix_nano=alert.starts_unix_nano,
                ),
                self._deliveries(alert),
            )
            self._ids[alert.fingerprint] = row.alert_id
        elif number is not None and event.kind == "update":
            self._control.update_alert(number, value=alert.value, annotations=alert.annotations)
        elif number is not None and alert.ends_unix_nano is not None:
            self._control.resolve_alert(
                number, ends_unix_nano=alert.ends_unix_nano, deliveries=self._deliveries(alert)
            )
            del self._ids[alert.fingerprint]
        self._counts[event.kind] += 1

    def _deliveries(self, alert: Alert) -> Sequence[NewDelivery]:
        return deliveries_for(
            alert, self._config.destinations, external_url=self._config.external_url, now=self._clock()
        )

    def _with_example(self, alert: Alert) -> Alert:
        """The alert with the trace of a decision for its node, when one is found; never a reason to fail."""
        found = alert.labels
        end = alert.starts_unix_nano + NANO
        query = DecisionQuery(
            time=TimeRange(end - 60 * NANO, end),
            service=found["service"],
            policy=found["policy"],
            node=found["node"],
        )
        try:
            items = self._source.decisions(query, limit=1).items
        except StorageError:
            return alert
        if not items:
            return alert
        return replace(alert, annotations={**alert.annotations, "example_trace_id": items[0].trace_id})


def _alert_of(row: AlertRow) -> Alert:
    return Alert(
        rule=row.rule,
        labels=row.labels,
        annotations=row.annotations,
        value=row.value or 0.0,
        starts_unix_nano=row.starts_unix_nano,
    )
