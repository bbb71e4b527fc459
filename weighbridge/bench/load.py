"""The load generator: a process of its own that sends over gRPC or HTTP and prints what was acknowledged."""

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable

import grpc
import httpx2
import numpy as np
import orjson

from weighbridge.bench.payload import Template

_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_TIMEOUT_S = 30.0
_TEMPLATES = 8
Send = Callable[[bytes], Awaitable[str]]


class Load:
    """Closed-loop senders, one request in flight each, until a deadline."""

    def __init__(self, spans: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self._templates = [Template(spans, rng) for _ in range(_TEMPLATES)]
        self.acknowledged = 0
        self.answers: Counter[str] = Counter()
        self.latencies_s: list[float] = []

    async def send(self, send: Send, deadline: float, first: int) -> None:
        """Send until ``deadline`` (monotonic seconds); ``first`` chooses the first template."""
        turn = first
        while time.monotonic() < deadline:
            template = self._templates[turn % _TEMPLATES]
            turn += 1
            begun = time.perf_counter()
            answer = await send(template.fresh())
            self.latencies_s.append(time.perf_counter() - begun)
            self.answers[answer] += 1
            if answer == "ok":
                self.acknowledged += template.spans
            else:
                await asyncio.sleep(0.05)


async def _over_grpc(load: Load, target: str, connections: int, seconds: float) -> None:
    async def worker(number: int) -> None:
        async with grpc.aio.insecure_channel(
            target, options=[("grpc.use_local_subchannel_pool", 1)]
        ) as channel:
            export = channel.unary_unary(_EXPORT, request_serializer=bytes, response_deserializer=bytes)

            async def send(body: bytes) -> str:
                try:
                    await export(body, timeout=_TIMEOUT_S)
                except grpc.aio.AioRpcError as error:
                    return str(error.code().name)
                return "ok"

            await load.send(send, time.monotonic() + seconds, number)

    await asyncio.gather(*(worker(n) for n in range(connections)))


async def _over_http(load: Load, target: str, connections: int, seconds: float) -> None:
    async def worker(number: int) -> None:
        async with httpx2.AsyncClient(base_url=f"http://{target}", timeout=_TIMEOUT_S) as client:

            async def send(body: bytes) -> str:
                try:
                    response = await client.post(
                        "/v1/traces", content=body, headers={"content-type": "application/x-protobuf"}
                    )
                except httpx2.HTTPError as error:
                    return type(error).__name__
                return "ok" if response.status_code == 200 else str(response.status_code)

            await load.send(send, time.monotonic() + seconds, number)

    await asyncio.gather(*(worker(n) for n in range(connections)))


def main() -> None:
    """Send as the arguments say and print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transport", choices=["grpc", "http"])
    parser.add_argument("target", help="HOST:PORT")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--spans", type=int, default=512)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    load = Load(options.spans, options.seed)
    run = _over_grpc if options.transport == "grpc" else _over_http
    begun = time.monotonic()
    asyncio.run(run(load, options.target, options.connections, options.seconds))
    figures = {
        "acknowledged": load.acknowledged,
        "seconds": time.monotonic() - begun,
        "answers": dict(load.answers),
        "ack_ms_p50": float(np.percentile(load.latencies_s, 50)) * 1e3,
        "ack_ms_p99": float(np.percentile(load.latencies_s, 99)) * 1e3,
    }
    sys.stdout.write(orjson.dumps(figures).decode() + "\n")


if __name__ == "__main__":
    main()
