"""What the README says to type does what the README says it does."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from running import START_S, Running, Start, follow, wait_until

pytestmark = pytest.mark.e2e
ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_example_that_embeds_the_engine_puts_its_decision_on_the_screen(
    start: Start, tmp_path: Path
) -> None:
    """The block is pasted as it stands, less the port of the test's collector."""
    running = start("up")
    block = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert block
    assert len(block[1].splitlines()) <= 25
    script = tmp_path / "embed.py"
    script.write_text(block[1].replace("127.0.0.1:4317", running.addresses["otlp-grpc"]))
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=60, check=True, cwd=ROOT
    )
    said = re.match(r"(gpu-\d): weight (\d\.\d\d), confidence (\d\.\d\d)", done.stdout)
    assert said, done.stdout
    item = running.get("/api/v1/decisions")["items"][0]
    assert item["service"] == "my-gateway"
    assert (item["node"], f"{item['weight']:.2f}", f"{item['confidence']:.2f}") == said.groups()
    again = wait_until(lambda: running.get("/api/v1/decisions")["items"][0]["outcome"], what="the outcome")
    assert again == "ok"


def test_make_run_starts_the_demo_and_the_addresses_are_printed_as_the_readme_shows(tmp_path: Path) -> None:
    """`make run`, on free ports by the environment, decides about 64 nodes and ends in order."""
    environment = {
        **os.environ,
        "WEIGHBRIDGE_DATA_DIR": str(tmp_path),
        **{f"WEIGHBRIDGE_{name}": "127.0.0.1:0" for name in ("OTLP_GRPC", "OTLP_HTTP", "WEB")},
    }
    with (tmp_path / "stderr.log").open("w") as log:
        process = subprocess.Popen(
            ["make", "run"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment,
            start_new_session=True,
        )
    running = Running(process)
    threading.Thread(target=follow, args=(running,), daemon=True).start()
    try:
        assert running.ready.wait(START_S * 2)
        assert [*running.addresses] == ["otlp-grpc", "otlp-http", "web"], (
            tmp_path / "stderr.log"
        ).read_text()
        weights = wait_until(
            lambda: (w := running.get("/api/v1/weights")["items"]) and len({i["node"] for i in w}) >= 60 and w
        )
        assert all(0 <= item["weight"] <= 1 for item in weights)
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(20)
        running.client.close()
        running.ended.wait(5)
        assert process.stdout
        process.stdout.close()
