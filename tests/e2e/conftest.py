"""Starts the real program on free ports and ends it whatever happens."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

START_S = 60.0


@dataclass
class Running:
    """A running `weighbridge` command: its addresses, its output, its process group."""

    process: subprocess.Popen[str]
    addresses: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    ready: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def web(self) -> str:
        return f"http://{self.addresses['web']}"

    @property
    def grpc(self) -> str:
        return f"http://{self.addresses['otlp-grpc']}"

    @property
    def http(self) -> str:
        return f"http://{self.addresses['otlp-http']}"

    def children(self) -> list[int]:
        """Process ids of the direct children."""
        found = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in found.split()]

    def kill_all(self) -> None:
        """SIGKILL to the supervisor and every child at once: a crash of the machine, nearly."""
        pids = [*self.children(), self.process.pid]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.process.wait(10)

    def get(self, path: str, **params: Any) -> Any:
        """JSON of an API path."""
        response = httpx2.get(self.web + path, params=params, timeout=10)
        response.raise_for_status()
        return response.json()


def wait_until(condition: Callable[[], Any], timeout_s: float = 20.0, what: str = "the condition") -> Any:
    """The first truthy value of ``condition``; fails when it does not come in time."""
    deadline = time.monotonic() + timeout_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            pytest.fail(f"{what} did not come within {timeout_s} s")
        time.sleep(0.05)
    return value


def _read(running: Running) -> None:
    for raw in running.process.stdout or ():
        line = raw.rstrip("\n")
        running.lines.append(line)
        if found := re.match(r"^([a-z-]+) +listening on (\S+)$", line):
            running.addresses[found[1]] = found[2]
        if line == "ready":
            running.ready.set()
    running.ended.set()
    running.ready.set()


Start = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """A function that starts `weighbridge <command>` on free ports in a fresh folder."""
    started: list[Running] = []

    def run(
        command: str = "up",
        *options: str,
        config: str | None = None,
        data_dir: Path | None = None,
        ready: bool = True,
    ) -> Running:
        arguments = [
            "--data-dir",
            str(data_dir or tmp_path / "data"),
            "--otlp-grpc",
            "127.0.0.1:0",
            "--otlp-http",
            "127.0.0.1:0",
            "--web",
            "127.0.0.1:0",
        ]
        if config is not None:
            (tmp_path / "weighbridge.toml").write_text(config)
            arguments += ["--config", str(tmp_path / "weighbridge.toml")]
        process = subprocess.Popen(
            [sys.executable, "-m", "weighbridge", command, *arguments, *options],
            stdout=subprocess.PIPE,
            stderr=(tmp_path / "stderr.log").open("a"),
            text=True,
        )
        running = Running(process)
        started.append(running)
        threading.Thread(target=_read, args=(running,), daemon=True).start()
        if ready:
            assert running.ready.wait(START_S), "not ready in time"
            assert "ready" in running.lines, (running.lines, (tmp_path / "stderr.log").read_text())
        return running

    yield run
    for running in started:
        if running.process.poll() is None:
            running.process.terminate()
            try:
                running.process.wait(12)
            except subprocess.TimeoutExpired:
                running.kill_all()
        if running.process.stdout:
            running.ended.wait(5)
            running.process.stdout.close()
