"""One process: its log, and what asks it to end."""

import os
import subprocess
import sys
from datetime import UTC, datetime

PROGRAM = """
import logging
from weighbridge.running import run
async def main(stop):
    logging.getLogger("x").warning("said")
    if not stop.is_set():
        await stop.wait()
run(main, supervised=True, log_level="info")
"""


def test_the_log_is_in_utc_and_the_end_of_standard_input_ends_a_supervised_process() -> None:
    """A time with a Z is UTC on a machine far from it, and an orphan does not stay."""
    before = datetime.now(UTC).replace(microsecond=0)
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        env={**os.environ, "TZ": "Pacific/Kiritimati"},
        check=True,
    )
    stated, _, rest = ended.stderr.strip().partition("Z ")
    assert rest == "WARNING x: said"
    logged = datetime.strptime(stated, "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC)
    assert before <= logged <= datetime.now(UTC)
