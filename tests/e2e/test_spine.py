"""The spine: what real senders send is stored before it is acknowledged and comes out on every read path."""

import asyncio
import collections
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest
import websockets
from running import Start, wait_until
from senders import Load, exporter, request, send_decision

from dashboard.frames import decode
from weighbridge.supervisor import ENDING

pytestmark = pytest.mark.e2e

DECISION = {
    "decision.node": "gpu-a100-05",
    "weight": 0.62,
    "confidence": 0.64,
    "decision.policy.name": "llm-cost-aware",
    "decision.candidates": ["gpu-a100-05", "gpu-h100-02"],
    "decision.candidate.weights": [0.62, 0.61],
    "decision.candidate.scores": [0.692, 0.669],
}


@pytest.mark.parametrize("transport", ["grpc", "protobuf", "protobuf+gzip", "json"])
def test_a_decision_sent_by_an_official_exporter_comes_out_of_the_api(start: Start, transport: str) -> None:
    """What the exporter reported as sent is in the API at once, since success means stored."""
    running = start("up")
    trace_id, span_id = send_decision(
        exporter(transport, running.grpc, running.http), f"router-{transport}", DECISION
    )
    item = running.get("/api/v1/decisions", limit=1)["items"][0]
    assert (item["trace_id"], item["span_id"]) == (trace_id, span_id)
    assert (item["service"], item["policy"], item["node"]) == (
        f"router-{transport}",
        "llm-cost-aware",
        "gpu-a100-05",
    )
    assert (item["weight"], item["confidence"]) == (0.62, 0.64)
    detail = running.get(f"/api/v1/decisions/{trace_id}/{span_id}")
    assert [c["node"] for c in detail["candidates"]] == ["gpu-a100-05", "gpu-h100-02"]
    spans = running.get(f"/api/v1/traces/{trace_id}")["spans"]
    assert [s["span_id"] for s in spans] == [span_id]


def test_a_decision_reaches_the_websocket_as_a_frame(start: Start) -> None:
    """A viewer who is connected gets the new weight within two seconds."""
    running = start("up")
    uri = f"ws://{running.addresses['web']}/ws/weights"

    async def watch() -> float:
        async with websockets.connect(uri, origin=running.web) as socket:
            sender = asyncio.to_thread(
                send_decision, exporter("grpc", running.grpc, running.http), "router", DECISION
            )
            await sender
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline:
                message = await asyncio.wait_for(socket.recv(), 5)
                if isinstance(message, bytes):
                    values = [round(float(v), 2) for v in decode(message).value]
                    if 0.62 in values:
                        return 0.62
        return 0.0

    assert asyncio.run(watch()) == 0.62


def _stored(running: object, trace_ids: set[str]) -> collections.Counter[tuple[str, str]]:
    found: collections.Counter[tuple[str, str]] = collections.Counter()
    for trace_id in trace_ids:
        for span in running.get(f"/api/v1/traces/{trace_id}")["spans"]:
            found[trace_id, span["span_id"]] += 1
    return found


def test_a_killed_process_loses_nothing_it_acknowledged_and_doubles_nothing(
    start: Start, tmp_path: Path
) -> None:
    """SIGKILL in the middle of a load; after a restart every acknowledged span is there exactly once."""
    running = start("up")
    with Load(running.addresses["otlp-grpc"]) as load:
        wait_until(lambda: len(load.acknowledged) > 2_000, what="an acknowledged load")
        running.kill_all()
    assert load.unanswered, "the kill came after the load had ended"
    again = start("up", data_dir=tmp_path / "data")
    found = _stored(again, {trace_id for trace_id, _ in load.acknowledged})
    missing = [ids for ids in load.acknowledged if found[ids] != 1]
    assert not missing
    assert set(found.values()) == {1}


def test_a_resent_request_is_stored_once(start: Start) -> None:
    """A sender that got no answer sends again; the store keeps one."""
    running = start("up")
    body, ids = request(10)
    for _ in range(3):
        response = httpx2.post(
            f"{running.http}/v1/traces", content=body, headers={"content-type": "application/x-protobuf"}
        )
        assert response.status_code == 200
    found = _stored(running, {ids[0][0]})
    assert len(found) == 10
    assert set(found.values()) == {1}
    source = wait_until(
        lambda: next((s for s in running.get("/api/v1/health")["sources"] if s["duplicated"] == 20), None),
        what="the count of duplicates",
    )
    assert source["accepted"] == 10


def test_sigterm_during_load_ends_in_order_within_ten_seconds(start: Start) -> None:
    """SIGTERM drains: what was acknowledged is kept and the code is 0."""
    running = start("up")
    with Load(running.addresses["otlp-grpc"]) as load:
        wait_until(lambda: len(load.acknowledged) > 500, what="a load")
        begun = time.monotonic()
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(10) == 0
        assert time.monotonic() - begun < 10
    again = start("up")
    found = _stored(again, {trace_id for trace_id, _ in load.acknowledged})
    assert all(found[ids] == 1 for ids in load.acknowledged)


