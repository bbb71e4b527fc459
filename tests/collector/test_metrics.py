"""The collector's own figures."""

from collector.metrics import CollectorMetrics, WriteFigures


def test_write_figures_are_taken_once():
    """A heartbeat tells the writes since the one before."""
    metrics = CollectorMetrics()
    metrics.wrote(10, 0.25)
    metrics.wrote(30, 0.75)
    assert metrics.take_figures() == WriteFigures(2, 40, 1.0, 0.75)
    assert metrics.take_figures() == WriteFigures()


def test_two_collectors_in_one_process_do_not_share_figures():
    """Nothing is registered globally."""
    first, second = CollectorMetrics(), CollectorMetrics()
    first.watch("queue_spans", "Spans waiting.", lambda: 3.0)
    first.spans("accepted", 5)
    assert b'spans_total{result="accepted"} 5.0' in first.exposition()
    assert b"weighbridge_collector_queue_spans 3.0" in first.exposition()
    assert b"accepted" not in second.exposition()
