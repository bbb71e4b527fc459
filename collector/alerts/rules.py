"""Drift rules: which weights are watched, and how sensitively."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from engine.statistics import DriftConfig, threshold_for

WEEK_S = 7 * 86_400
LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
RESERVED_LABELS = frozenset({"alertname", "policy", "service", "node", "severity"})
CORRELATION = 0.65
"""Lag-one correlation that false alarms behave as if seconds of a weight had; smoothing makes it high.

Measured on the simulated cluster, undisturbed for an hour (64 nodes, weights of every candidate): 357
false alarms at threshold 25, 126 at 30, 13 at 40, none at 50. They fall by a factor of e for every 4.6 of
threshold, where independent seconds need 1.0 at delta 0.5.
"""


def threshold_within(
    false_alarms_a_week: float, series: int, delta: float = 0.5, correlation: float = CORRELATION
) -> float:
    """Threshold in standard deviations that ``series`` weights at 1 Hz keep within a budget of false alarms.

    For delta 0.5 and one a week: 77 for 64 series, 90 for 1,000. ``false_alarms_a_week`` and ``series``
    above 0, ``correlation`` in [0, 1). The budget is of all series together, since the person who is
    paged sees them all. Correlated seconds stretch the threshold for independent ones by (1 + r) / (1 - r),
    the factor by which they widen the variance of a sum.
    """
    if not 0 <= correlation < 1:
        raise ValueError("the correlation lies in [0, 1)")
    stretch = (1.0 + correlation) / (1.0 - correlation)
    return stretch * threshold_for(series * WEEK_S / false_alarms_a_week, delta)


DEFAULT_THRESHOLD = 80.0
"""About one false alarm a week over 64 series.

On the simulated cluster with its disturbances it finds 18 of 19 nodes that slow down to a fifth, half of
them within 32 s of the first step, and raises nothing else in 40 minutes; 40 finds all 19 and raises 18 more.
"""


@dataclass(frozen=True, slots=True)
class DriftRule:
    """Raises an alert when the weight of a node drifts: Page-Hinkley on its 1 s roll-up.

    ``policy``, ``service`` and ``node`` are globs, case sensitive. ``delta`` and ``threshold`` count
    standard deviations (``DriftConfig``); ``min_samples`` seconds teach the reference first.
    ``min_change`` is the least shift worth an alert, as a share of the weight before it, summed over
    smaller drifts. The shift must last ``for_s`` seconds before the alert opens, and it resolves after
    ``resolve_after_s`` seconds without further drift. Raises ValueError for values outside their range.
    """

    name: str
    policy: str = "*"
    service: str = "*"
    node: str = "*"
    delta: float = 0.5
    threshold: float = DEFAULT_THRESHOLD
    min_samples: int = 60
    min_change: float = 0.1
    for_s: int = 0
    resolve_after_s: float = 60.0
    severity: str = "warning"
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name or self.for_s < 0 or self.resolve_after_s <= 0 or self.min_change < 0:
            raise ValueError("a rule needs a name, for_s and min_change >= 0 and resolve_after_s > 0")
        for label in self.labels:
            if not LABEL_NAME.fullmatch(label) or label in RESERVED_LABELS:
                raise ValueError(f"rule {self.name!r}: {label!r} cannot be the name of a label")
        self.detector()

    def matches(self, service: str, policy: str, node: str) -> bool:
        """Whether the rule watches this series."""
        pairs = ((service, self.service), (policy, self.policy), (node, self.node))
        return all(pattern == "*" or fnmatchcase(value, pattern) for value, pattern in pairs)

    def detector(self) -> DriftConfig:
        """Parameters of the detector of one series."""
        return DriftConfig(delta=self.delta, threshold=self.threshold, burn_in=self.min_samples)
