"""The newest samples of a signal; older ones leave."""

from collections import deque

import numpy as np

from .reading import Reading


class SlidingWindow:
    """Keeps the ``size`` newest samples (16 for response times)."""

    def __init__(self, size: int = 16) -> None:
        if size < 1:
            raise ValueError("a window holds at least one sample")
        self._samples: deque[float] = deque(maxlen=size)
        self._taken_ns = 0

    def __len__(self) -> int:
        return len(self._samples)

    def add(self, sample: float, taken_ns: int) -> None:
        """Take a sample in."""
        self._samples.append(sample)
        self._taken_ns = max(self._taken_ns, taken_ns)

    def mean(self) -> Reading | None:
        """Mean of the samples, None without any."""
        return Reading(float(np.mean(self._samples)), self._taken_ns) if self._samples else None

    def jitter(self) -> Reading | None:
        """Mean absolute difference of consecutive samples, None before the second."""
        if len(self._samples) < 2:
            return None
        return Reading(float(np.abs(np.diff(self._samples)).mean()), self._taken_ns)

    def quantile(self, q: float) -> Reading | None:
        """Quantile ``q`` in [0, 1] of the samples, None without any."""
        return Reading(float(np.quantile(self._samples, q)), self._taken_ns) if self._samples else None
