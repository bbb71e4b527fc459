"""Rules over weights: what opens, changes and resolves an alert."""

import random
from collections.abc import Callable, Sequence

import pytest

from collector.alerts.evaluate import GAP_S, Evaluator
from collector.alerts.model import Event
from collector.alerts.rules import DriftRule
from storage.records import WeightPoint

Point = Callable[..., WeightPoint]
NANO = 1_000_000_000
RULE = DriftRule("weight drift", threshold=25.0, min_samples=30)


def run(
    evaluator: Evaluator, point: Point, values: Sequence[float], first: int = 1_000, **series: str
) -> list[Event]:
    """Feed one value a second, each judged two seconds later."""
    events: list[Event] = []
    for i, value in enumerate(values):
        events += evaluator.feed([point(first + i, value, **series)], first + i + 2)
    return events


def noise(level: float, seconds: int, seed: int = 1, deviation: float = 0.02) -> list[float]:
    rng = random.Random(seed)
    return [level + rng.gauss(0.0, deviation) for _ in range(seconds)]


def test_a_step_opens_an_alert_that_says_what_happened(point: Point) -> None:
    """Within half a minute, with the node, both levels and the labels a route needs."""
    events = run(Evaluator([RULE]), point, noise(0.61, 120) + noise(0.34, 40, seed=2))
    assert [e.kind for e in events] == ["open"]
    alert = events[0].alert
    assert alert.labels == {
        "alertname": "weight drift",
        "policy": "p",
        "service": "s",
        "node": "gpu-1",
        "severity": "warning",
    }
    assert 1_120 * NANO <= alert.starts_unix_nano <= 1_130 * NANO
    assert "gpu-1 weight fell from 0.6" in alert.annotations["summary"]
    assert float(alert.annotations["after"]) == pytest.approx(0.34, abs=0.03)
    assert alert.value == pytest.approx(0.34, abs=0.03)


def test_a_rise_is_told_as_a_rise(point: Point) -> None:
    """Drift has two directions."""
    events = run(Evaluator([RULE]), point, noise(0.3, 120) + noise(0.6, 40, seed=2))
    assert "rose from 0.3" in events[0].alert.annotations["summary"]


@pytest.mark.parametrize("seed", range(5))
def test_noise_alone_stays_quiet(point: Point, seed: int) -> None:
    """An hour of one series raises nothing, and neither do heavier tails."""
    rng = random.Random(seed)
    calm = noise(0.5, 3_600, seed)
    wild = [0.5 + rng.gauss(0, 0.02) * (4.0 if rng.random() < 0.02 else 1.0) for _ in range(3_600)]
    assert run(Evaluator([RULE]), point, calm) == []
    assert run(Evaluator([RULE]), point, wild) == []


def test_a_lone_outlier_is_no_alert(point: Point) -> None:
    """One mad second is not a drift."""
    assert run(Evaluator([RULE]), point, [*noise(0.5, 120), 0.0, *noise(0.5, 120, 2)]) == []


def test_an_alert_resolves_after_quiet_and_opens_again_at_the_next_step(point: Point) -> None:
    """The level it settled at becomes the new normal."""
    evaluator = Evaluator([RULE])
    events = run(evaluator, point, noise(0.6, 120) + noise(0.3, 120, 2) + noise(0.6, 60, 3))
    assert [e.kind for e in events] == ["open", "resolve", "open"]
    resolved = events[1].alert
    assert resolved.ends_unix_nano is not None
    assert resolved.ends_unix_nano >= resolved.starts_unix_nano + 60 * NANO
    assert resolved.fingerprint == events[2].alert.fingerprint


def test_further_drift_updates_the_alert_and_keeps_it_firing(point: Point) -> None:
    """A second step while firing changes what the alert says, not its start."""
    values = noise(0.8, 120) + noise(0.5, 50, 2) + noise(0.2, 45, 3)
    events = run(Evaluator([RULE]), point, values)
    assert [e.kind for e in events] == ["open", "update"]
    assert events[1].alert.starts_unix_nano == events[0].alert.starts_unix_nano
    assert events[1].alert.value == pytest.approx(0.2, abs=0.03)


def test_a_small_shift_is_not_worth_an_alert_until_it_adds_up(point: Point) -> None:
    """Sure but tiny shifts stay silent; a staircase of them does not."""
    rule = DriftRule("d", threshold=20.0, min_samples=30, min_change=0.1)
    stairs = [v for step in range(4) for v in noise(0.6 - 0.03 * step, 90, step, deviation=0.003)]
    assert run(Evaluator([rule]), point, stairs[:180]) == []
    events = run(Evaluator([rule]), point, stairs)
    assert events[0].kind == "open"
    assert float(events[0].alert.annotations["before"]) == pytest.approx(0.6, abs=0.01)


