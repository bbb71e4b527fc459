"""Adds up what one write adds to the roll-ups, then upserts one row per key instead of one per span.

A mention of a node is its entry among a decision's candidates, or its being chosen without being listed.
Mentions without a finite weight count for nothing but ``chosen``. For the chosen node the decision's own
weight stands, else the one it has as a candidate.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

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
    weight_min: float | None = None
    weight_max: float | None = None
    weight_last: float | None = None
    last_unix_nano: int = 0
    confidence_sum: float = 0.0
    confidences: int = 0

    def observe(self, weight: float, time: int) -> None:
        self.observations += 1
        self.weight_sum += weight
        if self.weight_min is None or weight < self.weight_min:
            self.weight_min = weight
        if self.weight_max is None or weight > self.weight_max:
            self.weight_max = weight
        if time >= self.last_unix_nano:
            self.weight_last, self.last_unix_nano = weight, time

    def row(self) -> Row:
        return (
            self.chosen,
            self.adjusted,
            self.unadjusted,
            self.observations,
            self.weight_sum,
            self.weight_min,
            self.weight_max,
            self.weight_last,
            self.last_unix_nano,
            self.confidence_sum,
            self.confidences,
        )


@dataclass(slots=True)
class _Newest:
    time: int
    weight: float | None
    detail: CandidateDetail | None
    position: int  # among the candidates

    def scores(self) -> tuple[float | None, str, str]:
        """Total score, scores by scorer and scorer weights (JSON objects)."""
        found = self.detail
        if found is None or self.position < 0:
            return None, "{}", "{}"
        score = found.scores[self.position] if self.position < len(found.scores) else None
        row = found.scorer_scores[self.position] if self.position < len(found.scorer_scores) else ()
        return (
            score if score is not None and isfinite(score) else None,
            _object(found.scorer_names, row),
            _object(found.scorer_names, found.scorer_weights),
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


class RollUp:
    """Collects one write's decisions and outcomes; then gives rows to upsert."""

    def __init__(self) -> None:
        self._seconds: dict[tuple[int, SeriesKey], _Second] = {}
        self._newest: dict[SeriesKey, _Newest] = {}
        self._arms: dict[tuple[str, str, int], _Arm] = {}

    def add_decisions(self, prepared: Prepared, positions: Iterable[int]) -> None:
        """Count the decisions at these positions of the batch."""
        columns = prepared.batch.decisions
        services = [resource.service for resource in prepared.batch.spans.resources]
        for k in positions:
            i = columns.span_index[k]
            time = prepared.end_unix_nano[i]
            series = (services[prepared.resource_index[i]], columns.policy[k], columns.node[k])
            weight = columns.weight[k]
            weight = weight if weight is not None and isfinite(weight) else None
            self._mention(series, time, weight, columns.detail[k])
            self._choose(series, time, prepared.adjusted[i], columns.confidence[k])
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
        return [(second, ids[key], *tally.row()) for (second, key), tally in self._seconds.items()]

    def series_rows(self, ids: dict[SeriesKey, int], change: int, received: int) -> list[Row]:
        """Rows of the newest weights, with change numbers from ``change + 1``."""
        return [
            (ids[key], *key, newest.weight, *newest.scores(), newest.time, number, received, False)
            for number, (key, newest) in enumerate(self._newest.items(), change + 1)
        ]

    def experiment_rows(self) -> list[Row]:
        """Rows of the experiment roll-up."""
        return [(*key, *arm.row()) for key, arm in self._arms.items()]

    def _choose(self, series: SeriesKey, time: int, adjusted: float | None, confidence: float | None) -> None:
        tally = self._second(time // NANO, series)
        tally.chosen += 1
        if adjusted is None:
            tally.unadjusted += 1
        else:
            tally.adjusted += adjusted
        if confidence is not None:
            tally.confidence_sum += confidence
            tally.confidences += 1
        if series not in self._newest:
            self._newest[series] = _Newest(time, None, None, -1)

    def _mention(
        self, chosen: SeriesKey, time: int, weight: float | None, detail: CandidateDetail | None
    ) -> None:
        service, policy, node = chosen
        listed = False
        if detail is not None:
            for position, (name, said) in enumerate(zip(detail.candidates, detail.weights, strict=False)):
                series, value = (service, policy, name), said
                if name == node:
                    listed = True
                    value = said if weight is None else weight
                if isfinite(value):
                    self._observe(series, time, value, detail, position)
        if not listed and weight is not None:
            position = _position(detail, node)
            self._observe(chosen, time, weight, detail, position)

    def _observe(
        self, series: SeriesKey, time: int, weight: float, detail: CandidateDetail | None, position: int
    ) -> None:
        self._second(time // NANO, series).observe(weight, time)
        newest = self._newest.get(series)
        if newest is None or newest.weight is None or time >= newest.time:
            self._newest[series] = _Newest(time, weight, detail, position)

    def _second(self, second: int, series: SeriesKey) -> _Second:
        key = (second, series)
        tally = self._seconds.get(key)
        if tally is None:
            tally = self._seconds[key] = _Second()
        return tally

    def _arm(self, experiment: str, variant: str, time: int) -> _Arm:
        key = (experiment, variant, time // MINUTE)
        arm = self._arms.get(key)
        if arm is None:
            arm = self._arms[key] = _Arm(time, time)
        arm.first_unix_nano = min(arm.first_unix_nano, time)
        arm.last_unix_nano = max(arm.last_unix_nano, time)
        return arm


def _position(detail: CandidateDetail | None, node: str) -> int:
    """Where the node stands among candidates that came without weights, -1 when it does not."""
    if detail is None or node not in detail.candidates:
        return -1
    return detail.candidates.index(node)


def _object(names: Sequence[str], values: Sequence[float]) -> str:
    return json.dumps({n: v for n, v in zip(names, values, strict=False) if isfinite(v)})
