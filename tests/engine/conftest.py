"""Nodes, clocks and receivers that the engine's tests share."""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import numpy as np
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

from engine import ManualClock, Node, Request
from engine.decision import Decision
from engine.fleet import Fleet, View
from engine.scheduler import Scheduler

NOW = 1_700_000_000_000_000_000


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def scheduler(clock: ManualClock) -> Scheduler:
    """Three equal nodes, seeded."""
    return Scheduler([Node("a"), Node("b"), Node("c")], clock=clock, rng=random.Random(7))


@pytest.fixture
def fleet_view() -> Callable[..., View]:
    """Build a view of n nodes with the given signal rows, all taken now."""

    def build(rows: dict[str, list[float]], nodes: list[Node] | None = None) -> View:
        size = len(next(iter(rows.values()))) if rows else len(nodes or [])
        fleet = Fleet(nodes or [Node(f"n{i}") for i in range(size)])
        for name, values in rows.items():
            for at, value in enumerate(values):
                if not np.isnan(value):
                    fleet.set(name, at, value, NOW)
        return View(fleet, NOW)

    return build


@pytest.fixture
def decide(scheduler: Scheduler) -> Callable[..., Decision]:
    """Decide a request given by its fields."""
    return lambda **fields: scheduler.decide(Request(**fields))


class Collected(trace_service_pb2_grpc.TraceServiceServicer):
    """A real OTLP/gRPC receiver that keeps what it gets."""

    def __init__(self) -> None:
        self.requests: list[trace_service_pb2.ExportTraceServiceRequest] = []

    def Export(self, request, context):  # noqa: N802 - the name is gRPC's
        self.requests.append(request)
        return trace_service_pb2.ExportTraceServiceResponse()

    def spans(self):
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@pytest.fixture
def collector() -> Iterator[tuple[Collected, str]]:
    """A running OTLP/gRPC server and its address."""
    server = grpc.server(ThreadPoolExecutor(2))
    collected = Collected()
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(collected, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield collected, f"127.0.0.1:{port}"
    server.stop(0).wait()
