"""One channel of the live feed: a policy (and perhaps one service) with the viewers that watch it."""

from collections.abc import Iterable

import numpy as np

from dashboard.frames import encode
from dashboard.live_matrix import WeightMatrix, to_text
from dashboard.live_viewer import Viewer
from storage.records import WeightSample

NODE_SILENCE_NS = 900 * 1_000_000_000
"""A node this much older than the newest of its policy has left; it is no longer drawn."""


class Channel:
    """Matrix, sequence and viewers of one (policy, service); encodes once for all of them."""

    def __init__(self, policy: str, service: str | None) -> None:
        self.policy = policy
        self.service = service
        self.viewers: set[Viewer] = set()
        self.sequence = 0
        self.ready = False
        self._matrix = WeightMatrix()
        self._announced = (-1, False)
        self._lags: list[int] = []

    def accepts(self, sample: WeightSample) -> bool:
        """Whether a series belongs to this channel."""
        return sample.policy == self.policy and self.service in {None, sample.service}

    def load(self, samples: Iterable[WeightSample]) -> None:
        """Take all known series in; rows that are gone or long silent leave."""
        mine = [s for s in samples if self.accepts(s)]
        newest = max((s.time_unix_nano for s in mine), default=0)
        alive = [s for s in mine if s.time_unix_nano >= newest - NODE_SILENCE_NS]
        self._matrix.apply(alive)
        self._matrix.retain(frozenset(s.node for s in alive))
        self.ready = True

    def update(self, samples: Iterable[WeightSample], now: int) -> None:
        """Take changed series in and note how late they came."""
        self._matrix.apply(s for s in samples if self.accepts(s))
        self._lags.extend(self._matrix.changed_weight_ages_ms(now).tolist())
        del self._lags[:-4096]

    def layout_text(self, menu: dict[str, object]) -> str:
        """The ``layout`` message; ``menu`` adds the policies and services to choose from."""
        about = {"type": "layout", "policy": self.policy, "service": self.service, "ready": self.ready}
        return to_text(about | self._matrix.layout() | menu)

    def full(self, server_ms: float, now: int) -> bytes:
        """A full frame for one viewer, with the sequence of the last frame sent to all."""
        return encode(self._matrix.full(self.sequence, server_ms, now))

    def tick(self, server_ms: float, now: int, menu: dict[str, object]) -> int:
        """Send the next frame to every viewer; how many messages were dropped."""
        self.sequence = (self.sequence + 1) & 0xFFFFFFFF
        state = (self._matrix.version, self.ready)
        dropped = 0
        if state != self._announced:
            self._announced = state
            dropped += self.send(self.layout_text(menu))
            frame = self._matrix.full(self.sequence, server_ms, now)
            self._matrix.delta(self.sequence, server_ms, now)
        else:
            frame = self._matrix.delta(self.sequence, server_ms, now)
        return dropped + self.send(encode(frame))

    def send(self, message: bytes | str) -> int:
        """Offer one message to every viewer; how many of them could not take it."""
        return sum(not viewer.offer(message) for viewer in self.viewers)

    def figures(self, now: int) -> dict[str, object]:
        """Server-side figures since the last call: lag of the samples and age of the oldest weight."""
        lags, self._lags = self._lags, []
        ages = self._matrix.weight_ages_ms(now)
        return {
            "lag_p95_ms": float(np.percentile(lags, 95)) if lags else None,
            "oldest_ms": int(ages.max()) if len(ages) else None,
            "frames": self.sequence,
            "nodes": self._matrix.rows,
        }
