"""The real program running: its addresses, its output, its processes."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
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
    client: httpx2.Client = field(default_factory=lambda: httpx2.Client(timeout=20, verify=False))

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
        response = self.client.get(self.web + path, params=params)
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


def follow(running: Running) -> None:
    """Take in what the program prints, until it ends."""
    for raw in running.process.stdout or ():
        line = raw.rstrip("\n")
        running.lines.append(line)
        if found := re.match(r"^([a-z-]+) +listening on (\S+)$", line):
            running.addresses[found[1]] = found[2]
        if line == "ready":
            running.ready.set()
    running.ended.set()
    running.ready.set()


def launch(
    folder: Path,
    command: str = "up",
    *options: str,
    config: str | None = None,
    data_dir: Path | None = None,
) -> Running:
    """Start `weighbridge <command>` on free ports; store, settings file and log lie in ``folder``."""
    arguments = ["--data-dir", str(data_dir or folder / "data")]
    for listener in ("--otlp-grpc", "--otlp-http", "--web"):
        arguments += [listener, "127.0.0.1:0"]
    if config is not None:
        (folder / "weighbridge.toml").write_text(config)
        arguments += ["--config", str(folder / "weighbridge.toml")]
    with (folder / "stderr.log").open("a") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "weighbridge", command, *arguments, *options],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    running = Running(process)
    threading.Thread(target=follow, args=(running,), daemon=True).start()
    return running


def await_ready(running: Running, folder: Path) -> Running:
    """Return once the program said ``ready``; fails with what it wrote when it does not."""
    assert running.ready.wait(START_S), "not ready in time"
    assert "ready" in running.lines, (running.lines, (folder / "stderr.log").read_text())
    return running


def end(running: Running) -> None:
    """End the program in order, or at once when it does not."""
    running.client.close()
    if running.process.poll() is None:
        running.process.terminate()
        try:
            running.process.wait(12)
        except subprocess.TimeoutExpired:
            running.kill_all()
    if running.process.stdout:
        running.ended.wait(5)
        running.process.stdout.close()


Start = Callable[..., Running]
