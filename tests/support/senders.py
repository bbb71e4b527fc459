"""Real senders: the official exporters over three transports, and a load that remembers what was acknowledged."""

import os
import threading
import time
from typing import Any

import grpc
from opentelemetry.exporter.otlp.json.http.trace_exporter import OTLPSpanExporter as JsonExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


def exporter(transport: str, grpc_url: str, http_url: str) -> SpanExporter:
    """The official exporter for ``grpc``, ``protobuf``, ``protobuf+gzip`` or ``json``."""
    if transport == "grpc":
        return GrpcExporter(endpoint=grpc_url, insecure=True)
    if transport == "json":
        return JsonExporter(endpoint=f"{http_url}/v1/traces")
    compression = Compression.Gzip if transport.endswith("gzip") else Compression.NoCompression
    return HttpExporter(endpoint=f"{http_url}/v1/traces", compression=compression)


def send_decision(
    span_exporter: SpanExporter, service: str, attributes: dict[str, Any], name: str = "schedule p"
) -> tuple[str, str]:
    """Send one decision span with the official SDK; its trace id and span id in hex."""
    provider = TracerProvider(
        resource=Resource.create({"service.name": service, "service.instance.id": "one"})
    )
    provider.add_span_processor(SimpleSpanProcessor(span_exporter))
    with provider.get_tracer("sender").start_as_current_span(name) as span:
        span.set_attributes(attributes)
    context = span.get_span_context()
    provider.shutdown()
    return f"{context.trace_id:032x}", f"{context.span_id:016x}"


class Load:
    """Sends unique decision spans over gRPC until stopped; remembers the ids that were acknowledged."""

    def __init__(self, target: str, spans_per_request: int = 64) -> None:
        self.acknowledged: list[tuple[str, str]] = []
        self.unanswered: list[list[tuple[str, str]]] = []
        self._size = spans_per_request
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(target,), daemon=True) for _ in range(3)]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(20)

    def _run(self, target: str) -> None:
        options = [("grpc.use_local_subchannel_pool", 1)]
        with grpc.insecure_channel(target, options=options) as channel:
            export = channel.unary_unary(EXPORT, request_serializer=bytes, response_deserializer=bytes)
            while not self._stop.is_set():
                body, ids = request(self._size)
                try:
                    export(body, timeout=10)
                except grpc.RpcError:
                    self.unanswered.append(ids)
                    return
                self.acknowledged.extend(ids)


def request(size: int, service: str = "load") -> tuple[bytes, list[tuple[str, str]]]:
    """One export request of ``size`` decision spans in one trace, and their ids in hex."""
    message = ExportTraceServiceRequest()
    spans = message.resource_spans.add()
    spans.resource.attributes.add(key="service.name").value.string_value = service
    scope = spans.scope_spans.add()
    trace_id, now = os.urandom(16), time.time_ns()
    ids = []
    for index in range(size):
        span = scope.spans.add(
            trace_id=trace_id,
            span_id=os.urandom(8),
            name="schedule load",
            start_time_unix_nano=now - 50_000,
            end_time_unix_nano=now,
        )
        span.attributes.add(key="decision.node").value.string_value = f"node-{index % 8}"
        span.attributes.add(key="weight").value.double_value = (index % 10) / 10
        span.attributes.add(key="decision.policy.name").value.string_value = "load"
        ids.append((trace_id.hex(), span.span_id.hex()))
    return message.SerializeToString(), ids
