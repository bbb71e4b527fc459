"""From decisions to spans, with a real in-memory exporter."""

import random
import subprocess
import sys
import threading

import pytest
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
from opentelemetry.trace.status import StatusCode

from engine import ConfigurationError, Node, Request, Scheduler, semconv
from engine.recorder import Recorder, RecorderConfig

HEADER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Gate(SpanExporter):
    """An exporter that waits until it is opened, and says when it was reached."""

    def __init__(self, result=SpanExportResult.SUCCESS):
        self.open, self.reached = threading.Event(), threading.Event()
        self.spans, self.result = [], result

    def export(self, spans):
        self.reached.set()
        self.open.wait()
        self.spans += spans
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    def shutdown(self):
        self.open.set()


@pytest.fixture
def recorded(clock):
    """A scheduler on three nodes, its recorder and the exporter."""
    exporter = InMemorySpanExporter()
    with Recorder(exporter, service="gateway", instance="one") as recorder:
        nodes = [Node("a"), Node("b"), Node("c")]
        yield Scheduler(nodes, clock=clock, rng=random.Random(1), recorder=recorder), recorder, exporter


def test_a_decision_is_one_internal_span(clock, recorded):
    """Name, kind, resource, scope and times; it starts its own trace."""
    scheduler, recorder, exporter = recorded
    decision = scheduler.decide(Request())
    assert recorder.flush()
    (span,) = exporter.get_finished_spans()
    assert span.name == "schedule default"
    assert span.kind is SpanKind.INTERNAL
    assert span.parent is None
    assert f"{span.context.trace_id:032x}/{span.context.span_id:016x}" == decision.id
    assert dict(span.resource.attributes) == {"service.name": "gateway", "service.instance.id": "one"}
    assert span.instrumentation_scope.name == semconv.SCOPE_NAME
    assert span.start_time == span.end_time == clock.time_ns()
    assert span.attributes[semconv.DECISION_NODE] == decision.node.name
    assert span.context.trace_state.to_header() == "ot=th:0"


def test_the_outcome_is_a_client_span_beside_it(clock, recorded):
    """From the decision to the outcome, child of the caller's span."""
    scheduler, recorder, exporter = recorded
    decision = scheduler.decide(Request(trace_parent=HEADER, trace_state="ot=th:0,v=1"))
    started = clock.time_ns()
    clock.advance(0.08)
    decision.succeeded()
    assert recorder.flush()
    first, second = exporter.get_finished_spans()
    assert second.name == f"upstream {decision.node.name}"
    assert second.kind is SpanKind.CLIENT
    assert (second.start_time, second.end_time) == (started, started + 80_000_000)
    assert second.attributes[semconv.OUTCOME] == "ok"
    assert second.attributes[semconv.OUTCOME_LATENCY_MS] == pytest.approx(80.0)
    assert f"{second.context.span_id:016x}" in decision.upstream_traceparent
    for span in (first, second):
        assert span.parent.span_id == 0xB7AD6B7169203331
        assert span.parent.is_remote
        assert span.context.trace_id == 0x0AF7651916CD43DD8448EB211C80319C
        assert span.context.trace_state.to_header() == "ot=th:0,v=1"


def test_without_a_caller_the_outcome_hangs_below_the_decision(recorded):
    """The decision's span is then the root."""
    scheduler, recorder, exporter = recorded
    scheduler.decide(Request()).dropped("queue full\ud800")
    assert recorder.flush()
    first, second = exporter.get_finished_spans()
    assert second.parent.span_id == first.context.span_id
    assert second.status.status_code is StatusCode.ERROR
    assert second.status.description == "queue full?"


def test_a_caller_that_states_no_rate_leaves_it_unknown(recorded):
    """No threshold is invented for a trace somebody else sampled."""
    scheduler, recorder, exporter = recorded
    scheduler.decide(Request(trace_parent=HEADER))
    scheduler.decide(Request(trace_parent=HEADER, trace_state="v=1"))
    assert recorder.flush()
    assert [s.context.trace_state.to_header() for s in exporter.get_finished_spans()] == ["", "v=1"]


