"""Deciding, learning from outcomes, and keeping count."""

import asyncio
import math
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from engine import (
    ConfigurationError,
    ManualClock,
    Node,
    NoEligibleNodeError,
    Outcome,
    OutcomeKind,
    Request,
    Scheduler,
    SchedulerConfig,
    TraceContext,
    UnknownNodeError,
    build_profile,
)


def test_the_less_loaded_node_wins(scheduler):
    """A decision shows what was chosen and how it compares."""
    scheduler.update_signals("a", {"cpu_utilisation": 0.9, "queue_depth": 6})
    scheduler.update_signals("b", {"cpu_utilisation": 0.1, "queue_depth": 0})
    scheduler.update_signals("c", {"healthy": 0})
    decision = scheduler.decide(Request(delta=0.9))
    assert decision.node.name == "b"
    assert decision.weight == pytest.approx(0.8490, abs=1e-4)
    assert [c.node.name for c in decision.candidates] == ["b", "a"]
    assert decision.candidates[0].total == pytest.approx(decision.score)
    assert decision.margin == pytest.approx(decision.score - decision.candidates[1].total)
    assert 0.5 < decision.confidence <= 1
    assert decision.propensity == 1.0
    assert decision.filtered == {"c": "unhealthy"}


def test_same_seed_same_decisions():
    """Nodes, ids and propensities repeat with the seed, for both kinds of generator."""

    def run(rng, clock):
        scheduler = Scheduler(
            [Node(f"n{i}") for i in range(8)],
            build_profile({"picker": "weighted_random"}),
            clock=clock,
            rng=rng,
        )
        found = []
        for number in range(200):
            clock.advance(0.01)
            decision = scheduler.decide(Request(prefix=(number % 5,)))
            found.append((decision.node.name, decision.id, decision.propensity, decision.weight))
            if number % 3:
                decision.succeeded()
        return found

    assert run(random.Random(1), ManualClock()) == run(random.Random(1), ManualClock())
    assert run(np.random.default_rng(1), ManualClock()) == run(np.random.default_rng(1), ManualClock())
    assert run(random.Random(1), ManualClock()) != run(random.Random(2), ManualClock())


def test_requests_that_arrive_together_spread(clock):
    """Sixteen decisions on one report reach at least eight of sixteen equal nodes."""
    scheduler = Scheduler([Node(f"n{i}") for i in range(16)], clock=clock, rng=random.Random(1))
    for node in scheduler.nodes:
        scheduler.update_signals(node.name, {"queue_depth": 0, "cpu_utilisation": 0.3})
    assert len({scheduler.decide(Request()).node.name for _ in range(16)}) >= 8


def test_no_eligible_node_says_why(scheduler):
    """The reasons are per node, and nothing is in flight afterwards."""
    scheduler.update_signals("a", {"healthy": 0})
    scheduler.update_signals("b", {"breaker_open": 1})
    scheduler.update_signals("c", {"queue_depth": 10_000})
    with pytest.raises(NoEligibleNodeError) as caught:
        scheduler.decide(Request())
    assert caught.value.reasons == {"a": "unhealthy", "b": "breaker open", "c": "queue holds 128 or more"}
    assert scheduler.inflight == 0


def test_success_teaches_latency(scheduler, decide):
    """The first latency is the average, the next moves it by alpha."""
    first = decide()
    assert first.succeeded(latency_ms=100.0)
    value, taken = scheduler.signals(first.node.name)["latency_ms"]
    assert value == 100.0
    assert taken > 0
    scheduler.replace_nodes([first.node])
    decide().succeeded(latency_ms=200.0)
    assert scheduler.signals(first.node.name)["latency_ms"][0] == pytest.approx(150.0)


def test_success_without_a_latency_takes_the_elapsed_time(clock, scheduler, decide):
    """The monotonic clock since the decision."""
    decision = decide()
    clock.advance(0.25)
    decision.succeeded()
    assert scheduler.signals(decision.node.name)["latency_ms"][0] == pytest.approx(250.0)


@pytest.mark.parametrize("kind", [OutcomeKind.ERROR, OutcomeKind.DROPPED])
def test_failed_latency_never_enters_the_average(scheduler, decide, kind):
    """A failure teaches a failure; its latency, however short, teaches nothing."""
    decision = decide()
    assert scheduler.report(decision, Outcome(kind, latency_ms=0.5))
    learnt = scheduler.signals(decision.node.name)
    assert "latency_ms" not in learnt
    assert learnt["failure_rate"][0] == pytest.approx(0.2)


