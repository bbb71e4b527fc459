"""Kills and concurrent processes: what was acknowledged is there once, and nothing is half there."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import select

import storage
from storage import tables
from storage.database import Database
from storage.queries import Reader
from storage.records import DecisionQuery, TimeRange

CHILD = """
import runpy, sys
kit = runpy.run_path(sys.argv[1])
from storage.database import Database
from storage.writer import Writer
Said, batch_of, START = kit["Said"], kit["batch_of"], kit["START"]
writer = Writer(Database(sys.argv[2]), lambda: START)
turn = int(sys.argv[3])
while True:
    said = [Said(trace=turn, span=i, node="a", weight=1.0, outcome="ok", latency_ms=1.0, experiment="e", variant="v",
                 attributes={"pad": "x" * 500}) for i in range(1, 41)]
    writer.write([batch_of(said)])
    print(turn, flush=True)
    turn += 1
"""

READER = """
import sys
from storage.database import Database
from storage.queries import Reader
from storage.records import DecisionQuery, TimeRange
reader = Reader(Database(sys.argv[1]))
for line in sys.stdin:
    rows = reader.decisions(DecisionQuery(), limit=1000).items
    chosen = sum(p.chosen for p in reader.weight_history(TimeRange(0, 2**62)))
    print(len(rows), chosen, reader.data_version(), flush=True)
"""


@pytest.fixture
def environment():
    return os.environ | {"PYTHONPATH": str(Path(storage.__file__).parents[1])}


def test_a_kill_in_the_middle_of_a_write_loses_no_acknowledged_span(database, kit, environment):
    """Killed again and again, the store opens, holds every acknowledged batch whole, and none in part."""
    acknowledged, turn = set(), 1
    for kill_after in (1, 3, 8):
        command = [
            sys.executable,
            "-c",
            CHILD,
            str(Path(__file__).with_name("conftest.py")),
            database.url,
            str(turn),
        ]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(kill_after):
            acknowledged.add(int(child.stdout.readline()))
        child.send_signal(signal.SIGKILL)
        acknowledged.update(int(line) for line in child.stdout.read().split())
        child.wait()
        child.stdout.close()
        turn = max(acknowledged) + 2  # the one that was under way may be there or not
        check_whole(database, kit, acknowledged)


def check_whole(database, kit, acknowledged):
    opened = Database(database.url)
    with opened.read() as connection:
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"
        keys = connection.execute(select(tables.span.c.key)).scalars().all()
    found = {}
    for key in keys:
        found.setdefault(int.from_bytes(key[:16], "big"), []).append(key)
    assert set(found) >= acknowledged
    assert all(len(spans) == len(set(spans)) == 40 for spans in found.values())
    reader = Reader(opened)
    total = 40 * len(found)
    assert reader.count_decisions(DecisionQuery(outcome="ok")) == total
    (point,) = reader.weight_history(TimeRange(0, 2**62))
    (arm,) = reader.experiments()[0].arms
    assert point.chosen == arm.exposures == arm.outcomes == reader.health().store.spans == total
    opened.dispose()


def test_another_process_reads_while_this_one_writes(database, kit, writer, environment):
    """A reader elsewhere sees whole batches only, at once, and is never in the way."""
    child = subprocess.Popen(
        [sys.executable, "-c", READER, database.url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    versions = []
    for turn in range(1, 13):
        writer.write([kit.batch_of([kit.Said(trace=turn, span=i, node="a") for i in range(1, 11)])])
        child.stdin.write("\n")
        child.stdin.flush()
        rows, chosen, version = map(int, child.stdout.readline().split())
        assert rows == chosen == 10 * turn
        versions.append(version)
    child.stdin.close()
    assert child.wait(timeout=30) == 0
    child.stdout.close()
    assert len(set(versions)) == len(versions)
