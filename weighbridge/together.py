"""`up` and `demo`: the same program started several times on one store."""

from collections.abc import Callable
from pathlib import Path

from weighbridge.settings import Settings
from weighbridge.supervisor import ChildSpec, Supervisor, command
from weighbridge.wiring.store import prepare_store


def run_together(settings: Settings, config: Path | None, *, demo: bool, say: Callable[[str], None]) -> int:
    """Prepare the store, start the children in order and supervise them; the exit code."""
    prepare_store(settings)
    specs = [
        ChildSpec(
            "collect", lambda known: command("collect", *_shared(settings, config), *_intake(settings, known))
        ),
        ChildSpec(
            "serve",
            lambda known: command(
                "serve",
                *_shared(settings, config),
                *_intake(settings, known),
                "--web",
                known.get("web", str(settings.web)),
            ),
        ),
    ]
    if demo:
        specs.append(
            ChildSpec(
                "demo",
                lambda known: command(
                    "simulate-cluster",
                    *_shared(settings, config),
                    *_intake(settings, known),
                    *_demo(settings),
                ),
            )
        )
    return Supervisor(specs, say).run()


def _shared(settings: Settings, config: Path | None) -> list[str]:
    """Options that every child takes, so that all see the same settings whatever they came from."""
    options = ["--data-dir", str(settings.data_dir), "--log-level", settings.log_level]
    if settings.database:
        options += ["--database", settings.database]
    if config:
        options += ["--config", str(config)]
    return options


def _intake(settings: Settings, known: dict[str, str]) -> list[str]:
    """Intake addresses: those really listened on once they are known, also after a restart."""
    grpc, http = (
        known.get("otlp-grpc", str(settings.otlp_grpc)),
        known.get("otlp-http", str(settings.otlp_http)),
    )
    return ["--otlp-grpc", grpc, "--otlp-http", http]


def _demo(settings: Settings) -> list[str]:
    demo = settings.demo
    return [
        "--nodes",
        str(demo.nodes),
        "--speed",
        str(demo.speed),
        "--rate",
        str(demo.rate),
        "--seed",
        str(demo.seed),
    ]
