"""The demo: whole traces over real OTLP/gRPC, paced, bounded, and patient with a collector that is away."""

import contextlib
import threading
import time
from collections import defaultdict
from concurrent import futures

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from engine.simulation import End
from weighbridge.demo import Demo, DemoConfig, run_demo
from weighbridge.demo_breaker import FAILURES, Breaker
from weighbridge.demo_clock import DemoClock
from weighbridge.demo_export import Link, SpanQueue, WatchedExporter
from weighbridge.demo_gateway import Gateway, GatewayConfig
from weighbridge.demo_spans import DemoSpans


class Receiver(trace_service_pb2_grpc.TraceServiceServicer):
    """A real OTLP/gRPC server that keeps what it gets."""

    def __init__(self):
        self.spans = []  # (resource attributes, span)
        self.changed = threading.Condition()

    def Export(self, request, context):  # noqa: N802  # the generated name
        with self.changed:
            for of_resource in request.resource_spans:
                resource = plain(of_resource.resource.attributes)
                self.spans += [(resource, s) for scope in of_resource.scope_spans for s in scope.spans]
            self.changed.notify_all()
        return trace_service_pb2.ExportTraceServiceResponse()

    def wait_for(self, condition, timeout=20.0):
        with self.changed:
            assert self.changed.wait_for(lambda: condition(self.spans), timeout)


def plain(attributes):
    """Attributes as a dict; arrays as lists."""

    def value(v):
        kind = v.WhichOneof("value")
        return [value(x) for x in v.array_value.values] if kind == "array_value" else getattr(v, kind)

    return {a.key: value(a.value) for a in attributes}


@contextlib.contextmanager
def serving(receiver, port=0):
    server = grpc.server(futures.ThreadPoolExecutor(4), options=(("grpc.so_reuseport", 0),))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(receiver, server)
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    try:
        yield bound
    finally:
        server.stop(None).wait()


@contextlib.contextmanager
def running(config, said=None):
    """A demo in its thread; stopped at the end."""
    stop = threading.Event()
    thread = threading.Thread(target=run_demo, args=(config, stop, (said if said is not None else []).append))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(15)
        assert not thread.is_alive()


def kinds(spans):
    return {span.name.split(" ")[0] for _, span in spans}


@pytest.fixture(scope="module")
def received():
    """Spans of a short fast run, at least 60 of each kind."""
    receiver = Receiver()
    with serving(receiver) as port, running(DemoConfig(f"127.0.0.1:{port}", nodes=8, rate=20.0, speed=10.0)):
        receiver.wait_for(lambda spans: sum(s.name == "decode" for _, s in spans) >= 60)
    return receiver.spans


def test_a_request_is_one_trace_of_five_spans(received):
    """Root, decision and call below it, prefill and decode below the call, times nested."""
    traces = defaultdict(dict)
    for resource, span in received:
        traces[span.trace_id][span.name.split(" ")[0]] = (resource, span)
    whole = [t for t in traces.values() if len(t) == 5]
    assert len(whole) >= 30
    for trace in whole:
        spans = {name: span for name, (_, span) in trace.items()}
        root, call = spans["gateway.request"], spans["upstream"]
        assert root.parent_span_id == b""
        assert spans["schedule"].parent_span_id == call.parent_span_id == root.span_id
        assert spans["prefill"].parent_span_id == spans["decode"].parent_span_id == call.span_id
        assert root.start_time_unix_nano <= spans["schedule"].start_time_unix_nano
        assert spans["prefill"].end_time_unix_nano == spans["decode"].start_time_unix_nano
        assert call.start_time_unix_nano <= spans["prefill"].start_time_unix_nano
        assert spans["decode"].end_time_unix_nano <= call.end_time_unix_nano <= root.end_time_unix_nano


