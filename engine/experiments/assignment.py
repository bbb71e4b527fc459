"""Sticky assignment of units to the arms of an experiment, by hash.

The same key and unit always give the same arm, on every host and without any stored state. Different
experiments assign independently, because the key is part of the hash.
"""

import hashlib
import math
from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate

from ..errors import ConfigurationError


class Assignment:
    """The arms of one experiment and their shares.

    ``shares`` maps variant to a positive relative share. ConfigurationError without arms or for a share
    that is not positive and finite.
    """

    def __init__(self, key: str, shares: Mapping[str, float]) -> None:
        if not shares:
            raise ConfigurationError(f"experiment {key!r} has no arms")
        if not all(math.isfinite(share) and share > 0 for share in shares.values()):
            raise ConfigurationError(f"experiment {key!r}: shares are positive and finite")
        total = sum(shares.values())
        self.key = key
        self.shares = {variant: share / total for variant, share in shares.items()}
        self._variants = tuple(self.shares)
        self._edges = tuple(accumulate(self.shares.values()))[:-1]

    def variant(self, unit: str) -> str:
        """The arm of a unit (a user, a session, a request)."""
        data = f"{len(self.key)}:{self.key}:{unit}".encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(data, digest_size=8).digest()
        return self.at(int.from_bytes(digest, "big") / 2**64)

    def at(self, point: float) -> str:
        """The arm at a point of [0, 1): arms lie side by side in the order they were given."""
        return self._variants[bisect_right(self._edges, point)]
