"""The workload: what comes from the trace, what is drawn, and that it never ends."""

from collections import Counter
from itertools import islice, pairwise

import numpy as np
import pytest

from engine.simulation import PRIORITIES, TENANTS, arrivals, load_trace
from engine.simulation.workload import even_out


@pytest.fixture(scope="module")
def trace():
    return load_trace()


def test_the_trace_has_its_published_size(trace):
    """19,366 requests, lengths as published, times that rise over 58 minutes."""
    assert len(trace.time) == len(trace.prompt) == len(trace.output) == 19_366
    assert trace.prompt.mean() == pytest.approx(1_154.7, abs=0.1)
    assert trace.output.mean() == pytest.approx(211.1, abs=0.1)
    assert trace.time[0] == 0.0
    assert trace.time[-1] == pytest.approx(3_501.7, abs=0.1)
    assert (np.diff(trace.time) >= 0).all()


def test_the_slow_swing_is_gone_and_the_bursts_are_not(trace):
    """Five-minute counts vary by less than 10 %, gaps between requests as much as before."""
    counts = np.histogram(trace.time, 12)[0]
    assert counts.max() / counts.min() < 1.1
    gaps = np.diff(trace.time)
    assert gaps.std() / gaps.mean() > 0.9


def test_evening_out_keeps_order_and_length():
    """A rate that doubles halfway becomes steady over the same total."""
    time = np.concatenate((np.arange(0, 1_000, 2.0), np.arange(1_000, 2_000, 1.0)))
    warped = even_out(time, 200.0)
    assert (np.diff(warped) > 0).all()
    assert warped[-1] == pytest.approx(time[-1])
    halves = np.histogram(warped, 2)[0]
    assert halves[0] == pytest.approx(halves[1], rel=0.1)


def test_arrivals_have_the_asked_rate_through_the_seam_of_the_loop(trace):
    """Two laps at 100 a second: the rate holds, times never fall, ids count on."""
    many = list(islice(arrivals(trace, 100.0, 1), 2 * 19_366))
    assert len(many) / many[-1].time == pytest.approx(100.0, rel=0.01)
    assert all(a.time <= b.time for a, b in pairwise(many))
    assert [a.id for a in many] == list(range(1, len(many) + 1))
    assert [a.prompt for a in many[:50]] == [a.prompt for a in many[19_366 : 19_366 + 50]]


def test_the_drawn_parts_follow_the_seed_and_the_stated_shares(trace):
    """Priorities and tenants as documented; the same seed repeats, another differs."""
    many = list(islice(arrivals(trace, 100.0, 5), 20_000))
    assert many[:500] == list(islice(arrivals(trace, 100.0, 5), 500))
    assert many[:500] != list(islice(arrivals(trace, 100.0, 6), 500))
    priorities, tenants = Counter(a.priority for a in many), Counter(a.tenant for a in many)
    for name, share, delta in PRIORITIES:
        assert priorities[name] / len(many) == pytest.approx(share, abs=0.015)
        assert {a.delta for a in many if a.priority == name} == {delta}
    for name, share in TENANTS:
        assert tenants[name] / len(many) == pytest.approx(share, abs=0.015)


def test_a_prefix_is_only_shared_with_an_earlier_request_of_the_session(trace):
    """First turns share nothing, later ones three quarters of the shorter prompt."""
    seen = {}
    for arrival in islice(arrivals(trace, 100.0, 2), 5_000):
        before = seen.get(arrival.session)
        assert arrival.prefix == (0 if before is None else 3 * min(before, arrival.prompt) // 4)
        seen[arrival.session] = arrival.prompt


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan")])
def test_a_rate_must_be_above_zero(trace, rate):
    """Refused at the call, not at the first request."""
    with pytest.raises(ValueError, match="rate"):
        arrivals(trace, rate, 1)