def test_a_failing_node_is_avoided(clock):
    """Failing fast makes a node less attractive, not more."""
    scheduler = Scheduler([Node("good"), Node("bad")], clock=clock, rng=random.Random(1))
    chosen = Counter()
    for _ in range(200):
        clock.advance(0.01)
        decision = scheduler.decide(Request())
        chosen[decision.node.name] += 1
        if decision.node.name == "bad":
            decision.failed("refused", latency_ms=1.0)
        else:
            clock.advance(0.05)
            decision.succeeded()
    assert chosen["bad"] < 20


def test_ignored_teaches_nothing(scheduler, decide):
    """Only the count of requests in flight changes."""
    decision = decide()
    before = scheduler.signals(decision.node.name)
    assert decision.ignored()
    after = scheduler.signals(decision.node.name)
    assert "latency_ms" not in after
    assert "failure_rate" not in after
    assert (before["inflight"][0], after["inflight"][0]) == (1.0, 0.0)


def test_only_the_first_outcome_counts(scheduler, decide):
    """A second report is answered with False and changes nothing."""
    decision = decide()
    assert decision.succeeded(latency_ms=10.0)
    assert not decision.dropped()
    assert scheduler.signals(decision.node.name)["failure_rate"][0] == 0.0


def test_context_manager(scheduler):
    """A verdict stands; an exception is a failure and passes on; leaving without one teaches nothing."""
    with scheduler.decide(Request()) as decision:
        decision.succeeded(latency_ms=5.0)
    assert scheduler.signals(decision.node.name)["failure_rate"][0] == 0.0
    with pytest.raises(ConnectionError), scheduler.decide(Request()) as failed:
        raise ConnectionError
    assert scheduler.signals(failed.node.name)["failure_rate"][0] > 0
    with pytest.raises(asyncio.CancelledError), scheduler.decide(Request()):
        raise asyncio.CancelledError
    with scheduler.decide(Request()):
        pass
    assert scheduler.inflight == 0


def test_abandoned_decisions_end_at_their_deadline(clock):
    """Without an outcome a decision leaves the count of those in flight; a late report is refused."""
    scheduler = Scheduler([Node("a")], clock=clock, config=SchedulerConfig(outcome_timeout_s=5.0))
    decision = scheduler.decide(Request())
    clock.advance(4.9)
    assert scheduler.inflight == 1
    clock.advance(0.1)
    assert scheduler.inflight == 0
    assert not decision.succeeded(latency_ms=1.0)
    assert scheduler.signals("a")["inflight"][0] == 0.0


def test_decisions_without_outcomes_keep_flowing(clock):
    """A caller that never reports, on nodes that never report, is served all the same."""
    scheduler = Scheduler([Node("a"), Node("b")], clock=clock, rng=random.Random(1))
    counts = Counter(scheduler.decide(Request()).node.name for _ in range(1_000))
    assert abs(counts["a"] - counts["b"]) <= 2


def test_another_schedulers_decision_is_not_taken(clock, scheduler):
    """Reports are matched by identity, not only by id."""
    other = Scheduler(scheduler.nodes, clock=clock, rng=random.Random(7))
    foreign, own = other.decide(Request()), scheduler.decide(Request())
    assert foreign.id == own.id
    assert not scheduler.report(foreign, Outcome(OutcomeKind.OK))
    assert scheduler.inflight == 1


def test_joins_the_callers_trace(scheduler):
    """Trace id and parent are the caller's, from a header or a context."""
    header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    decision = scheduler.decide(Request(trace_parent=header, trace_state="ot=th:8"))
    assert decision.trace_id == "0af7651916cd43dd8448eb211c80319c"
    assert decision.identity.parent == TraceContext(
        int(decision.trace_id, 16), 0xB7AD6B7169203331, True, "ot=th:8"
    )
    assert decision.traceparent == f"00-{decision.trace_id}-{decision.span_id}-01"
    assert decision.upstream_traceparent not in (decision.traceparent, header)
    same = scheduler.decide(Request(trace_parent=decision.identity.parent))
    assert same.trace_id == decision.trace_id
    assert same.span_id != decision.span_id


@pytest.mark.parametrize("header", [None, "", "rubbish", "00-" + "0" * 32 + "-b7ad6b7169203331-01"])
def test_starts_a_trace_without_a_valid_caller(scheduler, header):
    """An invalid header is as good as none."""
    decision = scheduler.decide(Request(trace_parent=header))
    assert decision.identity.parent is None
    assert int(decision.trace_id, 16)


