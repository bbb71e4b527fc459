"""How hard a node is pressed: 0.40 CPU + 0.35 latency jitter + 0.25 I/O wait.

Whoever reports samples CPU utilisation often (every 10 ms, say), jitter and the I/O wait share less often (50
and 100 ms), so the three parts have different ages; a pressure is as old as its oldest part.
"""

from dataclasses import dataclass

from .reading import Reading


def pressure(cpu: float, jitter: float, io_wait: float) -> float:
    """Pressure in [0, 1] of three shares in [0, 1]; shares outside are clamped."""
    return 0.40 * _share(cpu) + 0.35 * _share(jitter) + 0.25 * _share(io_wait)


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))


@dataclass(frozen=True, slots=True)
class Pressure:
    """The pressure of a node from its three readings.

    ``jitter_scale_ms`` is the latency jitter that counts as full.
    """

    jitter_scale_ms: float = 15.0

    def read(self, cpu: Reading, jitter_ms: Reading, io_wait: Reading) -> Reading:
        """Combine the readings; the result carries the oldest of their times."""
        value = pressure(cpu.value, jitter_ms.value / self.jitter_scale_ms, io_wait.value)
        return Reading(value, min(cpu.taken_ns, jitter_ms.taken_ns, io_wait.taken_ns))
