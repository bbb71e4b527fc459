"""The live feed: one task tails the store and fans binary frames out to all viewers.

The task keeps a fixed beat (five times a second, on the monotonic clock, without drift). At each beat it
asks the store for what changed, in a thread, and sends one frame per channel, encoded once whatever the
number of viewers. A beat without news, or with a store that is slow to answer, still sends an empty
frame: a viewer can tell "nothing changed" from "nobody speaks". While nobody watches, nothing is read.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from dashboard.live_channel import Channel
from dashboard.live_matrix import to_text
from dashboard.live_tail import StoreTail, WeightSource
from dashboard.live_viewer import Viewer
from storage.errors import StorageError

log = logging.getLogger(__name__)
SLOW_S = 2.0


@dataclass(frozen=True, slots=True)
class LiveConfig:
    """Beat and bounds of the feed.

    ``period_s`` is the time between frames; a read that takes longer than half of it is awaited at the
    next beat. ``max_viewers`` bounds the viewers at one time, ``stuck_s`` how long one send may take
    before the viewer is let go, ``reload_s`` how often all series are read again to notice those that
    are gone. ``allowed_origins`` are further origins (``https://host``) that may open the socket.
    """

    period_s: float = 0.2
    max_viewers: int = 500
    stuck_s: float = 30.0
    reload_s: float = 30.0
    allowed_origins: tuple[str, ...] = ()


@dataclass(slots=True)
class LiveFigures:
    """What the feed did since it started.

    ``viewers`` is how many there are now; all others are counts: frames encoded, messages dropped for
    slow viewers, viewers refused (too many, or a foreign origin), viewers let go because they were
    stuck, beats skipped because the one before took too long, reads that failed.
    """

    frames: int = 0
    dropped: int = 0
    viewers: int = 0
    refused: int = 0
    evicted: int = 0
    late_beats: int = 0
    failed_reads: int = 0


class LiveHub:
    """Tails ``reader`` and serves any number of viewers.

    ``clock`` gives UTC in ns, ``monotonic`` seconds that never jump. ``start`` and ``stop`` are
    idempotent; ``stop`` wakes every viewer so that its connection ends.
    """

    def __init__(
        self,
        reader: WeightSource,
        clock: Callable[[], int],
        config: LiveConfig | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.config = config or LiveConfig()
        self.figures = LiveFigures()
        self._clock = clock
        self._monotonic = monotonic
        self._tail = StoreTail(reader, clock, monotonic, self.config.reload_s)
        self._channels: dict[tuple[str, str | None], Channel] = {}
        self._task: asyncio.Task[None] | None = None
        self._watched = asyncio.Event()
        self._trouble: str | None = None
        self._stats_at = 0.0

    # ------------------------------------------------------------------------------------ lifecycle
    async def start(self) -> None:
        """Begin to serve; needs a running event loop."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="live-hub")

    async def stop(self) -> None:
        """End the task and let every viewer go."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        for channel in self._channels.values():
            for viewer in channel.viewers:
                viewer.close()

    # -------------------------------------------------------------------------------------- viewers
    def join(self, policy: str, service: str | None) -> Viewer | None:
        """Add a viewer, or None when there are ``max_viewers`` already (counted)."""
        if self.figures.viewers >= self.config.max_viewers:
            self.figures.refused += 1
            return None
        viewer = Viewer(policy, service)
        self.figures.viewers += 1
        self._channel_for(viewer).viewers.add(viewer)
        self._watched.set()
        return viewer

    def leave(self, viewer: Viewer) -> None:
        """Forget a viewer; a channel that nobody watches goes with it."""
        for key, channel in list(self._channels.items()):
            if viewer in channel.viewers:
                channel.viewers.remove(viewer)
                self.figures.viewers -= 1
                if not channel.viewers:
                    del self._channels[key]
        if not self._channels:
            self._watched.clear()

    def catch_up(self, viewer: Viewer) -> list[bytes | str]:
        """Layout and full frame as of now, for a viewer that is new or fell behind."""
        channel = next((c for c in self._channels.values() if viewer in c.viewers), None)
        if channel is None:
            return []
        messages: list[bytes | str] = [channel.layout_text(self._menu())]
        messages.append(channel.full(self._server_ms(), self._clock()))
        if self._trouble is not None:
            messages.append(self._trouble_text())
        return messages

    def _channel_for(self, viewer: Viewer) -> Channel:
        policy = viewer.policy or self._tail.first_policy(viewer.service)
        channel = self._channels.get((policy, viewer.service))
        if channel is None:
            channel = self._channels[policy, viewer.service] = Channel(policy, viewer.service)
            if self._tail.primed:
                channel.load(self._tail.series.values())
        return channel

    def _menu(self) -> dict[str, object]:
        return self._tail.menu() | {"period_ms": round(self.config.period_s * 1000)}

    # ----------------------------------------------------------------------------------------- beat
    async def _run(self) -> None:
        while True:
            if not self._watched.is_set():
                self._tail.rest()
                await self._watched.wait()
            await self._watch()

    async def _watch(self) -> None:
        """Keep the beat until nobody watches. A beat that was missed is skipped, not made up for."""
        due = self._monotonic()
        while self._watched.is_set():
            try:
                await self._beat()
            except Exception:  # the feed outlives any single beat; the next one starts afresh
                log.exception("A beat of the live feed failed")
            due += self.config.period_s
            late = self._monotonic() - due
            if late > 0:
                missed = int(late / self.config.period_s) + 1
                self.figures.late_beats += missed
                due += missed * self.config.period_s
            await asyncio.sleep(due - self._monotonic())

    async def _beat(self) -> None:
        await self._read()
        self._settle_unassigned()
        now, server_ms, menu = self._clock(), self._server_ms(), self._menu()
        for channel in self._channels.values():
            self.figures.dropped += channel.tick(server_ms, now, menu)
            self.figures.frames += 1
        if self._monotonic() >= self._stats_at:
            self._stats_at = self._monotonic() + 1.0
            self._send_stats(now)

    def _settle_unassigned(self) -> None:
        """Move viewers that asked for no policy to the first one, as soon as there is one."""
        for key, channel in list(self._channels.items()):
            if key[0] or not self._tail.first_policy(key[1]):
                continue
            del self._channels[key]
            for viewer in channel.viewers:
                self._channel_for(viewer).viewers.add(viewer)
                viewer.fall_back()

    async def _read(self) -> None:
        """Visit the store for at most half a beat."""
        try:
            news = await self._tail.visit(self.config.period_s / 2)
        except StorageError:
            self.figures.failed_reads += 1
            self._report("The store cannot be read now.")
            return
        except Exception:  # a fault in reading must be seen on the screen, not end the feed
            self.figures.failed_reads += 1
            log.exception("Reading weights for the live feed failed")
            self._report("Reading the weights failed; see the log of the dashboard.")
            return
        if self._tail.waiting_s() > SLOW_S:
            self._report("The store is slow to answer.")
        elif self._tail.waiting_s() == 0.0:
            self._recover()
        if news is None:
            return
        now = self._clock()
        for channel in self._channels.values():
            if news.whole or not channel.ready:
                channel.load(self._tail.series.values())
            else:
                channel.update(news.samples, now)

    # -------------------------------------------------------------------------------------- reports
    def _report(self, message: str) -> None:
        if message != self._trouble:
            self._trouble = message
            self._broadcast(self._trouble_text())

    def _recover(self) -> None:
        if self._trouble is not None:
            self._trouble = None
            self._broadcast(to_text({"type": "recovered"}))

    def _trouble_text(self) -> str:
        return to_text({"type": "trouble", "message": self._trouble})

    def _broadcast(self, message: str) -> None:
        for channel in self._channels.values():
            self.figures.dropped += channel.send(message)

    def _send_stats(self, now: int) -> None:
        common = {"type": "stats", "viewers": self.figures.viewers, "dropped": self.figures.dropped}
        for channel in self._channels.values():
            rates = self._tail.rates(channel.policy, channel.service)
            self.figures.dropped += channel.send(to_text(common | rates | channel.figures(now)))

    def _server_ms(self) -> float:
        """Steady milliseconds; not the wall clock, which may be set back."""
        return self._monotonic() * 1000.0
