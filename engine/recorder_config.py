"""What a recorder is told and what it tells: settings and counts."""

from dataclasses import dataclass

from .errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class RecorderConfig:
    """Settings of a recorder.

    ``capacity`` bounds the ring (decisions and outcomes), ``max_batch`` the spans of one export,
    ``interval_s`` how long one waits for company. ``max_candidates`` bounds the candidates of a span.
    ``rate`` in [0, 1] is the share of traces kept. Without ``outcome_spans`` the caller makes the span of
    the call itself and puts ``decision.id`` and ``decision.outcome`` on it.
    """

    capacity: int = 4096
    max_batch: int = 512
    interval_s: float = 0.1
    max_candidates: int = 64
    rate: float = 1.0
    outcome_spans: bool = True

    def __post_init__(self) -> None:
        if min(self.capacity, self.max_batch, self.max_candidates) < 1 or not self.interval_s > 0:
            raise ConfigurationError("sizes and the interval of a recorder are above 0")
        if not 0.0 <= self.rate <= 1.0:
            raise ConfigurationError(f"a sampling rate lies in 0..1, not {self.rate!r}")


@dataclass(frozen=True, slots=True)
class RecorderStats:
    """Counts since the recorder was made.

    ``recorded`` entered the ring; each of those is ``exported``, ``failed`` (the exporter gave up, or no
    span could be made) or ``pending``. ``dropped`` found the ring full or the recorder shut down;
    ``unsampled`` decisions were left out by the sampling rate.
    """

    recorded: int
    exported: int
    failed: int
    pending: int
    dropped: int
    unsampled: int