def test_outcome_spans_can_be_left_to_the_caller(clock):
    """A caller with spans of its own gets no second one."""
    exporter = InMemorySpanExporter()
    with Recorder(exporter, service="s", config=RecorderConfig(outcome_spans=False)) as recorder:
        Scheduler([Node("a")], clock=clock, recorder=recorder).decide(Request()).succeeded()
    assert [span.name for span in exporter.get_finished_spans()] == ["schedule default"]


def test_sampling_keeps_whole_traces_and_states_its_rate(clock):
    """A quarter of the traces, both spans of each, and the rate on both."""
    exporter = InMemorySpanExporter()
    with Recorder(exporter, service="s", config=RecorderConfig(rate=0.25)) as recorder:
        scheduler = Scheduler([Node("a")], clock=clock, rng=random.Random(5), recorder=recorder)
        decisions = [scheduler.decide(Request()) for _ in range(1_000)]
        for decision in decisions:
            decision.succeeded(latency_ms=1.0)
    spans = exporter.get_finished_spans()
    kept = [d for d in decisions if d.identity.sampled]
    assert abs(len(kept) - 250) < 60
    assert len(spans) == 2 * len(kept)
    assert {span.context.trace_id for span in spans} == {d.identity.trace_id for d in kept}
    assert {span.context.trace_state.to_header() for span in spans} == {"ot=th:c"}
    assert recorder.stats().unsampled == 1_000 - len(kept)
    assert all(d.traceparent.endswith("-01") is d.identity.sampled for d in decisions)


def test_rate_zero_records_nothing(clock):
    """Nothing is kept, everything is counted."""
    exporter = InMemorySpanExporter()
    with Recorder(exporter, service="s", config=RecorderConfig(rate=0.0)) as recorder:
        Scheduler([Node("a")], clock=clock, recorder=recorder).decide(Request()).succeeded()
    assert exporter.get_finished_spans() == ()
    assert recorder.stats().unsampled == 1


def test_the_stricter_of_two_rates_travels(clock):
    """A caller at one half and a recorder at one quarter make one quarter; ``rv`` decides."""
    exporter = InMemorySpanExporter()
    with Recorder(exporter, service="s", config=RecorderConfig(rate=0.25)) as recorder:
        scheduler = Scheduler([Node("a")], clock=clock, recorder=recorder)
        scheduler.decide(Request(trace_parent=HEADER, trace_state="ot=th:8;rv:d0000000000000"))
        scheduler.decide(Request(trace_parent=HEADER, trace_state="ot=th:8;rv:90000000000000"))
        scheduler.decide(Request(trace_parent=HEADER, trace_state="ot=th:f;rv:f8000000000000"))
    states = [span.context.trace_state.to_header() for span in exporter.get_finished_spans()]
    assert states == ["ot=th:c;rv:d0000000000000", "ot=th:f;rv:f8000000000000"]


def test_an_unsampled_caller_gets_no_span(recorded):
    """Its trace would be missing everything else."""
    scheduler, recorder, exporter = recorded
    scheduler.decide(Request(trace_parent=HEADER[:-1] + "0")).succeeded()
    assert recorder.flush()
    assert exporter.get_finished_spans() == ()


def test_a_full_ring_drops_and_counts(clock):
    """While the exporter hangs, decisions go on; what does not fit is counted, what fits arrives."""
    gate = Gate()
    recorder = Recorder(gate, service="s", config=RecorderConfig(capacity=10, max_batch=1, interval_s=0.001))
    scheduler = Scheduler([Node("a")], clock=clock, recorder=recorder)
    scheduler.decide(Request())
    assert gate.reached.wait(5)
    for _ in range(25):
        scheduler.decide(Request())
    stats = recorder.stats()
    assert (stats.recorded, stats.dropped, stats.pending) == (11, 15, 11)
    gate.open.set()
    assert recorder.flush()
    assert len(gate.spans) == 11
    assert recorder.stats().exported == 11
    assert recorder.shutdown()


