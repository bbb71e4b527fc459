"""The supervisor, with small real children in place of the real roles."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from running import wait_until

CHILD = """
import os, signal, sys
print("thing listening on 127.0.0.1:5", flush=True)
print("ready", flush=True)
open(sys.argv[1], "a").write(f"{os.getpid()}\\n")
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
sys.stdin.read()
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A program that supervises children given as Python sources on its command line."""
    path = tmp_path / "main.py"
    path.write_text(
        textwrap.dedent("""
        import sys
        from functools import partial
        from weighbridge.supervisor import ChildSpec, Supervisor
        def child(source, known):
            return [sys.executable, "-c", source, sys.argv[1]]
        specs = [ChildSpec(f"child{i}", partial(child, source)) for i, source in enumerate(sys.argv[2:])]
        sys.exit(Supervisor(specs, lambda line: print(line, flush=True)).run())
        """)
    )
    return path


def _pids(file: Path) -> list[int]:
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def _start(script: Path, pids: Path, *sources: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen(
        [sys.executable, str(script), str(pids), *sources], stdout=subprocess.PIPE, text=True, env=environment
    )


def _gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}/exe").exists()


def test_ready_is_said_once_after_all_children_and_a_signal_ends_them(script: Path, tmp_path: Path) -> None:
    """The lines of the children are passed on; the code is 0."""
    pids = tmp_path / "pids"
    process = _start(script, pids, CHILD, CHILD)
    assert process.stdout
    lines = [process.stdout.readline().strip() for _ in range(3)]
    assert lines == ["thing listening on 127.0.0.1:5", "thing listening on 127.0.0.1:5", "ready"]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=15)
    assert process.returncode == 0
    assert all(_gone(pid) for pid in _pids(pids))


def test_a_child_that_dies_is_started_again(script: Path, tmp_path: Path) -> None:
    """And the other one is left alone."""
    pids = tmp_path / "pids"
    process = _start(script, pids, CHILD, CHILD)
    wait_until(lambda: len(_pids(pids)) == 2)
    first, second = _pids(pids)
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: len(_pids(pids)) == 3)
    assert not _gone(second)
    process.terminate()
    output, _ = process.communicate(timeout=15)
    assert "child0 ended with code -9; starting it again" in output
    assert process.returncode == 0


def test_a_child_that_dies_again_and_again_is_given_up(script: Path, tmp_path: Path) -> None:
    """The command ends with a code that says failure, after five times within a minute."""
    process = _start(script, tmp_path / "pids", "print('ready', flush=True)")
    output, _ = process.communicate(timeout=60)
    assert "giving up" in output
    assert process.returncode == 1


FLAKY = """
import os, sys
mine = f"{os.getpid()}\\n"
open(sys.argv[1], "a").write(mine)
if len(open(sys.argv[1]).readlines()) == 2:
    sys.exit(1)
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_child_that_dies_while_it_starts_again_is_started_once_more(script: Path, tmp_path: Path) -> None:
    """Two kills in a row must not end the others with it."""
    pids = tmp_path / "pids"
    process = _start(script, pids, FLAKY)
    wait_until(lambda: len(_pids(pids)) == 1)
    os.kill(_pids(pids)[0], signal.SIGKILL)
    wait_until(lambda: len(_pids(pids)) == 3)
    process.terminate()
    output, _ = process.communicate(timeout=15)
    assert "child0 ended with code 1; starting it again" in output
    assert process.returncode == 0


SLOW = """
import os, signal, sys
open(sys.argv[1], "a").write(f"{os.getpid()}\\n")
print("begun", flush=True)
sys.stdin.read()
"""


def _started_slowly(script: Path, pids: Path, slow: str) -> "subprocess.Popen[str]":
    process = _start(script, pids, CHILD, slow)
    assert process.stdout
    while process.stdout.readline().strip() != "begun":
        assert process.poll() is None
    return process


def test_a_signal_reaches_a_child_that_is_still_starting(script: Path, tmp_path: Path) -> None:
    """Nobody waits for a start that was called off, and none of the children stays."""
    pids = tmp_path / "pids"
    process = _started_slowly(script, pids, SLOW)
    process.terminate()
    process.communicate(timeout=15)
    assert process.returncode == 0
    assert all(_gone(pid) for pid in _pids(pids))


def test_a_second_signal_ends_a_start_that_hangs(script: Path, tmp_path: Path) -> None:
    """Also when the child that hangs heeds no signal."""
    pids = tmp_path / "pids"
    ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint"
    process = _started_slowly(script, pids, SLOW.replace("print", ignore))
    wait_until(lambda: process.poll() is not None or process.terminate() is not None, 10)
    process.communicate(timeout=5)
    assert all(_gone(pid) for pid in _pids(pids))


def test_a_child_that_cannot_start_ends_the_command_with_its_code(script: Path, tmp_path: Path) -> None:
    """Code 2 means wrong use or surroundings, and passes through; earlier children are ended."""
    pids = tmp_path / "pids"
    process = _start(script, pids, CHILD, "import sys; sys.exit(2)")
    process.communicate(timeout=30)
    assert process.returncode == 2
    assert all(_gone(pid) for pid in _pids(pids))
