"""A profile: filters, then weighted scorers, then a picker. It keeps no state and changes none."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .confidence import MarginConfidence
from .errors import ConfigurationError, NoEligibleNodeError
from .fleet import View
from .model import F64, I64, Evaluation, Mask, Pick, Policy, Request, Standing
from .pickers import ArgmaxPicker
from .protocols import ConfidenceModel, Filter, Picker, Rng, Scorer, WeightPolicy
from .weights import JointWeight

Removed = tuple[tuple[I64, str], ...]


class Profile:
    """How one policy decides.

    ``scorers`` are (scorer, weight) pairs; a candidate's total is the sum of weight * score, so weights
    that sum to 1 give totals in [0, 1]. ``weights`` gives the effective weight that is recorded.
    ``experiment`` is (key, variant) when every decision of this profile belongs to one arm.
    ConfigurationError for no scorer, a repeated scorer name, or a weight that is negative or not finite.
    """

    def __init__(
        self,
        name: str,
        scorers: Sequence[tuple[Scorer, float]],
        *,
        filters: Sequence[Filter] = (),
        picker: Picker | None = None,
        weights: WeightPolicy | None = None,
        confidence: ConfidenceModel | None = None,
        version: str = "1",
        experiment: tuple[str, str] | None = None,
    ) -> None:
        self.filters = tuple(filters)
        self.scorers = tuple(scorer for scorer, _ in scorers)
        self.picker = picker or ArgmaxPicker()
        self.weights = weights or JointWeight()
        self.confidence = confidence or MarginConfidence()
        self.experiment = experiment
        self._weights = _checked(scorers)
        self._span = float(self._weights.sum())
        names = tuple(scorer.name for scorer in self.scorers)
        self.policy = Policy(
            name, version, self._fingerprint(name), self.picker.name, names, tuple(self._weights.tolist())
        )
        read = (*self.weights.signals, *(signal for scorer in self.scorers for signal in scorer.signals))
        self.signals = tuple(dict.fromkeys(read))
        """Reported signals a decision of this profile depends on."""

    def select(self, request: Request, rng: Rng) -> tuple["Profile", tuple[str, str] | None]:
        """The profile to decide with and the experiment arm: itself."""
        return self, request.experiment or self.experiment

    def evaluate(self, request: Request, view: View, rng: Rng) -> Evaluation:
        """Decide. NoEligibleNodeError when the filters leave nothing."""
        candidates, removed = self._filter(request, view)
        values = np.empty((len(self.scorers) + 1, len(candidates)))
        weights, scores = values[-1], values[:-1]
        weights[:] = self.weights.weights(request, candidates)
        candidates.weights = weights
        for row, scorer in enumerate(self.scorers):
            scores[row] = scorer.score(request, candidates)
        # The only place where values are brought into [0, 1]; NaN becomes 0.
        np.fmin(np.fmax(values, 0.0, out=values), 1.0, out=values)
        totals = np.dot(self._weights, scores)
        pick = self.picker.pick(totals, weights, rng)
        margin = _margin(totals, pick)
        standing = Standing(margin, self._span, len(totals), pick.tie_count)
        return Evaluation(
            policy=self.policy,
            fleet=view.fleet_nodes,
            index=candidates.index,
            weights=weights,
            totals=totals,
            scores=scores,
            removed=removed,
            pick=pick,
            margin=margin,
            confidence=self.confidence.confidence(standing),
        )

    def describe(self) -> Mapping[str, Any]:
        """The configuration as plain values: what the fingerprint is made of."""
        return {
            "filters": [_described(plugin) for plugin in self.filters],
            "scorers": [[_described(s), float(w)] for s, w in zip(self.scorers, self._weights, strict=True)],
            "picker": _described(self.picker),
            "weights": _described(self.weights),
            "confidence": _described(self.confidence),
        }

    def _filter(self, request: Request, view: View) -> tuple[View, Removed]:
        alive: Mask | None = None
        removed: list[tuple[I64, str]] = []
        for plugin in self.filters:
            keep = plugin.keep(request, view)
            if keep is None:
                continue
            gone = ~keep if alive is None else alive & ~keep
            if gone.any():
                removed.append((np.flatnonzero(gone), plugin.reason(request)))
            alive = keep if alive is None else alive & keep
        if alive is None and len(view):
            return view, ()
        index = np.flatnonzero(alive) if alive is not None else np.empty(0, np.int64)
        if not len(index):
            nodes = view.fleet_nodes
            raise NoEligibleNodeError({nodes[i].name: why for gone, why in removed for i in gone.tolist()})
        return view.restricted(index), tuple(removed)

    def _fingerprint(self, name: str) -> str:
        text = json.dumps([name, self.describe()], sort_keys=True, separators=(",", ":"), default=repr)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _checked(scorers: Sequence[tuple[Scorer, float]]) -> F64:
    """The scorer weights as an array, shape (k,)."""
    if not scorers:
        raise ConfigurationError("a profile needs at least one scorer")
    names = [scorer.name for scorer, _ in scorers]
    if len(set(names)) != len(names):
        raise ConfigurationError("a profile lists every scorer once")
    weights = np.array([weight for _, weight in scorers], np.float64)
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise ConfigurationError("scorer weights are finite, not negative, and not all 0")
    return weights


def _margin(totals: F64, pick: Pick) -> float | None:
    """Total of the chosen less the best other, None without another."""
    if len(totals) == 1:
        return None
    others = totals.copy()
    others[pick.index] = -np.inf
    return float(totals[pick.index] - others.max())


def _described(plugin: object) -> Mapping[str, Any]:
    """Name and configuration of a plug-in; a dataclass shows its fields, another its ``repr``."""
    name = getattr(plugin, "name", type(plugin).__qualname__)
    if dataclasses.is_dataclass(plugin) and not isinstance(plugin, type):
        return {"name": name, **dataclasses.asdict(plugin)}
    return {"name": name, "type": f"{type(plugin).__module__}.{type(plugin).__qualname__}"}
