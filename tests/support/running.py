"""The real program running: its addresses, its output, its processes."""

import os
import re
import signal
import subprocess
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


Start = Callable[..., Running]
