"""The process of `weighbridge simulate-cluster`: real decisions about a simulated cluster, sent over OTLP."""

import asyncio
import threading

from weighbridge.demo import DemoConfig, run_demo
from weighbridge.running import Say, run
from weighbridge.settings import Settings

_END_S = 5.0


def run_cluster(settings: Settings, *, supervised: bool, say: Say) -> int:
    """Simulate until asked to end; the exit code."""
    demo = settings.demo
    config = DemoConfig(
        endpoint=str(settings.otlp_grpc), nodes=demo.nodes, speed=demo.speed, rate=demo.rate, seed=demo.seed
    )

    async def main(stop: asyncio.Event) -> None:
        asked = threading.Event()
        worker = asyncio.create_task(asyncio.to_thread(run_demo, config, asked))
        stopping = asyncio.create_task(stop.wait())
        say("ready")
        await asyncio.wait([worker, stopping], return_when=asyncio.FIRST_COMPLETED)
        asked.set()
        stopping.cancel()
        await asyncio.wait_for(worker, _END_S)

    return run(main, supervised=supervised, log_level=settings.log_level)
