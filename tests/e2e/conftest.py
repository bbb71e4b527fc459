"""Starts the real program on free ports and ends it whatever happens."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import START_S, Running, Start, follow


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
        with (tmp_path / "stderr.log").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "weighbridge", command, *arguments, *options],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        running = Running(process)
        started.append(running)
        threading.Thread(target=follow, args=(running,), daemon=True).start()
        if ready:
            assert running.ready.wait(START_S), "not ready in time"
            assert "ready" in running.lines, (running.lines, (tmp_path / "stderr.log").read_text())
        return running

    yield run
    for running in started:
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
