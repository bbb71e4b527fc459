"""Requests for the simulated cluster: a public trace, looped and scaled, with drawn tenants and priorities.

Lengths, their order and the short-term burstiness of the arrivals come from the trace in ``data/``
(attribution there). Its hour has a slow swing (191 to 507 requests a minute) that would move every node's
weight at once and again each few minutes when compressed; it is evened out over five minutes of the trace.
What the trace does not have is drawn from the seed: priority P0/P1/P2 with 20/50/30 % and latency
sensitivity .9/.5/.2, tenant, model, and session (a quarter of the requests opens one, the others continue
a recent one and share the first three quarters of the shorter prompt with it).
"""

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from .fleet import LARGE_MODEL, SMALL_MODELS, request_cost

PRIORITIES = (("P0", 0.20, 0.9), ("P1", 0.50, 0.5), ("P2", 0.30, 0.2))
"""Name, share of the requests, and latency sensitivity delta."""

TENANTS = (
    ("fabrikam-chat", 0.34),
    ("northwind", 0.24),
    ("acme-search", 0.20),
    ("umbra-labs", 0.14),
    ("initech-batch", 0.08),
)
_LARGE_SHARE = 0.25
_RECENT_SESSIONS = 256
_NEW_SESSION = 0.25
_TREND_S = 300.0
_BLOCK = 1_024


@dataclass(frozen=True, slots=True)
class TraceData:
    """A trace in columns of shape (n,): seconds since its first request (rising), tokens in, tokens out."""

    time: npt.NDArray[np.float64]
    prompt: npt.NDArray[np.int64]
    output: npt.NDArray[np.int64]

    @property
    def rate(self) -> float:
        """Mean requests per second, the seam of a loop included as one mean gap."""
        return (len(self.time) - 1) / float(self.time[-1])

    def mean_cost(self) -> float:
        """Mean seconds of a node of speed 1 that a request takes."""
        return request_cost(float(self.prompt.mean()), float(self.output.mean()))


@dataclass(frozen=True, slots=True)
class Arrival:
    """One request. ``time`` in virtual seconds; ``prefix`` tokens are those of its session's last request."""

    id: int
    time: float
    prompt: int
    output: int
    priority: str
    delta: float
    tenant: str
    model: str
    session: int
    prefix: int


def load_trace() -> TraceData:
    """Read the trace shipped with the package, the slow swing evened out."""
    packed = files(__package__).joinpath("data", "AzureLLMInferenceTrace_conv.csv.gz").read_bytes()
    rows = list(csv.reader(gzip.decompress(packed).decode("ascii").splitlines()))[1:]
    stamps = [_seconds(row[0]) for row in rows]
    time = np.asarray(stamps) - stamps[0]
    lengths = np.asarray([(int(row[1]), int(row[2])) for row in rows], np.int64)
    return TraceData(even_out(time, _TREND_S), np.maximum(lengths[:, 0], 1), np.maximum(lengths[:, 1], 1))


def even_out(time: npt.NDArray[np.float64], window: float) -> npt.NDArray[np.float64]:
    """Warp rising times so that the rate over ``window`` seconds is about constant; bursts stay.

    The new time is the integral of the smoothed rate, with the same total. Shape (n,) in and out, n >= 2.
    """
    end = float(time[-1])
    edges = np.linspace(0.0, end, max(2, round(end / (window / 10.0))) + 1)
    counts = np.histogram(time, edges)[0].astype(np.float64)
    kernel = np.ones(min(10, len(counts)))
    rate = np.convolve(counts, kernel, "same") / np.convolve(np.ones_like(counts), kernel, "same")
    elapsed = np.concatenate(([0.0], np.cumsum(np.maximum(rate, 1e-9))))
    warped: npt.NDArray[np.float64] = np.interp(time, edges, elapsed * (end / elapsed[-1]))
    return warped


def arrivals(trace: TraceData, rate: float, seed: int) -> Iterator[Arrival]:
    """Endless requests at ``rate`` > 0 per virtual second, the same for the same seed.

    Ids count from 1, times rise from 0. Raises ValueError for a rate that is not above 0.
    """
    if not rate > 0:
        raise ValueError("a rate is above 0")
    return _generate(trace, trace.rate / rate, np.random.default_rng(seed))


def _generate(trace: TraceData, squeeze: float, rng: np.random.Generator) -> Iterator[Arrival]:
    lap, size, number = float(trace.time[-1]) + 1.0 / trace.rate, len(trace.time), 0
    sessions: list[tuple[int, int]] = []  # a ring of (key, last prompt)
    opened = 0
    while True:
        classes = rng.choice(3, _BLOCK, p=[share for _, share, _ in PRIORITIES]).tolist()
        tenants = rng.choice(len(TENANTS), _BLOCK, p=[share for _, share in TENANTS]).tolist()
        draws = rng.random((_BLOCK, 3)).tolist()
        for kind, tenant, (fresh, which, model) in zip(classes, tenants, draws, strict=True):
            turn, row = divmod(number, size)
            prompt = int(trace.prompt[row])
            if fresh < _NEW_SESSION or not sessions:
                opened += 1
                slot, key, prefix = (opened - 1) % _RECENT_SESSIONS, opened, 0
            else:
                slot = int(which * len(sessions))
                key, last = sessions[slot]
                prefix = 3 * min(prompt, last) // 4
            if slot == len(sessions):
                sessions.append((key, prompt))
            else:
                sessions[slot] = (key, prompt)
            number += 1
            small = SMALL_MODELS[tenant % len(SMALL_MODELS)]
            yield Arrival(
                id=number,
                time=(turn * lap + float(trace.time[row])) * squeeze,
                prompt=prompt,
                output=int(trace.output[row]),
                priority=PRIORITIES[kind][0],
                delta=PRIORITIES[kind][2],
                tenant=TENANTS[tenant][0],
                model=LARGE_MODEL if model < _LARGE_SHARE else small,
                session=key,
                prefix=prefix,
            )


def _seconds(stamp: str) -> float:
    """A trace's time stamp; its seven decimals are one more than ``datetime`` reads."""
    whole, _, fraction = stamp.partition(".")
    return datetime.fromisoformat(whole + "+00:00").timestamp() + float(f"0.{fraction or 0}")
