"""The matrix behind one channel: who gets a row, and how old its cells are."""

import numpy as np

from dashboard.live_matrix import WeightMatrix
from storage.records import WeightSample

SECOND = 1_000_000_000
T0 = 1_800_000_000 * SECOND


def sample(node, weight=0.5, *, at=T0, change=1, service="gateway", **scores):
    return WeightSample(service, "p", node, weight, None, scores, dict.fromkeys(scores, 1.0), at, change)


def cells(frame):
    return {
        int(i): (int(a), round(float(v), 3))
        for i, a, v in zip(frame.index, frame.age_ms, frame.value, strict=True)
    }


def test_rows_are_nodes_by_name_and_columns_weight_then_scorers():
    """The layout is stable: names sort, scorers keep the order in which they were first seen."""
    matrix = WeightMatrix()
    matrix.apply([sample("b", 0.2, queue=0.3, latency=0.4), sample("a", 0.1, change=2, queue=0.7)])
    assert matrix.layout()["nodes"] == ["a", "b"]
    assert matrix.layout()["columns"] == ["weight", "queue", "latency"]
    assert cells(matrix.full(0, 0.0, T0)) == {0: (0, 0.1), 1: (0, 0.7), 3: (0, 0.2), 4: (0, 0.3), 5: (0, 0.4)}


def test_a_new_node_keeps_the_values_of_the_others():
    """Rows move when a node joins; their values and ages move with them."""
    matrix = WeightMatrix()
    matrix.apply([sample("b", 0.2, queue=0.3)])
    version = matrix.version
    matrix.apply([sample("a", 0.9, at=T0 + SECOND, change=2, kv=0.6)])
    assert matrix.version == version + 1
    full = cells(matrix.full(0, 0.0, T0 + SECOND))
    assert full == {0: (0, 0.9), 2: (0, 0.6), 3: (1000, 0.2), 4: (1000, 0.3)}


def test_a_delta_holds_only_what_changed_since_the_last_one():
    """A beat without news is an empty delta."""
    matrix = WeightMatrix()
    matrix.apply([sample("a"), sample("b", change=2)])
    matrix.delta(0, 0.0, T0)
    assert len(matrix.delta(1, 0.0, T0).index) == 0
    matrix.apply([sample("b", 0.7, at=T0 + SECOND, change=3)])
    assert cells(matrix.delta(2, 0.0, T0 + SECOND)) == {1: (0, 0.7)}


def test_ages_grow_and_saturate():
    """An age beyond 16 bits means "this old or older"."""
    matrix = WeightMatrix()
    matrix.apply([sample("a")])
    assert matrix.full(0, 0.0, T0 + 5 * SECOND).age_ms.tolist() == [5_000]
    assert matrix.full(0, 0.0, T0 + 500 * SECOND).age_ms.tolist() == [65_535]
    assert matrix.weight_ages_ms(T0 + 500 * SECOND).tolist() == [500_000]


def test_a_scorer_that_stays_silent_keeps_its_value_and_ages():
    """A score that was not said again is shown as old, not as gone and not as fresh."""
    matrix = WeightMatrix()
    matrix.apply([sample("a", queue=0.3)])
    matrix.apply([sample("a", 0.6, at=T0 + SECOND, change=2)])
    assert cells(matrix.full(0, 0.0, T0 + SECOND)) == {0: (0, 0.6), 1: (1000, 0.3)}


def test_an_older_sample_does_not_replace_a_newer_one():
    """Two services may state one node; the newest decision counts."""
    matrix = WeightMatrix()
    matrix.apply([sample("a", 0.8, at=T0 + SECOND, service="one")])
    matrix.apply([sample("a", 0.1, at=T0, change=2, service="two")])
    assert cells(matrix.full(0, 0.0, T0 + SECOND)) == {0: (0, 0.8)}


def test_reading_everything_again_changes_nothing():
    """A periodic reload of all series must not look like news."""
    matrix = WeightMatrix()
    samples = [sample("a"), sample("b", change=2)]
    matrix.apply(samples)
    matrix.delta(0, 0.0, T0)
    matrix.apply(samples)
    assert len(matrix.delta(1, 0.0, T0).index) == 0


def test_nodes_that_are_gone_lose_their_row():
    """Rows follow the store: what retention took away leaves the screen."""
    matrix = WeightMatrix()
    matrix.apply([sample("a", 0.1), sample("b", 0.2, change=2), sample("c", 0.3, change=3)])
    matrix.retain(frozenset({"a", "c"}))
    assert matrix.nodes == ["a", "c"]
    assert np.round(matrix.full(0, 0.0, T0).value, 3).tolist() == [np.float32(0.1), np.float32(0.3)]


def test_a_flood_of_names_is_bounded_and_counted():
    """A sender that invents nodes and scorers cannot grow the screen without end."""
    matrix = WeightMatrix(max_nodes=10)
    matrix.apply([sample(f"n{k:03}", change=k, **{f"s{k}": 0.5}) for k in range(200)])
    assert matrix.rows == 10
    assert matrix.cols <= 65
    assert matrix.layout()["left_out"] == 190


def test_a_weight_beyond_the_frame_s_numbers_stays_a_number():
    """A frame holds 32-bit floats; infinity would spoil every scale a viewer makes of it."""
    matrix = WeightMatrix()
    matrix.apply([sample("a", 1e308), sample("b", -1e308, change=2)])
    value = matrix.full(0, 0.0, T0).value
    assert np.isfinite(value).all()
    assert value[0] == -value[1] > 1e38
