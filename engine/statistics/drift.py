"""Drift of one series: a two-sided Page-Hinkley test that standardises what it watches.

Source: E. S. Page, "Continuous inspection schemes", Biometrika 41 (1954); D. V. Hinkley, "Inference about
the change-point from cumulative sum tests", Biometrika 58 (1971). With z the sample less the reference
mean, over the reference deviation:

    up   = max(0, f * up   + z - delta)        drift upwards   when up   > threshold
    down = max(0, f * down - z - delta)        drift downwards when down > threshold

which equals the textbook form (cumulated sum less its running minimum) when f = 1. The reference is an
exponentially weighted mean and variance of the samples before the present one, so one threshold serves
series of every scale. After an alarm everything is learnt afresh: the new level is the new normal.
"""

import math
from dataclasses import asdict, dataclass
from typing import Literal, TypedDict

Direction = Literal["none", "up", "down"]


@dataclass(frozen=True, slots=True)
class DriftConfig:
    """How sensitive the test is; ``delta`` and ``threshold`` count standard deviations.

    ``delta`` >= 0: half the smallest shift worth finding. ``threshold`` > 0: the summed excess that
    raises an alarm (see ``threshold_for``). ``burn_in`` >= 2: samples that only teach the reference.
    ``forgetting`` in (0, 1]: factor f on the sums; 1 remembers a slow drift for ever, less also forgives
    it. ``memory`` >= 2: samples after which the reference has forgotten most of the past; inf keeps a
    plain running mean. ``clip`` > delta bounds one sample's z, so that a lone outlier is no alarm.
    ``floor`` > 0 (units of the series): least deviation assumed, so that a constant series does not turn a
    rounding error into an alarm. ``standardise`` False takes the deviation as 1: the other numbers
    then have the units of the series.
    """

    delta: float = 0.5
    threshold: float = 20.0
    burn_in: int = 30
    forgetting: float = 1.0
    memory: float = 300.0
    clip: float = 6.0
    floor: float = 1e-3
    standardise: bool = True

    def __post_init__(self) -> None:
        if not (self.delta >= 0 and self.threshold > 0 and self.clip > self.delta and self.floor > 0):
            raise ValueError("delta must be >= 0, threshold and floor > 0, clip > delta")
        if self.burn_in < 2 or self.memory < 2 or not 0 < self.forgetting <= 1:
            raise ValueError("burn_in and memory must be >= 2, forgetting in (0, 1]")


@dataclass(frozen=True, slots=True)
class DriftState:
    """What one sample changed.

    ``direction`` is "none" except on the sample that raises the alarm. ``magnitude`` is the estimated
    shift (mean since the onset less the reference, signed, in units of the series), 0 without alarm.
    ``onset`` counts samples since the sum last left zero. ``level`` is the larger sum over the
    threshold: above 1 on an alarm. ``settled`` is False during burn-in.
    """

    direction: Direction
    magnitude: float
    onset: int
    level: float
    mean: float
    deviation: float
    settled: bool

    @property
    def drifted(self) -> bool:
        """Whether this sample raised an alarm."""
        return self.direction != "none"


class DriftDump(TypedDict):
    """Everything a ``PageHinkley`` knows, as values that survive JSON exactly."""

    config: dict[str, float]
    count: int
    mean: float
    variance: float
    up: float
    down: float
    up_run: list[float]
    down_run: list[float]


