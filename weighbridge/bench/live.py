"""From the end of a decision to its painted cell, in a real Chromium, with more viewers beside it.

The page measures without comparing clocks: age of the newest weight when the server encoded it, plus the
time from receiving to painting, plus half the round trip of a ping.
"""

import asyncio
import shutil
import struct
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import websockets

from weighbridge.bench.processes import program, usage
from weighbridge.errors import UsageError

_DEFAULT_S = 60.0
_VIEWERS = 20
_SETTLE_S = 10.0
_FIRST_FRAME_S = 30.0
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_SEQUENCE = struct.Struct("<I")
_SEQUENCE_AT = 12


def bench_live(
    seconds: float | None, progress: Callable[[str], None]
) -> Mapping[str, float | int | str | None]:
    """Open Live on a running demo with 20 more WebSocket viewers and read the page's own measurements.

    ``missed_frames`` counts gaps in the frame sequence, over the browser and all other viewers.
    """
    length = seconds or _DEFAULT_S
    browser = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        raise UsageError("the live benchmark drives a real Chromium and none was found; install chromium")
    with program("demo", "--web", "127.0.0.1:0") as running:
        progress(f"watching Live for {length:.0f} s with {_VIEWERS} more viewers")
        return asyncio.run(_measure(running.addresses["web"], running.pid, browser, length))


async def _measure(
    web: str, pid: int, browser: str, seconds: float
) -> Mapping[str, float | int | str | None]:
    from playwright.async_api import async_playwright  # noqa: PLC0415 - a development dependency

    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=browser, args=_FLAGS)
        page = await chromium.new_page(viewport={"width": 1440, "height": 900})
        begun = time.monotonic()
        await page.goto(f"http://{web}/ui/live")
        while not await page.evaluate("(window.__weighbridgeLive || {frames: 0}).frames"):
            await asyncio.sleep(0.01)  # the page's content policy forbids playwright's own waiting
            if time.monotonic() - begun > _FIRST_FRAME_S:
                raise UsageError("no frame was painted; is the dashboard well?")
        first_paint = time.monotonic() - begun
        await asyncio.sleep(_SETTLE_S)
        start = await page.evaluate("({f: __weighbridgeLive.frames, m: __weighbridgeLive.missed})")
        server, chrome = usage(pid), await _browser_cpu(page)
        viewers = await asyncio.gather(*(_viewer(web, seconds) for _ in range(_VIEWERS)))
        cpu = usage(pid).cpu_s - server.cpu_s
        browser_cpu = (await _browser_cpu(page)) - chrome
        end: dict[str, Any] = await page.evaluate(
            "({f: __weighbridgeLive.frames, m: __weighbridgeLive.missed, lag: __weighbridgeLive.lagMs,"
            " paint: __weighbridgeLive.paintMs})"
        )
        await chromium.close()
    return {
        "lag_ms_p50": float(np.percentile(end["lag"], 50)),
        "lag_ms_p95": float(np.percentile(end["lag"], 95)),
        "paint_ms_p95": float(np.percentile(end["paint"], 95)),
        "frames_per_s": (end["f"] - start["f"]) / seconds,
        "missed_frames": int(end["m"] - start["m"]) + sum(missed for missed, _ in viewers),
        "viewer_frames_per_s": min(frames for _, frames in viewers) / seconds,
        "viewers": _VIEWERS,
        "browser_cpu_pct": browser_cpu / seconds * 100,
        "demo_cpu_pct_with_viewers": cpu / seconds * 100,
        "first_paint_s": first_paint,
        "seconds": seconds,
    }


async def _viewer(web: str, seconds: float) -> tuple[int, int]:
    """Missed and received frames of one viewer."""
    missed, frames, last = 0, 0, None
    deadline = time.monotonic() + seconds
    async with websockets.connect(
        f"ws://{web}/ws/weights", origin=websockets.Origin(f"http://{web}")
    ) as socket:
        while (left := deadline - time.monotonic()) > 0:
            try:
                message = await asyncio.wait_for(socket.recv(), left)
            except TimeoutError:
                break
            if isinstance(message, str):
                continue
            sequence = _SEQUENCE.unpack_from(message, _SEQUENCE_AT)[0]
            missed += sequence - last - 1 if last is not None and sequence > last else 0
            last, frames = sequence, frames + 1
    return missed, frames


async def _browser_cpu(page: Any) -> float:
    """CPU seconds of the page's own thread, from the browser's counters."""
    session = await page.context.new_cdp_session(page)
    await session.send("Performance.enable", {"timeDomain": "timeTicks"})
    metrics = (await session.send("Performance.getMetrics"))["metrics"]
    await session.detach()
    return float(next(m["value"] for m in metrics if m["name"] == "ProcessTime"))
