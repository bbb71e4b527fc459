"""When two totals count as equal."""

from ..model import F64, Mask

TOLERANCE = 1e-12
"""Totals closer than this differ only by rounding in the weighted sum."""


def tied_with(totals: F64, value: float) -> Mask:
    """Which totals equal ``value``. Shape (n,)."""
    tied: Mask = abs(totals - value) <= TOLERANCE
    return tied
