"""Statistics that stay true while somebody watches: drift, comparison of arms, shares. Pure functions."""

from .drift import DriftConfig, DriftDump, DriftState, PageHinkley, threshold_for
from .sequence import always_valid_p, boundary
from .shares import Allocation, allocation, effective_number, wilson
from .significance import Comparison, Interval, Moments, Verdict, compare, compare_rates, welch

__all__ = [
    "Allocation",
    "Comparison",
    "DriftConfig",
    "DriftDump",
    "DriftState",
    "Interval",
    "Moments",
    "PageHinkley",
    "Verdict",
    "allocation",
    "always_valid_p",
    "boundary",
    "compare",
    "compare_rates",
    "effective_number",
    "threshold_for",
    "welch",
    "wilson",
]
