"""Durable intake on SQLite: what a sender gets acknowledged, and what that costs.

The reference in the same run is the bare protobuf parsing of the same requests.
"""

import time
from collections.abc import Callable, Mapping

import numpy as np
import orjson
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from sqlalchemy import create_engine, text

from collector.decode import Encoding, decode_traces
from weighbridge.bench.payload import Template
from weighbridge.bench.processes import Peak, Program, program, run_module, usage

_SPANS = 512
_DEFAULT_S = 30.0


def bench_intake(
    seconds: float | None, progress: Callable[[str], None]
) -> Mapping[str, float | int | str | None]:
    """Load the collector over gRPC, then over HTTP, and count what the store holds.

    ``durable_spans_per_s`` is the smaller of both transports; CPU is that of the collector process.
    """
    length = seconds or _DEFAULT_S
    floor, decode = (
        _per_100k(ExportTraceServiceRequest.FromString),
        _per_100k(lambda b: decode_traces(b, Encoding.PROTOBUF)),
    )
    figures: dict[str, float | int | str | None] = {}
    with program("collect") as running, Peak(running.pid) as peak:
        results = [_load(running, t, length, progress) for t in ("grpc", "http")]
        acknowledged = sum(int(r["acknowledged"]) for r in results)
        stored, distinct = _count(running)
        for name, result in zip(("grpc", "http"), results, strict=True):
            figures |= {f"{name}_{k}": v for k, v in result.items()}
    return {
        "durable_spans_per_s": min(float(r["spans_per_s"]) for r in results),
        "cpu_s_per_100k": max(float(r["cpu_s_per_100k"]) for r in results),
        "parse_floor_cpu_s_per_100k": floor,
        "decode_cpu_s_per_100k": decode,
        "cpu_over_parse_floor": max(float(r["cpu_s_per_100k"]) for r in results) / floor,
        "ack_ms_p99": max(float(r["ack_ms_p99"]) for r in results),
        "peak_rss_mb": peak.megabytes,
        "lost": acknowledged - min(acknowledged, distinct),
        "duplicated": stored - distinct,
        **figures,
    }


def _load(
    running: Program, transport: str, seconds: float, progress: Callable[[str], None]
) -> dict[str, float]:
    progress(f"loading over {transport} for {seconds:.0f} s with 4 connections, {_SPANS} spans a request")
    before = usage(running.pid)
    target = running.addresses[f"otlp-{transport}"]
    out = run_module("weighbridge.bench.load", [transport, target, "--seconds", str(seconds)], seconds + 60)
    figures = orjson.loads(out)
    spent = usage(running.pid).cpu_s - before.cpu_s
    refused = sum(n for answer, n in figures["answers"].items() if answer != "ok")
    return {
        "acknowledged": figures["acknowledged"],
        "spans_per_s": figures["acknowledged"] / figures["seconds"],
        "cpu_s_per_100k": spent / max(1, figures["acknowledged"]) * 1e5,
        "ack_ms_p50": figures["ack_ms_p50"],
        "ack_ms_p99": figures["ack_ms_p99"],
        "refused": refused,
    }


def _count(running: Program) -> tuple[int, int]:
    engine = create_engine(f"sqlite:///{running.folder / 'weighbridge.db'}")
    try:
        with engine.connect() as connection:
            stored = connection.execute(text("select count(*) from span")).scalar_one()
            distinct = connection.execute(text("select count(distinct key) from span")).scalar_one()
    finally:
        engine.dispose()
    return int(stored), int(distinct)


def _per_100k(work: Callable[[bytes], object], rounds: int = 40) -> float:
    """CPU seconds of this process for 100,000 spans of ``work`` on one request after the other."""
    template = Template(_SPANS, np.random.default_rng(7))
    bodies = [template.fresh() for _ in range(rounds)]
    work(bodies[0])
    begun = time.process_time()
    for body in bodies:
        work(body)
    return (time.process_time() - begun) / (rounds * _SPANS) * 1e5
