"""Intervals that stay true while somebody watches: the asymptotic confidence sequence.

Source: I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy, A. Ramdas, "Time-uniform central limit theory
and asymptotic confidence sequences", Annals of Statistics 52 (2024), theorem 2.2. For t samples, a
standard error se of the estimate and a tuning constant r > 0, simultaneously for all t,

    |estimate - truth| <= se * b(t),   b(t)^2 = 2 (t r^2 + 1) / (t r^2) * ln(sqrt(t r^2 + 1) / alpha)

with probability 1 - alpha, asymptotically. Solving for alpha gives the always-valid p value

    p = min(1, sqrt(t r^2 + 1) * exp(-z^2 t r^2 / (2 (t r^2 + 1)))),   z = estimate / se.

For two arms t counts both, since se^2 * t is then the variance of one step. r only decides at which t the
band is tightest; it must be fixed before looking.
"""

import math

DEFAULT_HORIZON = 5_000
"""Samples of both arms at which the band is tightest; within 5 % of that from a third to five times it."""


def tuning(alpha: float, horizon: float = DEFAULT_HORIZON) -> float:
    """The constant r that makes the band tightest at ``horizon`` samples; the paper's equation 10.

    ``alpha`` in (0, 1), ``horizon`` > 0; raises ValueError otherwise.
    """
    if not 0 < alpha < 1 or horizon <= 0:
        raise ValueError("alpha must lie in (0, 1) and the horizon above 0")
    log = -2.0 * math.log(alpha)
    return math.sqrt((log + math.log(log + 1.0)) / horizon)


def boundary(samples: float, alpha: float, horizon: float = DEFAULT_HORIZON) -> float:
    """Half width of the band in standard errors after ``samples`` > 0: about 3, for a fixed 1.96."""
    grown = samples * tuning(alpha, horizon) ** 2
    return math.sqrt(2.0 * (grown + 1.0) / grown * (0.5 * math.log1p(grown) - math.log(alpha)))


def always_valid_p(z: float, samples: float, alpha: float = 0.05, horizon: float = DEFAULT_HORIZON) -> float:
    """p value in (0, 1] for ``z`` = estimate / standard error that may be read after every sample.

    It is below ``alpha`` exactly when the band of the same ``alpha`` excludes zero; ``alpha`` otherwise
    only tunes the band.
    """
    grown = samples * tuning(alpha, horizon) ** 2
    log_p = 0.5 * math.log1p(grown) - 0.5 * z * z * grown / (grown + 1.0)
    return math.exp(min(0.0, log_p)) if math.isfinite(log_p) else 0.0