class PageHinkley:
    """The test over one series. Not thread-safe; 1 to 2 us a sample."""

    __slots__ = ("_config", "_count", "_down", "_down_run", "_mean", "_up", "_up_run", "_variance")

    def __init__(self, config: DriftConfig | None = None) -> None:
        self._config = config or DriftConfig()
        self.reset()

    @property
    def config(self) -> DriftConfig:
        """The parameters it runs with."""
        return self._config

    def reset(self) -> None:
        """Forget everything, reference included."""
        self._count = 0
        self._mean = self._variance = self._up = self._down = 0.0
        self._up_run = [0.0, 0.0]  # samples and their summed distance from the reference since zero
        self._down_run = [0.0, 0.0]

    def update(self, value: float) -> DriftState:
        """Take one sample in order of time. Raises ValueError for NaN and infinities."""
        if not math.isfinite(value):
            raise ValueError(f"a drift test takes finite samples, not {value!r}")
        config, mean, deviation = self._config, self._mean, self._deviation()
        settled = self._count >= config.burn_in
        if settled:
            z = max(-config.clip, min(config.clip, (value - mean) / deviation))
            self._up = self._accumulate(self._up, z, self._up_run, value - mean)
            self._down = self._accumulate(self._down, -z, self._down_run, value - mean)
        level = max(self._up, self._down) / config.threshold
        run = self._up_run if self._up >= self._down else self._down_run
        onset = int(run[0])
        if level <= 1.0:
            self._learn(value)
            return DriftState("none", 0.0, onset, level, mean, deviation, settled)
        direction: Direction = "up" if self._up >= self._down else "down"
        magnitude = run[1] / run[0]
        self.reset()
        self._learn(value)
        return DriftState(direction, magnitude, onset, level, mean, deviation, settled)

    def _deviation(self) -> float:
        if not self._config.standardise:
            return 1.0
        return max(self._config.floor, math.sqrt(self._variance))

    def _accumulate(self, total: float, z: float, run: list[float], distance: float) -> float:
        total = max(0.0, self._config.forgetting * total + z - self._config.delta)
        if total == 0.0:
            run[0] = run[1] = 0.0
        else:
            run[0] += 1.0
            run[1] += distance
        return total

    def _learn(self, value: float) -> None:
        # West's update: a plain running mean and variance until `memory`, exponential from there on.
        self._count += 1
        share = max(1.0 / self._count, 2.0 / (self._config.memory + 1.0))
        distance = value - self._mean
        self._mean += share * distance
        self._variance = (1.0 - share) * (self._variance + share * distance * distance)

    def dump(self) -> DriftDump:
        """All state; ``restore`` of it continues bit for bit, also after a pass through JSON."""
        return DriftDump(
            config=asdict(self._config),
            count=self._count,
            mean=self._mean,
            variance=self._variance,
            up=self._up,
            down=self._down,
            up_run=list(self._up_run),
            down_run=list(self._down_run),
        )

    @classmethod
    def restore(cls, dump: DriftDump) -> "PageHinkley":
        """The detector as it was. Raises KeyError or TypeError for a dump of another form."""
        made = cls(DriftConfig(**dump["config"]))  # type: ignore[arg-type]  # asdict widened int and bool
        made._count = dump["count"]
        made._mean, made._variance = dump["mean"], dump["variance"]
        made._up, made._down = dump["up"], dump["down"]
        made._up_run, made._down_run = list(dump["up_run"]), list(dump["down_run"])
        return made


def threshold_for(samples_per_false_alarm: float, delta: float = 0.5) -> float:
    """Threshold that keeps false alarms as rare as asked, over independent normal samples.

    ``samples_per_false_alarm`` > 2 counts samples of all watched series together: 64 series at 1 Hz and
    one false alarm a week are 64 * 604,800. Siegmund's approximation of the run length of a one-sided
    sum, (exp(2 d b) - 2 d b - 1) / (2 d^2) with b = threshold + 1.166, halved for the two sides
    (D. Siegmund, "Sequential Analysis", 1985). Positive autocorrelation and an estimated reference
    shorten real runs: take half as much again for them. Raises ValueError when delta is not above 0.
    """
    if delta <= 0 or samples_per_false_alarm <= 2:
        raise ValueError("delta must be above 0 and the run length above 2 samples")

    def excess(threshold: float) -> float:
        x = 2.0 * delta * (threshold + 1.166)
        return math.log(math.expm1(x) - x) - math.log(4.0 * delta * delta * samples_per_false_alarm)

    low, high = 0.0, 300.0 / delta  # exp stays within a double up to there
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if excess(middle) >= 0 else (middle, high)
    return high
