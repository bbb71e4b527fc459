"""Benchmarks: the figures of docs/performance.md, each beside a reference measured in the same run.

`run_bench` is what `weighbridge bench` calls. A benchmark starts the real processes on free ports in a
fresh folder, loads them from a process of its own, and removes everything at the end. Linux only, since
CPU time and memory of other processes are read from /proc.
"""

import platform
import sys
from collections.abc import Callable, Mapping

import orjson

from weighbridge.bench.cluster import bench_demo
from weighbridge.bench.intake import bench_intake
from weighbridge.bench.live import bench_live
from weighbridge.errors import UsageError

Progress = Callable[[str], None]
Figures = Mapping[str, float | int | str | None]
_BENCHES: dict[str, Callable[[float | None, Progress], Figures]] = {
    "intake": bench_intake,
    "live": bench_live,
    "demo": bench_demo,
}


def run_bench(name: str, *, seconds: float | None, as_json: bool, progress: Progress) -> str:
    """Run one benchmark, or ``all``; its figures as JSON or as a table of name and value.

    ``seconds`` is the length of each load (default: what docs/performance.md says). Raises UsageError for
    an unknown name.
    """
    names = list(_BENCHES) if name == "all" else [name]
    if any(n not in _BENCHES for n in names):
        raise UsageError(f"no benchmark is called {name!r}; there are {', '.join(_BENCHES)} and all")
    if not sys.platform.startswith("linux"):
        raise UsageError("benchmarks read CPU time from /proc and so need Linux")
    results = {n: dict(_BENCHES[n](seconds, progress)) for n in names}
    if as_json:
        return orjson.dumps(results[name] if name != "all" else results, option=orjson.OPT_INDENT_2).decode()
    lines = [f"Python {platform.python_version()}, {platform.machine()}, {_processor()}"]
    for bench, figures in results.items():
        lines += [f"{bench}:", *(f"  {key:36} {_show(value)}" for key, value in figures.items())]
    return "\n".join(lines)


def _show(value: float | str | None) -> str:
    return "not measured" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def _processor() -> str:
    with open("/proc/cpuinfo") as info:  # noqa: PTH123 - a kernel file
        models = [line.partition(":")[2].strip() for line in info if line.startswith("model name")]
    return f"{len(models)} x {models[0] if models else 'unknown processor'}"
