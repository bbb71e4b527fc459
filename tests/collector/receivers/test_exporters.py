"""The official exporters against the real servers, into a real SQLite file."""

import asyncio
import time

import grpc
import pytest
from opentelemetry.exporter.otlp.json.http.trace_exporter import OTLPSpanExporter as JsonExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from storage.control import Control
from storage.database import Database
from storage.migrate import upgrade
from storage.queries import Reader
from storage.records import DecisionQuery
from storage.writer import Writer


class SqliteStore:
    """The real writer on a file."""

    def __init__(self, path):
        url = f"sqlite:///{path}"
        upgrade(url)
        self.database = Database(url)
        self.writes = 0
        self._writer = Writer(self.database, time.time_ns)
        self.record_intake = Control(self.database, time.time_ns).record_intake
        self.reader = Reader(self.database)

    def write(self, batches):
        self.writes += 1
        return self._writer.write(batches)


@pytest.fixture
def sqlite(tmp_path):
    store = SqliteStore(tmp_path / "store.db")
    yield store
    store.database.dispose()


def sdk_spans(count):
    """Spans as the SDK makes them, each a decision."""
    provider = TracerProvider(
        resource=Resource.create({"service.name": "router", "service.instance.id": "r1"})
    )
    memory = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("test")
    for i in range(count):
        attributes = {
            "decision.node": f"n{i % 2}",
            "weight": 0.5,
            "decision.policy.name": "p",
            "decision.candidates": ["n0", "n1"],
            "decision.candidate.weights": [0.5, 0.25],
        }
        with tracer.start_as_current_span("schedule p", attributes=attributes) as span:
            span.add_event("picked", {"rank": 1})
    provider.shutdown()
    return memory.get_finished_spans()


def make_exporter(kind, collector):
    if kind.startswith("grpc"):
        compression = grpc.Compression.Gzip if kind.endswith("gzip") else grpc.Compression.NoCompression
        return GrpcExporter(endpoint=collector.grpc_address, insecure=True, compression=compression)
    endpoint = f"http://{collector.http_address}/v1/traces"
    if kind.startswith("http"):
        compression = Compression.Gzip if kind.endswith("gzip") else Compression.NoCompression
        return HttpExporter(endpoint=endpoint, compression=compression)
    return JsonExporter(endpoint=endpoint)


@pytest.mark.parametrize("kind", ["grpc", "grpc gzip", "http", "http gzip", "json"])
async def test_an_official_exporter_stores_its_spans_once(start, sqlite, kind):
    """Success is told, every span is in the file, and a resend changes nothing."""
    running = await start(sqlite)
    spans = sdk_spans(20)
    exporter = make_exporter(kind, running.collector)
    for _ in range(2):
        assert await asyncio.to_thread(exporter.export, spans) is SpanExportResult.SUCCESS
    await asyncio.to_thread(exporter.shutdown)
    page = sqlite.reader.decisions(DecisionQuery(), limit=100)
    assert {(row.trace_id, row.span_id) for row in page.items} == {
        (f"{s.context.trace_id:032x}", f"{s.context.span_id:016x}") for s in spans
    }
    assert {(row.service, row.instance, row.policy, row.weight) for row in page.items} == {
        ("router", "r1", "p", 0.5)
    }


async def test_many_callers_share_few_commits(start, sqlite, make_request):
    """Sixty-four requests at once need far fewer writes, and all are stored."""
    running = await start(sqlite)
    bodies = [make_request(16, first=1 + 16 * i).SerializeToString() for i in range(64)]
    await asyncio.gather(*(running.send_grpc(body) for body in bodies))
    assert sqlite.writes <= 32
    with sqlite.database.read() as connection:
        assert connection.exec_driver_sql("select count(*) from span").scalar_one() == 1024