def test_a_shift_must_last_when_the_rule_says_so(point: Point) -> None:
    """for_s delays the alert, and a weight that comes back cancels it."""
    rule = DriftRule("d", threshold=15.0, min_samples=30, for_s=20)
    back = noise(0.6, 100) + noise(0.3, 12, 2) + noise(0.6, 100, 3)
    assert run(Evaluator([rule]), point, back, node="gpu-2") == []
    events = run(Evaluator([rule]), point, noise(0.6, 100) + noise(0.3, 60, 2))
    assert events[0].kind == "open"
    assert run(Evaluator([rule]), point, noise(0.6, 100) + noise(0.3, 20, 2)) == []


def test_a_silent_series_resolves_by_the_clock(point: Point) -> None:
    """A node that is gone does not keep its alert open."""
    evaluator = Evaluator([RULE])
    run(evaluator, point, noise(0.6, 120) + noise(0.3, 30, 2))
    events = evaluator.feed([], 1_000 + 150 + 300)
    assert [e.kind for e in events] == ["resolve"]


def test_a_long_gap_starts_learning_afresh(point: Point) -> None:
    """What comes back after a pause at another level is not a drift."""
    evaluator = Evaluator([RULE])
    assert run(evaluator, point, noise(0.6, 120)) == []
    assert run(evaluator, point, noise(0.2, 120, 2), first=1_120 + GAP_S + 1) == []


def test_missing_seconds_and_repeated_points_change_nothing(point: Point) -> None:
    """Every other second is enough, and a point given twice counts once."""
    evaluator = Evaluator([RULE])
    values = noise(0.6, 120) + noise(0.3, 60, 2)
    events: list[Event] = []
    for i, value in enumerate(values):
        given = point(1_000 + 2 * i, value)
        events += evaluator.feed([given, given], 1_000 + 2 * i + 2)
        events += evaluator.feed([given], 1_000 + 2 * i + 2)
    assert events[0].kind == "open"
    assert len([e for e in events if e.kind == "open"]) == 1


def test_rules_watch_only_what_they_match(point: Point) -> None:
    """Globs on service, policy and node; two rules that match give two alerts."""
    rules = [
        DriftRule("a", node="gpu-*", threshold=25.0, min_samples=30),
        DriftRule("b", policy="p", threshold=25.0, min_samples=30, severity="page", labels={"team": "ml"}),
        DriftRule("c", service="other"),
    ]
    events = run(Evaluator(rules), point, noise(0.6, 120) + noise(0.3, 40, 2))
    assert [e.alert.labels["alertname"] for e in events] == ["a", "b"]
    assert (events[1].alert.labels["severity"], events[1].alert.labels["team"]) == ("page", "ml")
    assert run(Evaluator(rules), point, noise(0.6, 120) + noise(0.3, 40, 2), node="cpu", policy="q") == []


def test_series_are_bounded_and_forgotten(point: Point) -> None:
    """A flood of node names costs a bounded number of series; silent ones make room."""
    evaluator = Evaluator([RULE], max_series=10)
    evaluator.feed([point(1_000, 0.5, node=f"n{i}") for i in range(50)], 1_002)
    assert (evaluator.watched, evaluator.refused) == (10, 10)
    evaluator.feed([], 1_000 + 3_600)
    assert evaluator.watched == 0


def test_values_that_are_not_finite_teach_nothing(point: Point) -> None:
    """NaN and infinities pass by without harm."""
    values = noise(0.6, 120)
    assert run(Evaluator([RULE]), point, [*values, float("nan"), float("inf"), *values]) == []


def test_an_alert_of_before_a_restart_is_kept_and_not_opened_twice(point: Point) -> None:
    """Restored alerts fire on, further drift updates them, quiet resolves them."""
    first = run(Evaluator([RULE]), point, noise(0.6, 120) + noise(0.3, 30, 2))[0].alert
    evaluator = Evaluator([RULE])
    evaluator.learn([point(1_000 + i, v) for i, v in enumerate(noise(0.6, 120) + noise(0.3, 30, 2))])
    evaluator.restore([first], 1_160)
    assert evaluator.feed([], 1_219) == []
    events = evaluator.feed([], 1_220)
    assert [e.kind for e in events] == ["resolve"]
    assert events[0].alert.fingerprint == first.fingerprint


def test_learning_raises_nothing(point: Point) -> None:
    """History of before a restart only teaches."""
    evaluator = Evaluator([RULE])
    evaluator.learn([point(1_000 + i, v) for i, v in enumerate(noise(0.6, 120) + noise(0.3, 60, 2))])
    assert evaluator.feed([], 2_000) == []


def test_an_alert_whose_rule_is_gone_resolves(point: Point) -> None:
    """A rule deleted from the settings leaves no alert behind."""
    old = run(Evaluator([RULE]), point, noise(0.6, 120) + noise(0.3, 30, 2))[0].alert
    evaluator = Evaluator([])
    evaluator.restore([old], 2_000)
    assert [e.kind for e in evaluator.feed([], 2_061)] == ["resolve"]
