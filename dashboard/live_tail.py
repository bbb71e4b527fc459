"""Tails the weight series of the store for the live feed: one visit at a time, in a thread of its own.

Pages and the API share the event loop's threads; a few slow questions there must not freeze the live view.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol

from storage.records import TimeRange, WeightPoint, WeightSample

SECOND = 1_000_000_000
RATE_WINDOW_S = 5
ALIVE_NS = 60 * SECOND


class WeightSource(Protocol):
    """The part of the store's reader that the feed uses."""

    def weights(
        self, *, policy: str | None = None, service: str | None = None, changed_after: int = 0
    ) -> tuple[WeightSample, ...]:
        """Newest value of each series whose ``change`` is greater than ``changed_after``."""
        ...

    def weight_history(
        self,
        time: TimeRange,
        *,
        policy: str | None = None,
        service: str | None = None,
        node: str | None = None,
    ) -> tuple[WeightPoint, ...]:
        """1 s roll-ups in a range."""
        ...

    def data_version(self) -> int:
        """A number that changes when anyone commits."""
        ...


@dataclass(frozen=True, slots=True)
class News:
    """What one visit brought: changed ``samples``, or every series there is when ``whole``."""

    samples: tuple[WeightSample, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class _Visit:
    version: int
    samples: tuple[WeightSample, ...] | None
    whole: bool
    points: tuple[WeightPoint, ...] | None


@dataclass(slots=True)
class _Position:
    version: int | None = None
    change: int = 0
    reload_at: float = 0.0
    rate_at: float = 0.0
    visit_began: float = 0.0
    points: tuple[WeightPoint, ...] = field(default=())


class StoreTail:
    """Newest value of every weight series, kept up to date by ``visit``.

    ``clock`` gives UTC in ns, ``monotonic`` seconds. Every ``reload_s`` all series are read again, so
    that those which retention took away leave. ``primed`` is False until the first whole read.
    """

    def __init__(
        self,
        reader: WeightSource,
        clock: Callable[[], int],
        monotonic: Callable[[], float],
        reload_s: float,
    ) -> None:
        self.series: dict[tuple[str, str, str], WeightSample] = {}
        self.primed = False
        self._reader = reader
        self._clock = clock
        self._monotonic = monotonic
        self._reload_s = reload_s
        self._position = _Position()
        self._thread = ThreadPoolExecutor(1, "weighbridge-live")
        self._flight: asyncio.Future[_Visit] | None = None

    async def visit(self, patience_s: float) -> News | None:
        """Ask the store, waiting at most ``patience_s``; a longer visit is picked up by a later call.

        None when nothing was committed, or when the answer is still awaited (see ``waiting_s``). Raises
        what the reader raised.
        """
        if self._flight is None:
            self._position.visit_began = self._monotonic()
            self._flight = asyncio.get_running_loop().run_in_executor(self._thread, self._look)
        done, _ = await asyncio.wait({self._flight}, timeout=patience_s)
        if not done:
            return None
        flight, self._flight = self._flight, None
        return self._take(flight.result())

    def waiting_s(self) -> float:
        """Seconds since a visit still under way began; 0 when there is none."""
        return 0.0 if self._flight is None else self._monotonic() - self._position.visit_began

    def rest(self) -> None:
        """Nobody watches: the next visit reads everything."""
        self.primed = False

    def _look(self) -> _Visit:
        """Runs in a thread; the version comes first, so that a commit in between is seen next time."""
        position, moment = self._position, self._monotonic()
        version = self._reader.data_version()
        whole = not self.primed or moment >= position.reload_at
        samples = None
        if whole or version != position.version:
            samples = self._reader.weights(changed_after=0 if whole else position.change)
        points = None
        if moment >= position.rate_at:
            second = self._clock() // SECOND
            window = TimeRange((second - RATE_WINDOW_S - 1) * SECOND, (second - 1) * SECOND)
            points = self._reader.weight_history(window)
        return _Visit(version, samples, whole, points)

    def _take(self, visit: _Visit) -> News | None:
        position = self._position
        position.version = visit.version
        if visit.points is not None:
            position.points = visit.points
            position.rate_at = self._monotonic() + 1.0
        if visit.samples is None:
            return None
        samples = self._dated(visit.samples)
        keyed = {(s.service, s.policy, s.node): s for s in samples}
        if visit.whole:
            self.series, self.primed = keyed, True
            position.reload_at = self._monotonic() + self._reload_s
            position.change = max((s.change for s in samples), default=0)
        else:
            self.series.update(keyed)
            position.change = max((s.change for s in samples), default=position.change)
        return News(samples, visit.whole)

    def _dated(self, samples: tuple[WeightSample, ...]) -> tuple[WeightSample, ...]:
        """Samples with times no later than when they were first seen.

        A sender whose clock runs ahead must not look fresh for longer than others.
        """
        now, dated = self._clock(), []
        for sample in samples:
            known = self.series.get((sample.service, sample.policy, sample.node))
            if sample.time_unix_nano <= now:
                dated.append(sample)
            elif known is not None and known.change == sample.change:
                dated.append(known)
            else:
                dated.append(replace(sample, time_unix_nano=now))
        return tuple(dated)

    # ---------------------------------------------------------------------------- what there is to see
    def first_policy(self, service: str | None) -> str:
        """First policy by name among those that decided in the last minute of the newest one, or ""."""
        series = [s for s in self.series.values() if service in {None, s.service}]
        newest = max((s.time_unix_nano for s in series), default=0)
        return min((s.policy for s in series if s.time_unix_nano >= newest - ALIVE_NS), default="")

    def menu(self) -> dict[str, object]:
        """Policies and services to choose from."""
        series = self.series.values()
        return {
            "policies": sorted({s.policy for s in series}),
            "services": sorted({s.service for s in series}),
        }

    def rates(self, policy: str, service: str | None) -> dict[str, object]:
        """Decisions a second over the last whole seconds, counted and corrected for sampling.

        ``unsampled_per_s`` is None when a source does not state its sampling rate.
        """
        points = [p for p in self._position.points if p.policy == policy and service in {None, p.service}]
        won = [p for p in points if p.chosen]
        known = all(p.adjusted is not None for p in won)
        adjusted = sum(p.adjusted or 0.0 for p in won) / RATE_WINDOW_S if known else None
        return {
            "decisions_per_s": sum(p.chosen for p in won) / RATE_WINDOW_S,
            "unsampled_per_s": adjusted,
        }
