"""A running collector on free ports, and requests to send it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import grpc.aio
import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

from collector.config import CollectorConfig
from collector.memory import MemoryStore
from collector.pipeline import Collector

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


@dataclass
class Running:
    """A started collector, what it writes to, and clients of both its ports."""

    collector: Collector
    store: Any
    channel: grpc.aio.Channel
    http: httpx2.AsyncClient
    beats: list[Mapping[str, float]]

    async def send_grpc(self, body: bytes, method: str = EXPORT, **call: Any) -> Any:
        raw = await self.channel.unary_unary(method)(body, timeout=20, **call)
        return trace_service_pb2.ExportTraceServiceResponse.FromString(raw)

    async def send_http(self, body: Any, path: str = "/v1/traces", **headers: str) -> httpx2.Response:
        named = {"content-type": "application/x-protobuf"} | {
            k.replace("_", "-"): v for k, v in headers.items()
        }
        return await self.http.post(path, content=body, headers=named)


Start = Callable[..., Awaitable[Running]]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    async with AsyncExitStack() as stack:

        async def run(store: Any = None, **settings: Any) -> Running:
            store = store or MemoryStore()
            config = CollectorConfig(
                **({"grpc_port": 0, "http_port": 0, "flush_interval_s": 0.05} | settings)
            )
            beats: list[Mapping[str, float]] = []
            collector = Collector(config, store.write, store.record_intake, beats.append)
            await collector.start()
            stack.push_async_callback(collector.stop, 2.0)
            options = [("grpc.max_send_message_length", -1)]
            channel = grpc.aio.insecure_channel(collector.grpc_address, options=options)
            stack.push_async_callback(channel.close)
            http = httpx2.AsyncClient(base_url=f"http://{collector.http_address}", timeout=20)
            await stack.enter_async_context(http)
            return Running(collector, store, channel, http, beats)

        yield run


def trace_request(spans: int = 1, service: str = "shop", first: int = 1, **attributes: Any) -> Any:
    """A request of ``spans`` spans with distinct ids from ``first`` on."""
    request = trace_service_pb2.ExportTraceServiceRequest()
    resource_spans = request.resource_spans.add()
    if service:
        resource_spans.resource.attributes.add(key="service.name").value.string_value = service
    scope = resource_spans.scope_spans.add()
    scope.scope.name = "test"
    for i in range(first, first + spans):
        span = scope.spans.add(
            trace_id=i.to_bytes(16, "big"),
            span_id=i.to_bytes(8, "big"),
            name=f"span {i}",
            kind=1,
            start_time_unix_nano=1_700_000_000_000_000_000,
            end_time_unix_nano=1_700_000_000_000_001_000,
        )
        for key, value in attributes.items():
            set_value(span.attributes.add(key=key.replace("__", ".")).value, value)
    return request


def set_value(target: Any, value: Any) -> None:
    """Write a plain value as an AnyValue."""
    if isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, int):
        target.int_value = value
    elif isinstance(value, float):
        target.double_value = value
    elif isinstance(value, str):
        target.string_value = value
    elif isinstance(value, bytes):
        target.bytes_value = value
    elif isinstance(value, list):
        target.array_value.SetInParent()
        for item in value:
            set_value(target.array_value.values.add(), item)
    elif isinstance(value, dict):
        target.kvlist_value.SetInParent()
        for key, item in value.items():
            set_value(target.kvlist_value.values.add(key=key).value, item)


@pytest.fixture
def make_request() -> Callable[..., Any]:
    return trace_request


@pytest.fixture
def set_any_value() -> Callable[[Any, Any], None]:
    return set_value