def test_a_second_sigterm_ends_at_once(start: Start) -> None:
    """Nobody has to wait for a drain they do not want."""
    running = start("up")
    children = running.children()
    os.kill(children[0], signal.SIGSTOP)  # this one would take its time
    running.process.send_signal(signal.SIGTERM)
    wait_until(lambda: ENDING in running.lines, what="the first signal to be noticed")
    running.process.send_signal(signal.SIGTERM)
    running.process.wait(5)
    wait_until(
        lambda: not any(Path(f"/proc/{pid}/exe").exists() for pid in children), 3, "the end of the children"
    )


def test_children_end_when_the_supervisor_is_killed(start: Start) -> None:
    """No orphan keeps the ports after a kill of the parent."""
    running = start("up")
    children = running.children()
    os.kill(running.process.pid, signal.SIGKILL)
    running.process.wait(5)
    wait_until(
        lambda: not any(Path(f"/proc/{pid}/exe").exists() for pid in children), 15, "the end of the children"
    )


def test_a_killed_collector_is_started_again_on_the_same_port(start: Start) -> None:
    """The screen stays up and senders find the intake where it was."""
    running = start("up")
    before = dict(running.addresses)
    os.kill(running.children()[0], signal.SIGKILL)
    wait_until(lambda: any("starting it again" in line for line in running.lines), what="the restart")
    assert running.get("/api/v1/health")

    def accepted() -> bool:
        try:
            return httpx2.get(f"{running.http}/healthz", timeout=1).status_code == 200
        except httpx2.HTTPError:
            return False

    wait_until(accepted, what="the collector")
    assert running.addresses == before


def test_the_operations_pages_answer(start: Start) -> None:
    """Health, readiness, Prometheus metrics, the API reference and 404 as JSON."""
    running = start("up")
    assert httpx2.get(f"{running.web}/healthz").status_code == 200
    assert httpx2.get(f"{running.web}/readyz").status_code == 200
    assert "weighbridge_" in httpx2.get(f"{running.web}/metrics").text
    assert httpx2.get(f"{running.web}/api/docs").status_code == 200
    for path in ("/api/v1/nothing", "/api/nothing", "/v1/traces", "/nothing"):
        response = httpx2.get(running.web + path)
        assert response.status_code == 404, path
        assert json.loads(response.text), path
    front = httpx2.get(f"{running.web}/")
    assert front.status_code in (302, 307)
    assert front.headers["location"].startswith("/ui/")


def _fails(arguments: list[str], **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "weighbridge", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr + done.stdout
    return done.stderr + done.stdout


def test_a_taken_port_is_one_clear_line_and_code_two(start: Start, tmp_path: Path) -> None:
    """The line names the address and the option that changes it."""
    running = start("up")
    for option, what in (("--otlp-grpc", "otlp-grpc"), ("--otlp-http", "otlp-http"), ("--web", "web")):
        others = {
            "--otlp-grpc": "127.0.0.1:0",
            "--otlp-http": "127.0.0.1:0",
            "--web": "127.0.0.1:0",
            option: running.addresses[what],
        }
        said = _fails(
            ["up", "--data-dir", str(tmp_path / "other"), *(x for pair in others.items() for x in pair)]
        )
        assert running.addresses[what] in said
        assert option in said


def test_a_store_that_cannot_be_made_is_one_clear_line_and_code_two(tmp_path: Path) -> None:
    """A folder that is a file, and a database that is none."""
    (tmp_path / "file").write_text("not a folder")
    assert str(tmp_path / "file") in _fails(["up", "--data-dir", str(tmp_path / "file")])
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "weighbridge.db").write_text("this is not a database " * 100)
    assert "weighbridge.db" in _fails(["up", "--data-dir", str(tmp_path / "bad")])


def test_a_stale_schema_is_refused_with_the_command_that_upgrades_it(tmp_path: Path) -> None:
    """`collect` and `serve` never migrate by themselves."""
    for command in ("collect", "serve"):
        url = f"sqlite:///{tmp_path / 'empty.db'}"
        said = _fails(
            [
                command,
                "--database",
                url,
                "--otlp-grpc",
                "127.0.0.1:0",
                "--otlp-http",
                "127.0.0.1:0",
                *(["--web", "127.0.0.1:0"] if command == "serve" else []),
            ]
        )
        assert "weighbridge migrate" in said


def test_an_unknown_setting_names_the_nearest_known_one(tmp_path: Path) -> None:
    """In the file, in the environment and as an option."""
    (tmp_path / "w.toml").write_text('otlp_grcp = "127.0.0.1:0"\n')
    assert "otlp_grpc" in _fails(["up", "--config", str(tmp_path / "w.toml")])
    assert "WEIGHBRIDGE_OTLP_GRPC" in _fails(["up"], WEIGHBRIDGE_OTLP_GRCP="127.0.0.1:0")
    assert "--otlp-grpc" in _fails(["up", "--otlp-grcp", "127.0.0.1:0"])
