"""Shares of traffic: their uncertainty, their spread, and whether they are what was stated."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc, ndtri


@dataclass(frozen=True, slots=True)
class Allocation:
    """Chi-square of realised counts against expected ones. ``p_value`` is 1 without anything to compare.

    ``pooled`` counts categories merged because they expected fewer than five.
    """

    statistic: float
    degrees: int
    p_value: float
    pooled: int


def wilson(hits: float, of: float, alpha: float = 0.05) -> tuple[float, float]:
    """Interval of a share, inside [0, 1] also at the rims (E. B. Wilson, JASA 22, 1927).

    (p + z^2/2n +- z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n). ``of`` = 0 gives (0, 1). Counts may be
    fractional (corrected for sampling). Raises ValueError unless 0 <= hits <= of and 0 < alpha < 1.
    """
    if not 0 <= hits <= of or not 0 < alpha < 1:
        raise ValueError("a share needs 0 <= hits <= of and alpha in (0, 1)")
    if of == 0:
        return 0.0, 1.0
    z = float(ndtri(1.0 - alpha / 2.0))
    share, spread = hits / of, z * z / of
    middle = (share + spread / 2.0) / (1.0 + spread)
    half = math.sqrt(share * (1.0 - share) * spread + spread * spread / 4.0) / (1.0 + spread)
    # The rims are exact in the formula and not in floating point.
    return (0.0 if hits == 0 else max(0.0, middle - half)), (1.0 if hits == of else min(1.0, middle + half))


def effective_number(amounts: Sequence[float] | npt.NDArray[np.float64]) -> float:
    """How many equal nodes would spread traffic as evenly: 1 / sum p^2, from 1 to n; 0 without traffic.

    The inverse Simpson index (E. H. Simpson, Nature 163, 1949). ``amounts`` are counts or weights,
    shape (n,); raises ValueError for a negative or non-finite one.
    """
    values = np.asarray(amounts, np.float64)
    if values.size and not (np.isfinite(values).all() and values.min() >= 0):
        raise ValueError("amounts must be finite and at least 0")
    largest = float(values.max(initial=0.0))
    if largest == 0.0:
        return 0.0
    scaled = values / largest  # squares of tiny or huge amounts would leave the range of a double
    return float(scaled.sum() ** 2 / np.square(scaled).sum())


def allocation(observed: Sequence[float], expected: Sequence[float]) -> Allocation:
    """Pearson's chi-square of counts against the counts their stated shares lead one to expect.

    ``expected`` should be summed over decisions from the share each one was made under, and is scaled to
    the total of ``observed``. Categories that expect fewer than five are merged, since the approximation
    needs about that. Raises ValueError for unequal lengths, negative or non-finite counts.
    """
    seen, stated = np.asarray(observed, np.float64), np.asarray(expected, np.float64)
    if seen.shape != stated.shape or seen.ndim != 1:
        raise ValueError("observed and expected must have the same length")
    if not (np.isfinite(seen).all() and np.isfinite(stated).all()) or (seen < 0).any() or (stated < 0).any():
        raise ValueError("counts must be finite and at least 0")
    if seen.sum() == 0 or stated.sum() == 0:
        return Allocation(0.0, 0, 1.0, 0)
    stated = stated * (seen.sum() / stated.sum())
    small = stated < 5.0
    pooled = int(small.sum())
    if pooled:
        seen = np.append(seen[~small], seen[small].sum())
        stated = np.append(stated[~small], stated[small].sum())
    if stated[-1] == 0.0 and seen[-1] > 0.0:
        return Allocation(math.inf, max(1, len(seen) - 1), 0.0, pooled)
    seen, stated = seen[stated > 0], stated[stated > 0]
    degrees = len(seen) - 1
    if degrees < 1:
        return Allocation(0.0, 0, 1.0, pooled)
    statistic = float((np.square(seen - stated) / stated).sum())
    return Allocation(statistic, degrees, float(chdtrc(degrees, statistic)), pooled)
