"""The container files are what a container engine would accept; nothing is built here."""

import subprocess
import sys
from pathlib import Path

import yaml

from weighbridge.cli import cli

ROOT = Path(__file__).parents[2]


def test_the_dockerfile_passes_the_linter() -> None:
    """hadolint finds nothing."""
    linter = Path(sys.executable).parent / "hadolint"
    done = subprocess.run(
        [linter, ROOT / "docker" / "Dockerfile"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_image_runs_as_an_ordinary_user_and_copies_only_what_is_there() -> None:
    """A USER that is not root comes before the entry point, and every COPY source exists."""
    lines = (ROOT / "docker" / "Dockerfile").read_text().splitlines()
    assert [line for line in lines if line.startswith("USER")] == ["USER 10001:10001"]
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for line in lines:
        if line.startswith("COPY ") and "--from" not in line:
            for source in line.split()[1:-1]:
                assert (ROOT / source).exists(), source
                assert source in allowed, source


def test_the_compose_file_names_commands_that_exist_and_publishes_on_loopback_only() -> None:
    """Each service's command is one of the program's, each published port is bound to 127.0.0.1."""
    compose = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())
    for service in compose["services"].values():
        assert service["command"][0] in cli.commands
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
        assert service["cap_drop"] == ["ALL"]