@pytest.mark.parametrize("result", [SpanExportResult.FAILURE, RuntimeError("down")])
def test_failed_exports_are_counted_and_survived(clock, result):
    """An exporter that refuses or raises costs its batch, not the recorder."""
    gate = Gate(result)
    gate.open.set()
    with Recorder(gate, service="s") as recorder:
        scheduler = Scheduler([Node("a")], clock=clock, recorder=recorder)
        scheduler.decide(Request())
        assert recorder.flush()
        gate.result = SpanExportResult.SUCCESS
        scheduler.decide(Request())
        assert recorder.flush()
        stats = recorder.stats()
    assert (stats.recorded, stats.failed, stats.exported, stats.pending) == (2, 1, 1, 0)


def test_one_unusable_decision_does_not_cost_the_batch(clock, recorded):
    """What no span can be made of is counted as failed, its neighbours arrive."""
    scheduler, recorder, exporter = recorded
    scheduler.decide(Request(trace_parent=HEADER, trace_state="ot=th:0"))
    scheduler.decide(Request(attributes={1: "not a name"}))
    scheduler.decide(Request())
    assert recorder.flush()
    assert len(exporter.get_finished_spans()) == 2
    assert recorder.stats().failed == 1


def test_flush_gives_up_in_time(clock):
    """A hanging exporter does not hang the caller."""
    gate = Gate()
    recorder = Recorder(gate, service="s")
    Scheduler([Node("a")], clock=clock, recorder=recorder).decide(Request())
    assert not recorder.flush(timeout_s=0.05)
    assert not recorder.shutdown(timeout_s=0.05)
    assert recorder.shutdown(), "shutting the exporter down released it"
    assert not recorder.flush()


def test_shutdown_delivers_what_is_left_and_refuses_what_comes_later(clock):
    """The ring is emptied first; a decision afterwards is dropped and counted."""
    exporter = InMemorySpanExporter()
    recorder = Recorder(exporter, service="s", config=RecorderConfig(interval_s=60.0))
    scheduler = Scheduler([Node("a")], clock=clock, recorder=recorder)
    for _ in range(700):
        scheduler.decide(Request())
    assert recorder.shutdown()
    assert recorder.shutdown()
    assert len(exporter.get_finished_spans()) == 700
    scheduler.decide(Request())
    assert recorder.stats().dropped == 1


def test_many_threads_lose_nothing():
    """Everything recorded from eight threads arrives once."""
    exporter = InMemorySpanExporter()
    with Recorder(exporter, service="s", config=RecorderConfig(capacity=100_000)) as recorder:
        scheduler = Scheduler([Node("a"), Node("b")], rng=random.Random(1), recorder=recorder)

        def work():
            for _ in range(100):
                scheduler.decide(Request()).succeeded(latency_ms=1.0)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    spans = exporter.get_finished_spans()
    assert len(spans) == len({span.context.span_id for span in spans}) == 1_600
    assert recorder.stats().exported == 1_600


@pytest.mark.parametrize(
    "fields",
    [
        {"capacity": 0},
        {"max_batch": 0},
        {"max_candidates": 0},
        {"interval_s": 0.0},
        {"rate": 1.5},
        {"rate": float("nan")},
    ],
)
def test_unusable_settings_are_refused(fields):
    """Sizes above 0, a rate in 0..1."""
    with pytest.raises(ConfigurationError):
        RecorderConfig(**fields)


def test_the_engine_alone_does_not_load_the_sdk():
    """Only the recorder brings OpenTelemetry in."""
    code = "import engine, sys; sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
