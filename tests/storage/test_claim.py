"""One collector for each store, however the one before ended."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from storage.claim import claimed
from storage.database import Database
from storage.errors import StoreUnusableError

HOLDER = """
import sys
from storage.claim import claimed
from storage.database import Database
with claimed(Database(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def address(tmp_path: Path) -> str:
    """Where a store would be; a claim needs only its folder."""
    return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.fixture
def holder(address):
    """Another process that holds the claim."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    with process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_process_is_refused_and_told_who_writes(address, holder):
    """Two collectors would each send every alert."""
    refused = pytest.raises(StoreUnusableError, match=rf"process {holder.pid}\).*--data-dir")
    with refused, claimed(Database(address), patience_s=0.0):
        pass


def test_a_killed_process_leaves_no_claim(address, holder):
    """The system gives the claim back, so a restart needs nobody's help."""
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with claimed(Database(address), patience_s=0.0):
        pass


def test_a_claim_waits_for_the_collector_that_is_ending(address, holder):
    """A restart may overlap with the end of the one before."""
    threading.Timer(0.2, holder.kill).start()
    with claimed(Database(address), patience_s=10.0):
        assert holder.wait() != 0


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    """As a store that is unusable, not as a traceback."""
    database = Database(f"sqlite:///{tmp_path / 'missing' / 'store.db'}")
    with pytest.raises(StoreUnusableError, match="cannot be claimed"), claimed(database):
        pass
