"""The node's jumps equal a plain iteration-by-iteration model, and its books balance."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.simulation import Job, SimulatedNode
from engine.simulation.node import CHUNK_TOKENS, SLOTS


def drive(node, jobs, until=1e9, changes=()):
    """Run jobs (arrival, job) and speed changes (time, speed) through a node; ended jobs in order."""
    todo = sorted(
        [(t, 1, i, ("job", job)) for i, (t, job) in enumerate(jobs)]
        + [(t, 0, i, ("speed", s)) for i, (t, s) in enumerate(changes)]
    )
    ended = []
    while todo or node.due < until:
        if todo and todo[0][0] < node.due:
            time, _, _, (kind, value) = todo.pop(0)
            if kind == "job":
                node.submit(value, time)
            else:
                node.set_speed(value, time)
        else:
            ended += node.step()[1]
    return ended


def step_by_step(jobs, speed, memory):
    """The reference: one loop pass per iteration, straight from the model's statement. No prefix reuse."""
    queue, waiting, prefill, decodes, done = sorted(jobs, key=lambda x: x[0]), [], [], [], {}
    now, reserved, context = 0.0, 0, 0
    while queue or waiting or prefill or decodes:
        if not (waiting or prefill or decodes):
            now = max(now, queue[0][0])
        while queue and queue[0][0] <= now:
            waiting.append(queue.pop(0)[1])
        while waiting and len(prefill) + len(decodes) < SLOTS:
            need = waiting[0].prompt + waiting[0].output
            if reserved + need > memory:
                break
            reserved += need
            prefill.append([waiting[0], waiting.pop(0).prompt])
        chunk = min(CHUNK_TOKENS, sum(left for _, left in prefill))
        now += (0.012 + chunk / 12_000 + 0.0001 * len(decodes) + 2e-8 * context) / speed
        context += len(decodes)
        for entry in decodes:
            entry[1] -= 1
        while chunk:
            taken = min(chunk, prefill[0][1])
            prefill[0][1] -= taken
            chunk -= taken
            if prefill[0][1] == 0:
                job = prefill.pop(0)[0]
                context += job.prompt + 1
                decodes.append([job, job.output - 1])
                done[job.id] = [now, None]
        for entry in [e for e in decodes if e[1] == 0]:
            decodes.remove(entry)
            context -= entry[0].prompt + entry[0].output
            reserved -= entry[0].prompt + entry[0].output
            done[entry[0].id][1] = now
    return done


JOBS = st.lists(
    st.tuples(st.floats(0, 5), st.integers(1, 6_000), st.integers(1, 300)), min_size=1, max_size=40
)


@given(JOBS, st.sampled_from([0.3, 1.0, 1.7]), st.sampled_from([7_000, 60_000]))
@settings(max_examples=60, deadline=None)
def test_jumping_gives_the_same_times_as_stepping(specs, speed, memory):
    """First token and end of every request agree with the reference to a microsecond."""
    # Simultaneous arrivals at an idle node have no stated order; an irrational step keeps them apart.
    jobs = [(t + i * math.pi * 1e-4, Job(i, p, o, session=i)) for i, (t, p, o) in enumerate(sorted(specs))]
    expected = step_by_step(jobs, speed, memory)
    drive(SimulatedNode(speed, memory), jobs)
    for _, job in jobs:
        assert (job.first_token, job.finished) == pytest.approx(expected[job.id], abs=1e-6)


