# ruff: noqa: T201 - an example prints what it did
"""Twenty lines: three nodes, one decision, its span on the way to a collector."""

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

from engine import Node, Request, Scheduler
from engine.recorder import Recorder

nodes = [Node(f"gpu-{i}", models=frozenset({"llama-3.1-8b"})) for i in range(3)]
exporter = OTLPSpanExporter(endpoint="127.0.0.1:4317", insecure=True)

with Recorder(exporter, service="my-gateway") as recorder:
    scheduler = Scheduler(nodes, recorder=recorder)
    for node, (busy, queue) in zip(nodes, [(0.7, 9), (0.2, 1), (0.5, 4)], strict=True):
        scheduler.update_signals(node.name, {"cpu_utilisation": busy, "queue_depth": queue})

    with scheduler.decide(Request(model="llama-3.1-8b", delta=0.9)) as decision:
        decision.succeeded(latency_ms=42.0)  # send the request to decision.node, then say how it went

print(f"{decision.node.name}: weight {decision.weight:.2f}, confidence {decision.confidence:.2f}")
print(recorder.stats())
