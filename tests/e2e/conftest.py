"""Starts the real program on free ports and ends it whatever happens."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from running import Running, Start, await_ready, end, launch


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
        running = launch(tmp_path, command, *options, config=config, data_dir=data_dir)
        started.append(running)
        return await_ready(running, tmp_path) if ready else running

    yield run
    for running in started:
        end(running)
