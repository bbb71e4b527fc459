"""What one channel of the live feed shows: a matrix of nodes by weight and scorers; pure state.

Rows are nodes by name; column 0 is the weight, then one column per scorer in the order first seen. Every
cell carries the time it was decided, so ages are computed when a frame is made and never stored.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import orjson

from dashboard.frames import AGE_LIMIT_MS, DELTA, FULL, Frame
from storage.records import WeightSample

WEIGHT_COLUMN = "weight"
MAX_NODES = 4_096
MAX_SCORERS = 64
_F32_MAX = float(np.finfo(np.float32).max)


class WeightMatrix:
    """Newest weights and scores of the nodes of one policy.

    ``version`` grows whenever rows or columns change. Nodes beyond ``max_nodes`` and scorers beyond
    ``MAX_SCORERS`` are left out and counted, so that a sender cannot grow the screen without bound.
    """

    def __init__(self, *, max_nodes: int = MAX_NODES) -> None:
        self.version = 0
        self.left_out = 0
        self.nodes: list[str] = []
        self.scorers: list[str] = []
        self.scorer_weights: dict[str, float] = {}
        self._max_nodes = max_nodes
        self._row: dict[str, int] = {}
        self._seen: dict[tuple[str, str], int] = {}
        self._value = np.full((0, 1), np.nan, np.float32)
        self._time = np.zeros((0, 1), np.int64)
        self._changed = np.zeros((0, 1), np.bool_)

    @property
    def rows(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

    @property
    def cols(self) -> int:
        """1 for the weight plus one per scorer."""
        return 1 + len(self.scorers)

    def apply(self, samples: Iterable[WeightSample]) -> None:
        """Take samples in that are not known yet.

        A sample older than what its row shows is ignored (several services may state one node).
        """
        arrived = [s for s in samples if self._seen.get((s.service, s.node)) != s.change]
        self._grow(arrived)
        column = {name: k + 1 for k, name in enumerate(self.scorers)}
        for sample in arrived:
            row, time = self._row.get(sample.node), sample.time_unix_nano
            if row is None:
                continue
            self._seen[sample.service, sample.node] = sample.change
            if time < self._time[row, 0]:
                continue
            self._set(row, 0, sample.weight, time)
            for name, score in sample.scores.items():
                if name in column:
                    self._set(row, column[name], score, time)
            self.scorer_weights.update(
                (name, weight) for name, weight in sample.scorer_weights.items() if name in column
            )

    def _set(self, row: int, col: int, value: float, time: int) -> None:
        self._value[row, col] = min(max(value, -_F32_MAX), _F32_MAX)  # what a sender wrote may not fit
        self._time[row, col] = time
        self._changed[row, col] = True

    def _grow(self, samples: list[WeightSample]) -> None:
        names = dict.fromkeys(s.node for s in samples if s.node not in self._row)
        known = set(self.scorers)
        scorers = dict.fromkeys(name for s in samples for name in s.scores if name not in known)
        new_nodes = list(names)[: max(0, self._max_nodes - self.rows)]
        new_scorers = list(scorers)[: max(0, MAX_SCORERS - len(self.scorers))]
        self.left_out = max(self.left_out, self.rows + len(names) - self._max_nodes)
        if new_nodes or new_scorers:
            self._reshape(sorted([*self.nodes, *new_nodes]), [*self.scorers, *new_scorers])

    def _reshape(self, nodes: list[str], scorers: list[str]) -> None:
        """Lay the matrix out anew; rows and columns that stay keep their values."""
        shape = (len(nodes), 1 + len(scorers))
        value, time = np.full(shape, np.nan, np.float32), np.zeros(shape, np.int64)
        rows = {name: k for k, name in enumerate(nodes)}
        kept = [name for name in self.nodes if name in rows]
        old = [self._row[name] for name in kept]
        new = [rows[name] for name in kept]
        value[new, : self.cols] = self._value[old]
        time[new, : self.cols] = self._time[old]
        self.nodes, self.scorers, self._row = nodes, scorers, rows
        self._value, self._time, self._changed = value, time, np.zeros(shape, np.bool_)
        self.version += 1

    def retain(self, alive: frozenset[str]) -> None:
        """Drop the rows of nodes that are not in ``alive``."""
        kept = [name for name in self.nodes if name in alive]
        if len(kept) < self.rows:
            self._seen = {key: change for key, change in self._seen.items() if key[1] in alive}
            self._reshape(kept, self.scorers)

    def full(self, sequence: int, server_ms: float, now: int) -> Frame:
        """A frame of every cell that has a value; leaves the set of changed cells alone."""
        return self._frame(FULL, ~np.isnan(self._value), sequence, server_ms, now)

    def delta(self, sequence: int, server_ms: float, now: int) -> Frame:
        """A frame of the cells changed since the last ``delta``; may be empty."""
        frame = self._frame(DELTA, self._changed, sequence, server_ms, now)
        self._changed[:] = False
        return frame

    def _frame(
        self, kind: int, mask: npt.NDArray[np.bool_], sequence: int, server_ms: float, now: int
    ) -> Frame:
        index = np.flatnonzero(mask).astype(np.uint32)
        age = np.clip((now - self._time.ravel()[index]) // 1_000_000, 0, AGE_LIMIT_MS)
        return Frame(
            kind,
            self.rows,
            self.cols,
            sequence,
            server_ms,
            index,
            age.astype(np.uint16),
            self._value.ravel()[index],
        )

    def weight_ages_ms(self, now: int) -> npt.NDArray[np.int64]:
        """Age of each node's weight in ms, not saturated; shape (rows,)."""
        return np.maximum((now - self._time[:, 0]) // 1_000_000, 0)

    def changed_weight_ages_ms(self, now: int) -> npt.NDArray[np.int64]:
        """Ages in ms of the weights that the next ``delta`` will carry."""
        return self.weight_ages_ms(now)[self._changed[:, 0]]

    def layout(self) -> dict[str, object]:
        """Names of rows and columns as the ``layout`` message carries them."""
        return {
            "version": self.version,
            "nodes": self.nodes,
            "columns": [WEIGHT_COLUMN, *self.scorers],
            "scorer_weights": self.scorer_weights,
            "left_out": self.left_out,
        }


def to_text(message: dict[str, object]) -> str:
    """A text message of the feed; NaN becomes null."""
    return orjson.dumps(message).decode()
