"""The official OTLP/gRPC exporter against a real receiver."""

import random
import subprocess
import sys
from pathlib import Path

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

from engine import Node, Request, Scheduler, semconv
from engine.recorder import Recorder, RecorderConfig

ROOT = Path(__file__).parents[2]


def attributes(span):
    return {entry.key: entry.value for entry in span.attributes}


def test_spans_arrive_over_grpc(collector):
    """Ids, parents, arrays, numbers and hostile text come out as they went in."""
    collected, address = collector
    hostile = "<img src=x onerror=alert(1)>\x00\ud800"
    exporter = OTLPSpanExporter(endpoint=address, insecure=True)
    with Recorder(exporter, service="gateway", instance="one") as recorder:
        scheduler = Scheduler([Node(hostile), Node("b")], rng=random.Random(1), recorder=recorder)
        scheduler.update_signals("b", {"queue_depth": 30, "cpu_utilisation": 0.7})
        with scheduler.decide(Request(model="m", tenant="t")) as decision:
            decision.succeeded(latency_ms=12.5)
        assert recorder.flush()
    span, outcome = sorted(collected.spans(), key=lambda s: s.name)
    found = attributes(span)
    assert span.trace_id.hex() == outcome.trace_id.hex() == decision.trace_id
    assert span.span_id.hex() == outcome.parent_span_id.hex() == decision.span_id
    assert span.trace_state == "ot=th:0"
    assert found[semconv.DECISION_NODE].string_value == hostile.replace("\ud800", "?")
    assert [v.string_value for v in found[semconv.CANDIDATES].array_value.values][1] == "b"
    assert found[semconv.WEIGHT].double_value == decision.weight
    assert found[semconv.DECISION_SCHEMA].int_value == 1
    assert attributes(outcome)[semconv.OUTCOME_LATENCY_MS].double_value == 12.5
    resource = collected.requests[0].resource_spans[0].resource
    assert {a.key: a.value.string_value for a in resource.attributes} == {
        "service.name": "gateway",
        "service.instance.id": "one",
    }


def test_spans_are_sent_in_batches(collector):
    """A thousand decisions make a few requests, none above the batch size."""
    collected, address = collector
    config = RecorderConfig(max_batch=256)
    with Recorder(OTLPSpanExporter(endpoint=address, insecure=True), service="s", config=config) as recorder:
        scheduler = Scheduler([Node(f"n{i}") for i in range(4)], rng=random.Random(1), recorder=recorder)
        for _ in range(1_000):
            scheduler.decide(Request())
        assert recorder.flush()
    sizes = [len(r.resource_spans[0].scope_spans[0].spans) for r in collected.requests]
    assert sum(sizes) == 1_000
    assert max(sizes) <= 256


def test_the_example_of_the_readme_runs(collector):
    """docs/examples/embed.py, pointed at a receiver that is there, sends its decision and says what it chose."""
    collected, address = collector
    code = (ROOT / "docs/examples/embed.py").read_text().replace("127.0.0.1:4317", address)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("gpu-1: weight 0.7")
    assert [span.name for span in collected.spans()] == ["schedule default", "upstream gpu-1"]
