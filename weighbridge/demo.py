"""The demo: a simulated cluster in real time, decided by the real engine, sent over real OTLP/gRPC.

The cluster and its workload are simulated (``engine.simulation``, driven by a public trace); everything
after that is real: the scheduler's decisions, the spans, the connection. Virtual time follows the
wall clock times ``speed``; when the machine cannot keep up, time is skipped and counted, not queued.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import click

from engine.recorder import Recorder, RecorderConfig
from weighbridge.demo_clock import DemoClock
from weighbridge.demo_export import Link, SpanQueue, connect
from weighbridge.demo_gateway import REPORT_S, Flight, Gateway, GatewayConfig, GatewayCounts
from weighbridge.demo_spans import GATEWAY, INSTANCE, DemoSpans, gateway_resource

TICK_S = 0.025
"""Shortest pause between two looks at the clock; requests within it are decided together."""

LAG_S = 1.0
"""Wall-clock seconds the simulation may fall behind before it skips."""

SLICE_REQUESTS = 200
"""Requests after which a simulation that is behind looks whether to skip or to stop."""

WARM_S = 30.0
WARM_REQUESTS = 3_000
"""The cluster is filled before anything is shown: for 30 simulated seconds, or that many requests."""

SAY_EVERY_S = 60.0

END_S = 2.0
"""Seconds at the end for what is not delivered yet."""


@dataclass(frozen=True, slots=True)
class DemoConfig:
    """The simulated cluster.

    ``endpoint`` is where OTLP/gRPC is received. ``speed`` > 0 is simulated seconds per second, ``rate`` > 0
    decisions per simulated second. ``experiment`` runs two policies as the arms of an experiment.
    """

    endpoint: str = "127.0.0.1:4317"
    nodes: int = 64
    speed: float = 1.0
    seed: int = 7
    rate: float = 100.0
    experiment: bool = True


@dataclass(frozen=True, slots=True)
class DemoStats:
    """Counts since the start. ``skipped_s`` is wall-clock time left out; the drops are spans."""

    gateway: GatewayCounts
    skips: int
    skipped_s: float
    queue_dropped: int
    undelivered: int


class _Gate:
    """Lets decisions through to the recorder once open; the ones before, and their outcomes, stay unseen."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.open = False
        self.record = recorder.record
        self.record_outcome = recorder.record_outcome

    def samples(self, trace_id: int, trace_state: str) -> bool:
        """Whether a decision is sent."""
        return self.open and self._recorder.samples(trace_id, trace_state)


class Demo:
    """One run of the demo. ``say`` receives the few lines for the user."""

    def __init__(self, config: DemoConfig, say: Callable[[str], None]) -> None:
        self._config = config
        self._say = say
        self._link = Link(config.endpoint, say)
        self._clock = DemoClock(time.time_ns(), config.speed)
        self._recorder = Recorder(
            connect(config.endpoint, self._link, gateway_resource()),
            service=GATEWAY,
            instance=INSTANCE,
            config=RecorderConfig(capacity=4_096),
        )
        self._gate = _Gate(self._recorder)
        self._queue = SpanQueue(connect(config.endpoint, self._link))
        self._gateway = Gateway(
            GatewayConfig(
                nodes=config.nodes,
                rate=config.rate,
                seed=config.seed,
                experiment=config.experiment,
                # Nodes report at a pace of the wall clock, or a fast run would be nothing but reports.
                report_s=REPORT_S * max(1.0, config.speed),
            ),
            self._clock,
            self._gate,
            self._done,
        )
        self._spans = DemoSpans(self._gateway.fleet, self._clock)
        self._skips = 0
        self._skipped = 0.0
        self._said = -SAY_EVERY_S

    def stats(self) -> DemoStats:
        """The counts so far."""
        return DemoStats(
            self._gateway.counts,
            self._skips,
            self._skipped,
            self._queue.dropped + self._recorder.stats().dropped,
            self._link.lost,
        )

    def run(self, stop: threading.Event) -> None:
        """Simulate in real time until ``stop`` is set, then send what is left."""
        try:
            self._pace(stop)
        finally:
            self._recorder.shutdown(END_S)
            self._queue.shutdown(END_S / 2)

    def _done(self, flight: Flight) -> None:
        if flight.shown:
            self._queue.put(self._spans.of(flight))

    def _pace(self, stop: threading.Event) -> None:
        speed, virtual = self._config.speed, self._warm_up()
        self._clock.start(virtual, time.time_ns())
        begun = time.monotonic() - virtual / speed  # when virtual time 0 would have been
        slice_s = SLICE_REQUESTS / self._config.rate
        while not stop.is_set():
            behind = time.monotonic() - begun - virtual / speed
            if behind > LAG_S:
                self._skip(behind)
                begun += behind
            target = (time.monotonic() - begun) * speed
            virtual = min(target, virtual + slice_s)
            self._gateway.run(virtual)
            if virtual == target:
                pause = begun + self._gateway.next_time / speed - time.monotonic()
                stop.wait(max(TICK_S, min(pause, 0.1)))

    def _warm_up(self) -> float:
        """Fill the cluster unseen, so that what is shown is the steady state; the virtual time reached."""
        reached = min(WARM_S, WARM_REQUESTS / self._config.rate)
        self._gateway.run(reached)
        self._gate.open = True
        return reached

    def _skip(self, seconds: float) -> None:
        self._clock.skip(round(seconds * 1e9))
        self._skips += 1
        self._skipped += seconds
        if time.monotonic() - self._said >= SAY_EVERY_S:
            self._said = time.monotonic()
            self._say(
                f"demo: the simulation cannot keep up and has skipped {self._skipped:.1f} s so far; "
                "fewer --nodes, a lower --rate or --speed helps"
            )


def run_demo(config: DemoConfig, stop: threading.Event, say: Callable[[str], None] = click.echo) -> None:
    """Run the simulated cluster in real time until ``stop`` is set; returns within about 4 s after.

    A collector that is away costs spans, counted, and never time. Nothing is said for each decision.
    """
    Demo(config, say).run(stop)