def test_an_unsampled_caller_is_respected(scheduler):
    """The flag goes on to the node."""
    header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
    assert scheduler.decide(Request(trace_parent=header)).traceparent.endswith("-00")


def test_age_is_that_of_the_oldest_signal_read(clock, scheduler):
    """Of the chosen node, over what the profile reads; none when it never reported."""
    assert scheduler.decide(Request()).signal_age_ms is None
    scheduler.replace_nodes([Node("a")])
    scheduler.update_signals("a", {"cpu_utilisation": 0.5})
    clock.advance(0.030)
    scheduler.update_signals("a", {"queue_depth": 1, "rtt_ms": 3})
    clock.advance(0.012)
    assert scheduler.decide(Request()).signal_age_ms == pytest.approx(42.0)


def test_reports_carry_their_own_time(clock, scheduler):
    """A late report of an older measurement does not overwrite a newer one."""
    now = clock.time_ns()
    assert scheduler.update_signals("a", {"queue_depth": 5}, at=now) == 1
    assert scheduler.update_signals("a", {"queue_depth": 50}, at=now - 1) == 0
    assert scheduler.signals("a")["queue_depth"] == (5.0, now)


def test_unknown_nodes_and_signals_are_errors(scheduler):
    """A typo is found where it is made."""
    with pytest.raises(UnknownNodeError):
        scheduler.update_signals("z", {"queue_depth": 1})
    with pytest.raises(ConfigurationError, match="queue_depth"):
        scheduler.update_signals("a", {"queu_depth": 1})


def test_polls_a_source(scheduler):
    """What a source knows of our nodes is stored; other nodes are not its fault."""

    class Source:
        def read(self):
            return {"a": {"running": (3.0, 10), "loss": (0.1, 12)}, "elsewhere": {"running": (1.0, 10)}}

    assert scheduler.poll(Source()) == 2
    assert scheduler.signals("a")["loss"] == (0.1, 12)


def test_nodes_and_profile_can_be_replaced(scheduler):
    """The next decision sees them; an outcome for a node that is gone is taken without harm."""
    decision = scheduler.decide(Request())
    scheduler.replace_nodes([Node("new")])
    scheduler.replace_profile(build_profile({"name": "other", "scorers": {"queue_depth": 1}}))
    assert decision.succeeded(latency_ms=3.0)
    after = scheduler.decide(Request())
    assert (after.node.name, after.evaluation.policy.name) == ("new", "other")


def test_prefixes_stay_together(scheduler):
    """A long shared prefix goes back to the node that has it, all else equal."""
    prefix = tuple(range(100, 140))
    first = scheduler.decide(Request(prefix=prefix))
    first.succeeded(latency_ms=10.0)
    for _ in range(5):
        again = scheduler.decide(Request(prefix=(*prefix, 7)))
        again.succeeded(latency_ms=10.0)
        assert again.node == first.node


@pytest.mark.parametrize(
    "fields",
    [{"failure_alpha": 0.0}, {"failure_alpha": 1.5}, {"outcome_timeout_s": 0.0}, {"latency_alpha": 0.9}],
)
def test_unusable_settings_are_refused(fields):
    """A value outside its range is a configuration error."""
    with pytest.raises(ConfigurationError):
        SchedulerConfig(**fields)


def test_decides_from_several_threads():
    """Counts stay exact and ids unique when threads decide, report and update at once."""
    scheduler = Scheduler([Node(f"n{i}") for i in range(4)], rng=random.Random(1))

    def work(thread):
        ids = []
        for number in range(250):
            if number % 10 == 0:
                scheduler.update_signals(f"n{thread % 4}", {"cpu_utilisation": (number % 90) / 100})
            decision = scheduler.decide(Request(prefix=(number % 7,)))
            ids.append(decision.id)
            if number % 2:
                decision.succeeded(latency_ms=float(number % 50 + 1))
        return ids

    with ThreadPoolExecutor(8) as pool:
        ids = [found for part in pool.map(work, range(8)) for found in part]
    assert len(set(ids)) == 2_000
    assert scheduler.inflight == 1_000
    assert sum(scheduler.signals(f"n{i}")["inflight"][0] for i in range(4)) == 1_000
    assert all(math.isfinite(scheduler.signals(f"n{i}")["latency_ms"][0]) for i in range(4))
