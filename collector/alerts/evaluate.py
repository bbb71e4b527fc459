"""Feeds weights to the rules and says which alerts open, change and resolve. Pure: time comes in as points.

Per series (rule, service, policy, node) runs one Page-Hinkley detector. An alarm is a moment, an alert
is a state: it opens at an alarm (after ``for_s`` seconds in which the weight did not come back half the
way), changes at every further alarm, and resolves when none came for ``resolve_after_s`` seconds. Since
the detector learns a new level after each alarm, a weight that settles anywhere lets the alert resolve.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from collector.alerts.model import Alert, Event, short
from collector.alerts.rules import DriftRule
from engine.statistics import DriftState, PageHinkley
from storage.records import WeightPoint

NANO = 1_000_000_000
GAP_S = 120
"""Silence after which a series is learnt afresh: what it was says little about what it is."""

FORGET_S = 900
"""Silence after which a series is forgotten."""

RECENT = 5
"""Seconds averaged for the level a weight arrived at."""


@dataclass(slots=True)
class _Shift:
    """A shift that was found: its level before and after, when it began, when it was found (seconds)."""

    before: float
    after: float
    began: int
    found: int


@dataclass(slots=True)
class _Series:
    rule: DriftRule
    detector: PageHinkley
    last_second: int
    intervals: int = 0
    first_second: int = 0
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))
    anchor: float | None = None  # the level of the last alert, or the first one learnt
    began: int | None = None  # when the smaller drifts began that did not make an alert yet
    pending: _Shift | None = None
    firing: Alert | None = None
    quiet_since: int = 0

    def restart(self, second: int) -> None:
        self.detector.reset()
        self.recent.clear()
        self.anchor = self.began = self.pending = None
        self.intervals, self.first_second = 0, second


Key = tuple[str, str, str, str]


class Evaluator:
    """All rules over all series; at most ``max_series`` of them, further ones are counted and not watched.

    Not thread-safe.
    """

    def __init__(self, rules: Iterable[DriftRule], *, max_series: int = 20_000) -> None:
        self._rules = tuple(rules)
        self._series: dict[Key, _Series] = {}
        self._max_series = max_series
        self._refused: set[Key] = set()

    @property
    def watched(self) -> int:
        """Series watched now."""
        return len(self._series)

    @property
    def refused(self) -> int:
        """Series not watched since there were too many, counted up to ``max_series``."""
        return len(self._refused)

    def restore(self, alerts: Iterable[Alert], now_s: int) -> None:
        """Take over alerts that fired before a restart; their quiet time begins anew."""
        rules = {rule.name: rule for rule in self._rules}
        for alert in alerts:
            labels = alert.labels
            rule = rules.get(alert.rule) or DriftRule(alert.rule)  # resolves in time when its rule is gone
            key = (alert.rule, labels.get("service", ""), labels.get("policy", ""), labels.get("node", ""))
            series = self._series.get(key) or _Series(rule, PageHinkley(rule.detector()), 0)
            series.firing, series.quiet_since = alert, now_s
            self._series[key] = series

    def feed(self, points: Sequence[WeightPoint], now_s: int) -> list[Event]:
        """Take points, each series in order of time, and say what changed by ``now_s`` (seconds, UTC).

        A second that a series has seen, or that came after a later one, is skipped; so points may be
        given again.
        """
        events = [event for point in points for event in self._feed_one(point)]
        events += [event for series in self._series.values() for event in _settle(series, now_s)]
        self._forget(now_s)
        return events

    def learn(self, points: Sequence[WeightPoint]) -> None:
        """Take points of before a restart: they teach the detectors and raise nothing."""
        for point in points:
            for series in self._matching(point):
                firing = series.firing
                _take(series, point)
                series.firing = firing

    def _feed_one(self, point: WeightPoint) -> list[Event]:
        return [event for series in self._matching(point) for event in _take(series, point)]

    def _matching(self, point: WeightPoint) -> Iterator[_Series]:
        """Series that the point is news to."""
        for rule in self._rules:
            key = (rule.name, point.service, point.policy, point.node)
            series = self._series.get(key)
            if series is None and rule.matches(point.service, point.policy, point.node):
                series = self._add(key, rule)
            if series is not None and point.second > series.last_second:
                yield series

    def _add(self, key: Key, rule: DriftRule) -> _Series | None:
        if len(self._series) >= self._max_series:
            if len(self._refused) < self._max_series:
                self._refused.add(key)
            return None
        self._refused.discard(key)
        series = self._series[key] = _Series(rule, PageHinkley(rule.detector()), 0)
        return series

    def _forget(self, now_s: int) -> None:
        old = [k for k, s in self._series.items() if s.firing is None and now_s - s.last_second > FORGET_S]
        for key in old:
            del self._series[key]


def _take(series: _Series, point: WeightPoint) -> list[Event]:
    if point.weight_mean - point.weight_mean != 0.0:  # NaN and infinities teach nothing
        return []
    if point.second - series.last_second > GAP_S:
        series.restart(point.second)
    series.intervals += 1
    series.last_second = point.second
    series.recent.append(point.weight_mean)
    state = series.detector.update(point.weight_mean)
    if state.settled and series.anchor is None:
        series.anchor = state.mean
    if state.drifted:
        shift = _shift(series, state)
        if shift is not None:
            series.pending = shift
    return _confirm(series, point)


def _shift(series: _Series, state: DriftState) -> _Shift | None:
    """The shift an alarm speaks of; None while it is too small to matter."""
    series.quiet_since = series.last_second
    anchor = state.mean if series.anchor is None else series.anchor
    after = sum(series.recent) / len(series.recent) if state.onset >= RECENT else series.recent[-1]
    elapsed = series.last_second - series.first_second
    pace = elapsed / (series.intervals - 1) if series.intervals > 1 else 1.0
    began = series.last_second - round(state.onset * pace)
    began = began if series.began is None else min(began, series.began)
    if abs(after - anchor) < series.rule.min_change * max(abs(anchor), 1e-6):
        series.began = began
        return None
    series.began = None
    return _Shift(anchor, after, began, series.last_second)


def _confirm(series: _Series, point: WeightPoint) -> list[Event]:
    """The alert that a pending shift becomes once it has lasted."""
    shift = series.pending
    if shift is None:
        return []
    if (
        abs(point.weight_mean - shift.before) < 0.5 * abs(shift.after - shift.before)
        and point.second > shift.found
    ):
        series.pending = None
        return []
    if point.second - shift.found < series.rule.for_s and series.firing is None:
        return []
    series.pending, series.anchor = None, shift.after
    old = series.firing
    starts = old.starts_unix_nano if old else shift.found * NANO
    series.firing = Alert(
        rule=series.rule.name,
        labels=old.labels if old else labels_of(series.rule, point),
        annotations=_annotations(series.rule, point, shift),
        value=shift.after,
        starts_unix_nano=starts,
    )
    return [Event("update" if old else "open", series.firing)]


def _settle(series: _Series, now_s: int) -> list[Event]:
    alert = series.firing
    if alert is None or now_s - series.quiet_since < series.rule.resolve_after_s:
        return []
    series.firing = None
    return [Event("resolve", replace(alert, ends_unix_nano=max(now_s * NANO, alert.starts_unix_nano)))]


def labels_of(rule: DriftRule, point: WeightPoint) -> dict[str, str]:
    """Labels of the alert of one series."""
    own = {
        "alertname": rule.name,
        "policy": point.policy,
        "service": point.service,
        "node": point.node,
        "severity": rule.severity,
    }
    return {name: short(value) for name, value in {**rule.labels, **own}.items()}


def _annotations(rule: DriftRule, point: WeightPoint, shift: _Shift) -> dict[str, str]:
    verb = "fell" if shift.after < shift.before else "rose"
    seconds = max(1, shift.found - shift.began)
    own = {
        "summary": f"{short(point.node, 200)} weight {verb} from {_figure(shift.before)} to "
        f"{_figure(shift.after)} in {seconds} s",
        "before": f"{shift.before:.6g}",
        "after": f"{shift.after:.6g}",
    }
    return {name: short(value) for name, value in {**rule.annotations, **own}.items()}


def _figure(value: float) -> str:
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3g}"