@given(JOBS, st.lists(st.tuples(st.floats(0, 10), st.floats(0.1, 3.0)), max_size=5))
@settings(max_examples=40, deadline=None)
def test_every_request_ends_and_the_node_is_empty_again(specs, changes):
    """Whatever the speed does, nothing is lost and nothing stays reserved."""
    node = SimulatedNode(1.0, 20_000)
    jobs = [(t, Job(i, p, o, session=i % 3, prefix=p // 2)) for i, (t, p, o) in enumerate(sorted(specs))]
    ended = drive(node, jobs, changes=changes)
    assert {job.id for job in ended} == set(range(len(jobs)))
    assert all(job.dispatched != job.started <= job.first_token <= job.finished for job in ended)
    load = node.load(max(job.finished for job in ended) + 1.0)
    assert (load.waiting, load.running, load.kv) == (0, 0, 0.0)
    assert node.due == math.inf


def test_half_the_speed_takes_twice_the_time():
    """For a lone request on an idle node."""
    fast, slow = Job(1, 1_000, 100), Job(1, 1_000, 100)
    drive(SimulatedNode(1.0, 10_000), [(0.0, fast)])
    drive(SimulatedNode(0.5, 10_000), [(0.0, slow)])
    assert slow.finished == pytest.approx(2 * fast.finished)


def test_a_change_of_speed_acts_from_the_next_iteration():
    """A node slowed to a hundredth midway ends much later than one left alone."""
    left, slowed = Job(1, 1_000, 200), Job(1, 1_000, 200)
    drive(SimulatedNode(1.0, 10_000), [(0.0, left)])
    drive(SimulatedNode(1.0, 10_000), [(0.0, slowed)], changes=[(left.finished / 2, 0.01)])
    assert slowed.finished > 40 * left.finished


@given(JOBS, st.lists(st.tuples(st.floats(0, 10), st.floats(0.1, 3.0)), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_time_never_runs_backwards_through_changes_of_speed(specs, changes):
    """No step is due before the change or the arrival that came before it, and nothing starts before it arrives."""
    node, last = SimulatedNode(1.0, 20_000), 0.0
    arrived = {i: t for i, (t, _, _) in enumerate(sorted(specs))}
    jobs = [(t, 1, Job(i, p, o, session=i)) for i, (t, p, o) in enumerate(sorted(specs))]
    for time, kind, what in sorted([*jobs, *((t, 0, s) for t, s in changes)], key=lambda e: e[:2]):
        while node.due <= time:
            assert node.due >= last
            last = node.due
            node.step()
        last = time
        _ = node.submit(what, time) if kind else node.set_speed(what, time)
        assert node.due >= time
    drive(node, [])
    assert all(job.started >= arrived[job.id] for _, _, job in jobs)


def test_a_known_prefix_needs_no_prefill():
    """The second turn of a session gets its first token sooner by the shared tokens' prefill."""
    node, first, second = (
        SimulatedNode(1.0, 10_000),
        Job(1, 2_000, 1, session=7),
        Job(2, 2_000, 1, 7, prefix=1_500),
    )
    drive(node, [(0.0, first), (10.0, second)])
    assert second.cached == 1_500
    assert (second.first_token - 10.0) == pytest.approx(first.first_token - 1_500 / 12_000)


def test_an_abandoned_request_is_passed_over():
    """It neither runs nor holds up the queue."""
    node = SimulatedNode(1.0, 1_500)
    jobs = [(0.0, Job(1, 1_000, 50)), (0.001, Job(2, 1_000, 50)), (0.002, Job(3, 400, 50))]
    for time, job in jobs:
        node.submit(job, time)
    jobs[1][1].abandoned = True
    assert node.load(0.003).waiting == 1
    assert [job.id for job in drive(node, [])] == [1, 3]


def test_busy_is_the_share_of_time_that_ran():
    """A request of known length in a longer window."""
    node, job = SimulatedNode(1.0, 10_000), Job(1, 1_200, 10)
    node.submit(job, 0.0)
    half = node.load(0.05)
    assert half.busy == pytest.approx(1.0)
    drive(node, [])
    assert node.load(1.05).busy == pytest.approx(job.finished - 0.05, abs=1e-9)
    assert node.load(2.05).busy == 0.0


def test_a_request_that_can_never_fit_is_refused():
    """It would block the queue for ever."""
    with pytest.raises(ValueError, match="memory"):
        SimulatedNode(1.0, 100).submit(Job(1, 90, 20), 0.0)


@pytest.mark.parametrize(("speed", "memory"), [(0.0, 10), (-1.0, 10), (math.nan, 10), (1.0, 0)])
def test_an_impossible_node_is_refused(speed, memory):
    """Speed and memory are above zero."""
    with pytest.raises(ValueError, match="above 0"):
        SimulatedNode(speed, memory)
