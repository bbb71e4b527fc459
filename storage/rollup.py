"""Adds up what one write adds to the roll-ups, then upserts one row per key instead of one per span.

A mention of a node is its entry among a decision's candidates, or its being chosen without being listed.
Mentions without a finite weight count for nothing but ``chosen``. For the chosen node the decision's own
weight stands, else the one it has as a candidate.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, nan

from storage.encoding import Prepared, Row
from storage.records import CandidateDetail

SeriesKey = tuple[str, str, str]
"""Service, policy, node."""

NANO = 1_000_000_000
MINUTE = 60 * NANO
OK = "ok"


@dataclass(slots=True)
class _Second:
    chosen: int = 0
    adjusted: float = 0.0
    unadjusted: int = 0
    observations: int = 0
    weight_sum: float = 0.0
    weight_min: float = inf
    weight_max: float = -inf
    weight_last: float = nan
    last_unix_nano: int = 0
    confidence_sum: float = 0.0
    confidences: int = 0

    def observe(self, weight: float, time: int) -> None:
        self.observations += 1
        self.weight_sum += weight
        if weight < self.weight_min:  # noqa: PLR1730 - min() costs four times as much, once per mention
            self.weight_min = weight
        if weight > self.weight_max:  # noqa: PLR1730
            self.weight_max = weight
        if time >= self.last_unix_nano:
            self.weight_last = weight
            self.last_unix_nano = time

    def choose(self, adjusted: float, confidence: float | None) -> None:
        self.chosen += 1
        if isfinite(adjusted):
            self.adjusted += adjusted
        else:
            self.unadjusted += 1
        if confidence is not None:
            self.confidence_sum += confidence
            self.confidences += 1

    def row(self) -> Row:
        weights = (self.weight_min, self.weight_max, self.weight_last) if self.observations else (None,) * 3
        return (
            self.chosen,
            self.adjusted,
            self.unadjusted,
            self.observations,
            self.weight_sum,
            *weights,
            self.last_unix_nano,
            self.confidence_sum,
            self.confidences,
        )


@dataclass(slots=True)
class _Arm:
    first_unix_nano: int
    last_unix_nano: int
    exposures: int = 0
    outcomes: int = 0
    errors: int = 0
    latencies: int = 0
    latency_sum: float = 0.0
    latency_sumsq: float = 0.0

    def row(self) -> Row:
        return (
            self.exposures,
            self.outcomes,
            self.errors,
            self.latencies,
            self.latency_sum,
            self.latency_sumsq,
            self.first_unix_nano,
            self.last_unix_nano,
        )


_Newest = tuple[int, float | None, CandidateDetail | None, int]
"""Time, weight, the detail that said so and the place among its candidates (-1: not listed)."""


@dataclass(slots=True)
class RollUp:
    """Collects one write's decisions and outcomes; then gives rows to upsert."""

    _seconds: dict[int, dict[SeriesKey, _Second]] = field(default_factory=dict)
    _newest: dict[SeriesKey, _Newest] = field(default_factory=dict)
    _arms: dict[tuple[str, str, int], _Arm] = field(default_factory=dict)

    def add_decisions(self, prepared: Prepared, positions: Iterable[int]) -> None:
        """Count the decisions at these positions of the batch."""
        columns, times, adjusted = prepared.batch.decisions, prepared.end_unix_nano, prepared.adjusted
        services = [resource.service for resource in prepared.batch.spans.resources]
        for k in positions:
            i = columns.span_index[k]
            time, detail, weight = times[i], columns.detail[k], columns.weight[k]
            series = (services[prepared.resource_index[i]], columns.policy[k], columns.node[k])
            tallies = self._of_second(time)
            tally = tallies.get(series)
            if tally is None:
                tally = tallies[series] = _Second()
            tally.choose(nan if adjusted is None else adjusted[i], columns.confidence[k])
            if weight is None or not isfinite(weight):
                weight = None
            if detail is not None:
                self._mention_all(series, time, weight, detail, tallies)
            elif weight is not None:
                tally.observe(weight, time)
                newest = self._newest.get(series)
                if newest is None or time >= newest[0] or newest[1] is None:
                    self._newest[series] = (time, weight, None, -1)
            if series not in self._newest:
                self._newest[series] = (time, None, None, -1)
            experiment, variant = columns.experiment[k], columns.variant[k]
            if experiment is not None and variant is not None:
                self._arm(experiment, variant, time).exposures += 1

    def add_outcome(
        self, experiment: str | None, variant: str | None, time: int, outcome: str, latency_ms: float | None
    ) -> None:
        """Count one outcome that was not known before; everything but ``ok`` is an error."""
        if experiment is None or variant is None:
            return
        arm = self._arm(experiment, variant, time)
        arm.outcomes += 1
        if outcome != OK:
            arm.errors += 1
        elif latency_ms is not None and isfinite(latency_ms):
            arm.latencies += 1
            arm.latency_sum += latency_ms
            arm.latency_sumsq += latency_ms * latency_ms

    @property
    def series(self) -> list[SeriesKey]:
        """Every series that was mentioned."""
        return list(self._newest)

    def second_rows(self, ids: dict[SeriesKey, int]) -> list[Row]:
        """Rows of the 1 s roll-up."""
        return [
            (second, ids[key], *tally.row())
            for second, tallies in self._seconds.items()
            for key, tally in tallies.items()
        ]

    def series_rows(self, ids: dict[SeriesKey, int], change: int, received: int) -> list[Row]:
        """Rows of the newest weights, with change numbers from ``change + 1``."""
        return [
            (ids[key], *key, weight, *_scores(detail, position), time, number, received, False)
            for number, (key, (time, weight, detail, position)) in enumerate(self._newest.items(), change + 1)
        ]

    def experiment_rows(self) -> list[Row]:
        """Rows of the experiment roll-up."""
        return [(*key, *arm.row()) for key, arm in self._arms.items()]

    def _mention_all(
        self,
        chosen: SeriesKey,
        time: int,
        weight: float | None,
        detail: CandidateDetail,
        tallies: dict[SeriesKey, _Second],
    ) -> None:
        service, policy, node = chosen
        mentions = list(zip(range(len(detail.weights)), detail.candidates, detail.weights, strict=False))
        if weight is not None:
            mentions = [(place, name, weight if name == node else said) for place, name, said in mentions]
            if node not in detail.candidates[: len(mentions)]:
                place = detail.candidates.index(node) if node in detail.candidates else -1
                mentions.append((place, node, weight))
        for place, name, said in mentions:
            if not isfinite(said):
                continue
            series = (service, policy, name)
            tally = tallies.get(series)
            if tally is None:
                tally = tallies[series] = _Second()
            tally.observe(said, time)
            newest = self._newest.get(series)
            if newest is None or time >= newest[0] or newest[1] is None:
                self._newest[series] = (time, said, detail, place)

    def _of_second(self, time: int) -> dict[SeriesKey, _Second]:
        second = time // NANO
        tallies = self._seconds.get(second)
        if tallies is None:
            tallies = self._seconds[second] = {}
        return tallies

    def _arm(self, experiment: str, variant: str, time: int) -> _Arm:
        key = (experiment, variant, time // MINUTE)
        arm = self._arms.get(key)
        if arm is None:
            arm = self._arms[key] = _Arm(time, time)
        arm.first_unix_nano = min(arm.first_unix_nano, time)
        arm.last_unix_nano = max(arm.last_unix_nano, time)
        return arm


def _scores(detail: CandidateDetail | None, position: int) -> tuple[float | None, str, str]:
    """Total score, scores by scorer and scorer weights (JSON objects) of one candidate."""
    if detail is None or position < 0:
        return None, "{}", "{}"
    score = detail.scores[position] if position < len(detail.scores) else nan
    row = detail.scorer_scores[position] if position < len(detail.scorer_scores) else ()
    return (
        score if isfinite(score) else None,
        _object(detail.scorer_names, row),
        _object(detail.scorer_names, detail.scorer_weights),
    )


def _object(names: Sequence[str], values: Sequence[float]) -> str:
    return json.dumps({n: v for n, v in zip(names, values, strict=False) if isfinite(v)})
