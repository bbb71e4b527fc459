"""`up` and `demo`: the same program started several times on one store."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from weighbridge.settings import Settings
from weighbridge.supervisor import ChildSpec, Supervisor, command
from weighbridge.wiring.store import prepare_store


def run_together(settings: Settings, config: Path | None, *, demo: bool, say: Callable[[str], None]) -> int:
    """Prepare the store, start the children in order and supervise them; the exit code."""
    prepare_store(settings)
    shared = _shared(settings, config)
    specs = [ChildSpec(role, partial(_service, role, shared, settings)) for role in ("collect", "serve")]
    if demo:
        specs.append(ChildSpec("demo", partial(_cluster, shared, settings)))
    return Supervisor(specs, say).run()


def _service(role: str, shared: Sequence[str], settings: Settings, known: Mapping[str, str]) -> list[str]:
    web = known.get("web", str(settings.web))
    return command(role, *shared, *_intake(settings, known), "--web", web)


def _cluster(shared: Sequence[str], settings: Settings, known: Mapping[str, str]) -> list[str]:
    numbers = settings.demo.model_dump().items()
    demo = [word for name, value in numbers for word in (f"--{name}", str(value))]
    return command("simulate-cluster", *shared, *_intake(settings, known), *demo)


def _shared(settings: Settings, config: Path | None) -> list[str]:
    """Options that every child takes, so that all see the same settings whatever they came from."""
    options = ["--data-dir", str(settings.data_dir), "--log-level", settings.log_level]
    if settings.database:
        options += ["--database", settings.database]
    if config:
        options += ["--config", str(config)]
    return options


def _intake(settings: Settings, known: Mapping[str, str]) -> list[str]:
    """Intake addresses: those really listened on once they are known, also after a restart."""
    grpc = known.get("otlp-grpc", str(settings.otlp_grpc))
    http = known.get("otlp-http", str(settings.otlp_http))
    return ["--otlp-grpc", grpc, "--otlp-http", http]