def test_the_outcome_names_its_decision_and_the_arm(received):
    """The call's span carries decision.id, outcome, latency and the feature flag, and no node."""
    decisions = {
        plain(s.attributes)["decision.id"]: plain(s.attributes)
        for _, s in received
        if s.name[:8] == "schedule"
    }
    calls = [plain(s.attributes) for _, s in received if s.name.startswith("upstream")]
    assert calls
    for call in calls:
        decision = decisions[call["decision.id"]]
        assert "decision.node" not in call
        assert call["decision.outcome"] in ("ok", "error", "dropped")
        assert call["feature_flag.key"] == decision["feature_flag.key"]
        assert call["feature_flag.result.variant"] == decision["feature_flag.result.variant"]
        if call["decision.outcome"] == "ok":
            assert call["decision.outcome.latency_ms"] > 0
    assert {d["feature_flag.result.variant"] for d in decisions.values()} == {"control", "treatment"}


def test_who_says_what_is_on_the_resource(received):
    """The gateway says its spans, each node its own; all are marked as a demo."""
    for resource, span in received:
        assert resource["weighbridge.demo"] is True
        if span.name in ("prefill", "decode"):
            assert resource["service.name"] == "vllm"
            assert resource["service.instance.id"].startswith("gpu-")
        else:
            assert resource["service.name"] == "llm-gateway"


def test_the_cluster_is_already_busy_when_the_first_decision_is_shown(received):
    """It was filled unseen: the first decisions find nodes with something in their KV cache."""
    first = min(
        (s for _, s in received if s.name.startswith("schedule")), key=lambda s: s.start_time_unix_nano
    )
    assert min(plain(first.attributes)["decision.candidate.weights"]) < 0.6


def test_times_are_near_now_at_any_speed(received):
    """A run of a few seconds at ten times the speed ends no later than now."""
    ends = [span.end_time_unix_nano for _, span in received]
    assert 0 < time.time_ns() - max(ends) < 120e9
    assert max(ends) - min(ends) < 60e9


def test_a_collector_that_is_away_and_back_costs_spans_and_two_lines():
    """One line when it is gone, one when it is back; the run goes on in between."""
    said, first, second = [], Receiver(), Receiver()
    deadline = time.monotonic() + 60
    with contextlib.ExitStack() as run:
        with serving(first) as port:
            run.enter_context(running(DemoConfig(f"127.0.0.1:{port}", nodes=4, rate=20.0), said))
            first.wait_for(lambda spans: "schedule" in kinds(spans))
        while not said and time.monotonic() < deadline:
            time.sleep(0.05)
        with serving(second, port):
            second.wait_for(lambda spans: "schedule" in kinds(spans))
            while len(said) < 2 and time.monotonic() < deadline:
                time.sleep(0.05)
            run.close()
    assert "does not take spans" in said[0]
    assert "is back after" in said[1]
    assert len(said) == 2


def test_it_ends_soon_although_nobody_ever_answered():
    """Stopping does not wait for a collector that is not there."""
    with serving(Receiver()) as port:
        pass
    stop, said = threading.Event(), []
    demo = Demo(DemoConfig(f"127.0.0.1:{port}", nodes=4, rate=50.0), said.append)
    thread = threading.Thread(target=demo.run, args=(stop,))
    thread.start()
    while demo.stats().gateway.decisions < 20:
        thread.join(0.02)
    stop.set()
    began = time.monotonic()
    thread.join(15)
    assert time.monotonic() - began < 5.0
    assert len(said) <= 1


def test_a_speed_nobody_can_keep_skips_and_says_so_once():
    """Far more work than time: what cannot be done is counted, not queued."""
    with serving(Receiver()) as port:
        stop, said = threading.Event(), []
        demo = Demo(DemoConfig(f"127.0.0.1:{port}", nodes=16, rate=4_000.0, speed=50.0), said.append)
        thread = threading.Thread(target=demo.run, args=(stop,))
        thread.start()
        deadline = time.monotonic() + 30
        while demo.stats().skips < 2 and time.monotonic() < deadline:
            thread.join(0.05)
        stop.set()
        thread.join(30)
    assert demo.stats().skips >= 2
    assert demo.stats().skipped_s > 1.0
    assert sum("cannot keep up" in line for line in said) == 1


def gateway(seed=7, seconds=15.0, **changes):
    done, ticks = [], iter(range(10**9))
    clock = DemoClock(1_700_000_000 * 10**9, 1.0, counter=lambda: next(ticks))
    made = Gateway(GatewayConfig(nodes=16, rate=25.0, seed=seed, **changes), clock, None, done.append)
    made.run(seconds)
    return made, done, clock


