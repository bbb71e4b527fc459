"""Starts and supervises the processes of `weighbridge up` and `weighbridge demo`.

Each child prints one line per listening address and then ``ready``; the supervisor passes the addresses
on, restarts a child that dies later, and ends them in order. A child holds the read end of a pipe as its
standard input, so that it ends by itself when the supervisor is killed.
"""

import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FrameType

READY = "ready"
ENDING = "ending in order; a second signal ends at once"
USAGE_ERROR = 2
_LISTENING = re.compile(r"^(?P<what>[a-z-]+) +listening on (?P<address>\S+)$")
_GRACE_S = 8.0
_RESTART_LIMIT = 5
_RESTART_WINDOW_S = 60.0


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """One child: its name and how to build its command from the addresses of those before it."""

    name: str
    command: Callable[[dict[str, str]], Sequence[str]]


@dataclass(slots=True)
class _Child:
    spec: ChildSpec
    process: subprocess.Popen[str]
    addresses: dict[str, str] = field(default_factory=dict)
    starts: list[float] = field(default_factory=list)


class ChildFailedError(Exception):
    """A child ended before it was ready or too often; ``code`` is its exit code."""

    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name} ended with code {code}")
        self.code = code


class Supervisor:
    """Runs children in order; ``run`` returns the exit code of the whole command."""

    def __init__(self, specs: Sequence[ChildSpec], say: Callable[[str], None]) -> None:
        self._specs = list(specs)
        self._say = say
        self._children: list[_Child] = []
        self._starting: subprocess.Popen[str] | None = None
        self._addresses: dict[str, str] = {}
        self._events: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
        self._signals = 0

    def run(self) -> int:
        """Start all, wait for a signal, end all. 0 after a signal, else the failing child's code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        try:
            for spec in self._specs:
                self._children.append(self._start(spec))
                if self._signals:
                    break
            else:
                self._say(READY)
                self._watch()
        except ChildFailedError as failed:
            self._stop()
            return failed.code if failed.code == USAGE_ERROR else 1
        return self._stop()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1
        self._events.put(("signal", ""))
        if self._starting is not None:
            self._starting.terminate()
        if self._signals > 1:
            for process in (self._starting, *(child.process for child in self._children)):
                if process is not None:
                    process.kill()

    def _start(self, spec: ChildSpec, earlier: list[float] | None = None) -> _Child:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and arguments
            list(spec.command(self._addresses)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # a Ctrl-C reaches the supervisor alone, which ends them in order
        )
        self._starting = process  # a signal must reach it too, however long it takes to be ready
        if self._signals:
            process.terminate()
        child = _Child(spec, process, starts=[*(earlier or []), time.monotonic()])
        try:
            if self._became_ready(child) or self._signals:
                return child
        finally:
            self._starting = None
        raise ChildFailedError(spec.name, process.returncode)

    def _became_ready(self, child: _Child) -> bool:
        """Pass on what the child says until it is ready; False when it ended before."""
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(child, lines), daemon=True).start()
        while (line := lines.get()) is not None:
            if line == READY:
                return True
            if found := _LISTENING.match(line):
                self._addresses[found["what"]] = found["address"]
            self._say(line)
        child.process.wait()
        return False

    def _read(self, child: _Child, lines: "queue.SimpleQueue[str | None]") -> None:
        ready = False
        for raw in child.process.stdout or ():
            line = raw.rstrip("\n")
            if ready:
                self._say(line)
            else:
                lines.put(line)
                ready = line == READY
        child.process.wait()
        lines.put(None)
        if ready:
            self._events.put(("ended", child.spec.name))

    def _watch(self) -> None:
        while True:
            kind, name = self._events.get()
            if kind == "signal":
                return
            index = next(i for i, c in enumerate(self._children) if c.spec.name == name)
            self._restart(index)

    def _restart(self, index: int) -> None:
        """Start a child again until it is ready; one that ends before counts as one more end."""
        spec, starts = self._children[index].spec, self._children[index].starts
        code = self._children[index].process.wait()
        while True:
            now = time.monotonic()
            recent = [t for t in starts if now - t < _RESTART_WINDOW_S]
            if len(recent) >= _RESTART_LIMIT:
                self._say(
                    f"{spec.name} ended with code {code} {len(recent)} times within a minute; giving up"
                )
                raise ChildFailedError(spec.name, code)
            self._say(f"{spec.name} ended with code {code}; starting it again")
            try:
                self._children[index] = self._start(spec, recent)
            except ChildFailedError as failed:
                if failed.code == USAGE_ERROR:  # it said what is wrong, and saying it again mends nothing
                    raise
                code, starts = failed.code, [*recent, now]
            else:
                return

    def _stop(self) -> int:
        if self._signals:
            self._say(ENDING)
        deadline = time.monotonic() + _GRACE_S
        code = 0
        for child in reversed(self._children):
            child.process.terminate()
            try:
                child.process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                self._say(f"{child.spec.name} did not end in time; ending it at once")
                child.process.kill()
                child.process.wait()
                code = 1
        return code


def command(*arguments: str) -> list[str]:
    """Command line of a child of this program, in the same interpreter."""
    return [sys.executable, "-m", "weighbridge", *arguments, "--supervised"]
