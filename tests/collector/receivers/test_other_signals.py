"""Metrics and logs are checked, counted and answered, not stored; the collector's own pages."""

import asyncio

import grpc
import pytest
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

METRICS = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
LOGS = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"


def metrics_request():
    request = metrics_service_pb2.ExportMetricsServiceRequest()
    metric = request.resource_metrics.add().scope_metrics.add().metrics.add(name="load")
    metric.gauge.data_points.add(as_double=0.5)
    return request


def logs_request():
    request = logs_service_pb2.ExportLogsServiceRequest()
    record = request.resource_logs.add().scope_logs.add().log_records.add(severity_text="INFO")
    record.trace_id = bytes(range(16))
    return request


@pytest.mark.parametrize(
    ("method", "path", "request_of"),
    [(METRICS, "/v1/metrics", metrics_request), (LOGS, "/v1/logs", logs_request)],
)
async def test_other_signals_are_answered_and_counted(start, method, path, request_of):
    """Both transports accept them, say that they are not stored, and refuse what is none."""
    running = await start()
    body = request_of().SerializeToString()
    answer = await running.channel.unary_unary(method)(body)
    assert b"not stored" in answer
    response = await running.send_http(body, path=path)
    assert (response.status_code, response.content) == (200, answer)
    assert (await running.send_http(b"{}", path=path, content_type="application/json")).json() == {}
    assert (await running.send_http(b"[1]", path=path, content_type="application/json")).status_code == 400
    assert (await running.send_http(b"garbage", path=path)).status_code == 400
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await running.channel.unary_unary(method)(b"garbage")
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    exposition = (await running.http.get("/metrics")).text
    signal = path.rpartition("/")[2]
    assert f'weighbridge_collector_other_items_total{{signal="{signal}"}} 2.0' in exposition
    assert running.store.groups == []


async def test_the_official_metric_exporter_succeeds(start):
    """A program that exports all its signals here sees no error."""
    running = await start()
    exporter = OTLPMetricExporter(endpoint=f"http://{running.collector.http_address}/v1/metrics")
    provider = MeterProvider([PeriodicExportingMetricReader(exporter, export_interval_millis=1e6)])
    provider.get_meter("m").create_counter("c").add(1)
    assert await asyncio.to_thread(provider.force_flush)
    await asyncio.to_thread(provider.shutdown)
    assert 'outcome="ok",signal="metrics"' in (await running.http.get("/metrics")).text


async def test_health_readiness_and_metrics_pages(start, make_request):
    """Probes are JSON; the figures are in Prometheus' format."""
    running = await start()
    assert (await running.http.get("/healthz")).json() == {"status": "ok"}
    assert (await running.http.get("/readyz")).json() == {"status": "ready"}
    request = make_request(3)
    request.resource_spans[0].scope_spans[0].spans[0].span_id = b""
    await running.send_grpc(request.SerializeToString())
    await running.send_grpc(request.SerializeToString())
    page = await running.http.get("/metrics")
    assert page.headers["content-type"].startswith("text/plain; version=0.0.4")
    for line in (
        'weighbridge_collector_spans_total{result="accepted"} 2.0',
        'weighbridge_collector_spans_total{result="duplicated"} 2.0',
        'weighbridge_collector_spans_total{result="rejected"} 2.0',
        'weighbridge_collector_requests_total{outcome="ok",signal="traces",transport="grpc"} 2.0',
        "weighbridge_collector_inflight_bytes 0.0",
    ):
        assert line in page.text
