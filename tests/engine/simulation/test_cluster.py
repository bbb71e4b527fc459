"""The cluster: one seed one history, nothing lost, and trouble that is felt."""

import math

import numpy as np
import pytest

from engine.simulation import (
    Calendar,
    Cluster,
    ClusterConfig,
    Disturbance,
    End,
    Finished,
    FirstToken,
    Job,
    arrivals,
    build_fleet,
    disturbances,
    load_trace,
    scale_to_load,
)


@pytest.fixture(scope="module")
def trace():
    return load_trace()


def play(trace, seconds, seed=1, nodes=16, rate=25.0, calendar=None):
    """Least loaded of two random nodes; all events of ``seconds`` virtual seconds and the drain after."""
    fleet = scale_to_load(build_fleet(nodes), rate, trace.mean_cost(), 0.6)
    cluster = Cluster(fleet, seed, disturbances(nodes, seed, calendar))
    rng, events, flying, sent = np.random.default_rng(seed), [], np.zeros(nodes), 0
    for arrival in arrivals(trace, rate, seed):
        if arrival.time > seconds:
            break
        new = cluster.advance(arrival.time)
        for event in new:
            if isinstance(event, Finished):
                flying[event.node] -= 1
        events += new
        node = min(rng.integers(nodes, size=2).tolist(), key=lambda i: flying[i] / fleet[i].speed)
        flying[node] += 1
        sent += 1
        cluster.submit(Job(arrival.id, arrival.prompt, arrival.output, arrival.session, arrival.prefix), node)
    return cluster, events, sent


def test_one_seed_gives_one_history(trace):
    """Two runs agree event by event, another seed does not."""

    def short(events):
        return [(type(e).__name__, e.time, e.node) for e in events]

    first, again, other = (short(play(trace, 20, seed)[1]) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_no_request_is_lost(trace):
    """Every submitted request ends exactly once, and after its first token when it ends well."""
    cluster, events, sent = play(trace, 30)
    events += cluster.advance(300.0)
    ended = [e for e in events if isinstance(e, Finished)]
    assert sorted(e.job.id for e in ended) == list(range(1, sent + 1))
    first = {e.job.id: e.time for e in events if isinstance(e, FirstToken)}
    for event in ended:
        if event.end is End.OK:
            assert event.job.dispatched < first[event.job.id] <= event.time
            assert event.message == ""
        else:
            assert event.message


def test_events_come_in_order_of_time_within_the_step(trace):
    """``advance`` never reports the future and never goes back."""
    fleet = scale_to_load(build_fleet(8), 20.0, trace.mean_cost(), 0.6)
    cluster, last = Cluster(fleet, 3, disturbances(8, 3)), 0.0
    for k, arrival in zip(range(400), arrivals(trace, 20.0, 3), strict=False):
        for event in cluster.advance(arrival.time):
            assert last <= event.time <= arrival.time
            last = event.time
        assert cluster.now == arrival.time
        cluster.submit(Job(arrival.id, arrival.prompt, arrival.output), k % 8)


def test_a_healthy_fleet_at_normal_load_answers_soon(trace):
    """First token within a second for 95 % and no request given up."""
    never = Calendar(math.inf, math.inf, math.inf, math.inf)
    _, events, _ = play(trace, 60, calendar=never)
    waits = [e.time - e.job.dispatched for e in events if isinstance(e, FirstToken)]
    assert np.percentile(waits, 95) < 1.5
    assert not [e for e in events if isinstance(e, Finished) and e.end is End.DROPPED]


def test_a_failing_node_fails_fast_and_recovers():
    """Errors come from the episode, carry a message and stop with it."""
    trouble = iter(
        [
            Disturbance(1.0, 0, "failing", begins=True, error_rate=1.0),
            Disturbance(2.0, 0, "failing", begins=False),
        ]
    )
    cluster = Cluster(build_fleet(1), 1, trouble, ClusterConfig(error_rate=0.0))
    ends = []
    for k, time in enumerate((0.5, 1.5, 2.5)):
        ends += [e for e in cluster.advance(time) if isinstance(e, Finished)]
        cluster.submit(Job(k, 100, 5), 0)
    ends += [e for e in cluster.advance(10.0) if isinstance(e, Finished)]
    assert [(e.job.id, e.end) for e in ends] == [(0, End.OK), (1, End.ERROR), (2, End.OK)]
    assert ends[1].time - 1.5 < 0.1


def test_a_slow_node_lets_the_queue_give_up():
    """A request that waits longer than its client's patience is dropped at that moment."""
    trouble = iter([Disturbance(0.5, 0, "degrade", begins=True, speed=0.01)])
    cluster = Cluster(build_fleet(1), 1, trouble, ClusterConfig(error_rate=0.0, patience=3.0))
    cluster.advance(1.0)
    cluster.submit(Job(1, 50_000, 5), 0)
    cluster.submit(Job(2, 50_000, 5), 0)
    dropped = [e for e in cluster.advance(10.0) if isinstance(e, Finished)]
    assert [(e.job.id, e.end, e.time) for e in dropped] == [(2, End.DROPPED, 4.0)]
    assert cluster.load(0).waiting == 0


def test_draining_is_visible_to_whoever_decides():
    """The condition says so until the node joins again."""
    trouble = iter(
        [Disturbance(1.0, 1, "drain", begins=True, draining=True), Disturbance(2.0, 1, "drain", begins=False)]
    )
    cluster, seen = Cluster(build_fleet(4), 1, trouble), []
    for time in (0.5, 1.5, 2.5):
        cluster.advance(time)
        seen.append(cluster.condition(1).draining)
    assert seen == [False, True, False]


def test_what_cannot_be_done_is_refused():
    """Time does not run backwards, and a request that never fits is not queued."""
    cluster = Cluster(build_fleet(4), 1)
    cluster.advance(1.0)
    with pytest.raises(ValueError, match="backwards"):
        cluster.advance(0.5)
    with pytest.raises(ValueError, match="does not fit"):
        cluster.submit(Job(1, 10**7, 1), 0)