def test_the_same_seed_gives_the_same_decisions():
    """Node by node, with the clock's real part replaced by a counter."""
    first, again, other = (
        [d.node.name for f in gateway(seed)[1] for d, _ in f.attempts] for seed in (7, 7, 8)
    )
    assert first == again
    assert first != other


@pytest.fixture(scope="module")
def minute():
    """A minute of the gateway: itself, the finished requests and the clock."""
    return gateway(seconds=60.0)


def test_nothing_is_lost_between_arrival_and_end(minute):
    """Requests are done or on their way; nearly all of them end well."""
    made, done, _ = minute
    counts = made.counts
    assert counts.requests == len(done) + made.inflight
    assert counts.decisions == counts.requests + counts.retried - counts.unplaced
    assert sum(f.end is End.OK for f in done) > 0.98 * len(done)


def test_a_session_stays_in_its_arm(minute):
    """Assignment is sticky by session."""
    arms = defaultdict(set)
    for flight in minute[1]:
        for decision, _ in flight.attempts:
            arms[flight.arrival.session].add(decision.experiment)
    assert all(len(seen) == 1 for seen in arms.values())
    assert len(set().union(*arms.values())) == 2


def test_without_an_experiment_there_is_one_policy_and_no_arm():
    """The control's policy decides all."""
    _, done, _ = gateway(seconds=10.0, experiment=False)
    assert {(d.evaluation.policy.name, d.experiment) for f in done for d, _ in f.attempts} == {
        ("llm-cost-aware", None)
    }


def test_a_retry_is_a_second_decision_in_the_same_trace(minute):
    """Failures of a failing episode are tried once more, under the same root."""
    made, done, clock = minute
    again = [f for f in done if len(f.attempts) == 2]
    assert again
    for flight in again:
        first, second = (d for d, _ in flight.attempts)
        assert first.trace_id == second.trace_id
        assert first.identity.parent == second.identity.parent
        assert second.request.attributes["http.request.resend_count"] == 1
        spans = DemoSpans(made.fleet, clock).of(flight)
        assert [s.name for s in spans].count("gateway.request") == 1


def test_a_breaker_opens_after_failures_in_a_row_and_doubles_its_pause():
    """Four failures open it; one right after it closed opens it for twice as long; a success resets."""
    breaker = Breaker()
    assert [breaker.failed(1.0) for _ in range(FAILURES)] == [False] * (FAILURES - 1) + [True]
    assert not breaker.closes(5.9)
    assert breaker.closes(6.0)
    assert breaker.failed(6.5)
    assert not breaker.closes(16.4)
    assert breaker.closes(16.5)
    breaker.succeeded()
    assert not breaker.failed(17.0)


class Held(SpanExporter):
    """An exporter that holds its first batch until it is let go, then answers as told."""

    def __init__(self, result):
        self.result, self.entered, self.go = result, threading.Event(), threading.Event()

    def export(self, spans):
        self.entered.set()
        self.go.wait(10)
        return self.result

    def shutdown(self):
        self.go.set()


def test_the_queue_is_bounded_and_counts_what_it_drops(minute):
    """While an export hangs, no more than the capacity waits."""
    span = DemoSpans(minute[0].fleet, minute[2]).of(minute[1][0])[0]
    held = Held(SpanExportResult.SUCCESS)
    queue = SpanQueue(held, capacity=10, batch=1, interval_s=0.01)
    queue.put([span])
    assert held.entered.wait(10)
    for _ in range(5):
        queue.put([span] * 4)
    assert queue.dropped == 12
    held.go.set()
    queue.shutdown(5.0)
    assert queue.sent == 9


def test_the_link_counts_lost_spans_and_speaks_only_on_changes():
    """Two failures are one line; the line of the recovery tells how many spans were lost."""
    said = []
    link = Link("127.0.0.1:1", said.append)
    bad, good = Held(SpanExportResult.FAILURE), Held(SpanExportResult.SUCCESS)
    bad.go.set()
    good.go.set()
    for exporter, spans in ((good, 1), (bad, 3), (bad, 4), (good, 1), (good, 1)):
        WatchedExporter(exporter, link).export([None] * spans)
    assert link.lost == 7
    assert len(said) == 2
    assert "7 spans were not delivered" in said[1]
