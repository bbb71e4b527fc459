"""What `weighbridge demo` costs as a whole: CPU of all its processes and their memory over time."""

import time
from collections.abc import Callable, Mapping

import httpx2
import numpy as np

from weighbridge.bench.processes import Peak, program, usage

_DEFAULT_S = 600.0
_WARM_S = 20.0


def bench_demo(
    seconds: float | None, progress: Callable[[str], None]
) -> Mapping[str, float | int | str | None]:
    """Run the demo at 64 nodes and 100 decisions a second with no viewer, after a warm-up.

    ``cpu_pct`` is of one core. ``rss_growth_mb_per_h`` is the slope of a line through the resident memory of
    the second half of the run.
    """
    length = seconds or _DEFAULT_S
    with program("demo", "--web", "127.0.0.1:0", "--nodes", "64", "--speed", "1") as running:
        time.sleep(_WARM_S)
        progress(f"watching the demo for {length:.0f} s")
        before, begun = usage(running.pid), time.monotonic()
        decisions = _decisions(running.addresses["web"])
        with Peak(running.pid, 1.0) as peak:
            time.sleep(length)
        spent, elapsed = usage(running.pid).cpu_s - before.cpu_s, time.monotonic() - begun
        made = _decisions(running.addresses["web"]) - decisions
    half = peak.samples[len(peak.samples) // 2 :]
    slope = (
        float(np.polyfit(np.arange(len(half)), np.array(half) / 1e6, 1)[0]) * 3600 if len(half) > 2 else None
    )
    return {
        "cpu_pct": spent / elapsed * 100,
        "decisions_per_s": made / elapsed,
        "rss_mb_first": peak.samples[0] / 1e6,
        "rss_mb_last": peak.samples[-1] / 1e6,
        "rss_growth_mb_per_h": slope,
        "seconds": elapsed,
    }


def _decisions(web: str) -> int:
    health = httpx2.get(f"http://{web}/api/v1/health", timeout=10).json()
    return sum(int(source["decisions"]) for source in health["sources"])
