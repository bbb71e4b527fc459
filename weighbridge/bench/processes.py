"""Runs the program under measurement and reads what it costs from /proc."""

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from weighbridge.errors import UsageError

_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_START_S = 60.0
_END_S = 15.0


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU seconds and resident bytes of a process with its children, at one moment."""

    cpu_s: float
    rss_bytes: int


def usage(pid: int) -> Usage:
    """Usage of a process and all its living descendants."""
    cpu, rss, todo = 0.0, 0, [pid]
    while todo:
        current = todo.pop()
        try:
            fields = Path(f"/proc/{current}/stat").read_text().rpartition(")")[2].split()
            todo += [int(p) for p in Path(f"/proc/{current}/task/{current}/children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
        cpu += (int(fields[11]) + int(fields[12])) / _TICK
        rss += int(fields[21]) * _PAGE
    return Usage(cpu, rss)


class Peak:
    """Samples the resident memory of a process tree until the end of the ``with`` block."""

    def __init__(self, pid: int, period_s: float = 0.5) -> None:
        self.samples: list[int] = []
        self._pid, self._period = pid, period_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Peak":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def megabytes(self) -> float:
        """Largest sample in MB."""
        return max(self.samples, default=0) / 1e6

    def _run(self) -> None:
        while True:
            self.samples.append(usage(self._pid).rss_bytes)
            if self._stop.wait(self._period):
                return


@dataclass(frozen=True, slots=True)
class Program:
    """A running `weighbridge` command: process id, addresses by name, folder of its store."""

    pid: int
    addresses: dict[str, str]
    folder: Path


@contextmanager
def program(command: str, *options: str) -> Iterator[Program]:
    """Run ``weighbridge command`` on free ports in a fresh folder; ready inside the block, ended after it."""
    with tempfile.TemporaryDirectory(prefix="weighbridge-bench-") as name:
        addresses: dict[str, str] = {}
        migrate = [sys.executable, "-m", "weighbridge", "migrate", "--data-dir", name]
        subprocess.run(migrate, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own interpreter
        arguments = [
            sys.executable,
            "-m",
            "weighbridge",
            command,
            "--data-dir",
            name,
            "--otlp-grpc",
            "127.0.0.1:0",
        ]
        arguments += ["--otlp-http", "127.0.0.1:0", *options]
        process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own interpreter
        try:
            _await_ready(process, addresses)
            yield Program(process.pid, addresses, Path(name))
        finally:
            process.terminate()
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _await_ready(process: "subprocess.Popen[str]", addresses: dict[str, str]) -> None:
    deadline = time.monotonic() + _START_S
    for raw in process.stdout or ():
        if found := re.match(r"^([a-z-]+) +listening on (\S+)$", raw.rstrip("\n")):
            addresses[found[1]] = found[2]
        if raw.rstrip("\n") == "ready":
            return
        if time.monotonic() > deadline:
            break
    raise UsageError("the program under measurement did not become ready")


def run_module(module: str, arguments: Sequence[str], timeout_s: float) -> str:
    """Standard output of ``python -m module``, run to its end in a process of its own."""
    done = subprocess.run(  # noqa: S603 - our own interpreter and arguments
        [sys.executable, "-m", module, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        timeout=timeout_s,
        check=True,
    )
    return done.stdout
