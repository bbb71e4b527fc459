"""The simulated fleet: N nodes of four accelerators over three zones, scaled to a load."""

from dataclasses import dataclass, replace

from .node import DECODE_S, ITERATION_S, PREFILL_TOKENS_PER_S

LARGE_MODEL = "llama-3.3-70b"
SMALL_MODELS = ("qwen3-32b", "mistral-small-3.2", "deepseek-r1-14b")
ZONES = ("eu-west-2a", "eu-west-2b", "eu-west-2c")
_REFERENCE_BATCH = 32


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """One node as built. ``speed`` is relative to the model's reference node, ``memory`` in tokens.

    ``rtt`` is the way to the node and back in seconds. ``models`` is what it serves.
    """

    name: str
    accelerator: str
    zone: str
    speed: float
    memory: int
    rtt: float
    models: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Kind:
    short: str
    label: str
    speed: float
    memory: int
    large: bool


_KINDS = (
    _Kind("h100", "nvidia.com/gpu: h100", 1.5, 96_000, large=True),
    _Kind("a100", "nvidia.com/gpu: a100", 1.0, 64_000, large=True),
    _Kind("l40s", "nvidia.com/gpu: l40s", 0.8, 48_000, large=False),
    _Kind("a10", "nvidia.com/gpu: a10", 0.55, 32_000, large=False),
)


def build_fleet(nodes: int) -> tuple[NodeSpec, ...]:
    """``nodes`` >= 1 specs by accelerator and number: a quarter of each, the faster ones take the rest.

    The same number always gives the same fleet. Raises ValueError below 1.
    """
    if nodes < 1:
        raise ValueError("a fleet has at least one node")
    specs = []
    for place, kind in enumerate(_KINDS):
        count = nodes // len(_KINDS) + (place < nodes % len(_KINDS))
        models = frozenset((*SMALL_MODELS, LARGE_MODEL) if kind.large else SMALL_MODELS)
        for number in range(1, count + 1):
            # Parts of one make differ a little; a fixed spread keeps the fleet the same for every seed.
            speed = kind.speed * (0.94 + 0.12 * ((number * 7 + place) % 11) / 10.0)
            rtt = 0.001 + 0.007 * ((number * 5 + place * 3) % 13) / 12.0
            zone = ZONES[(number + place) % len(ZONES)]
            name = f"gpu-{kind.short}-{number:02d}"
            specs.append(NodeSpec(name, kind.label, zone, speed, kind.memory, rtt, models))
    return tuple(specs)


def request_cost(prompt: float, output: float) -> float:
    """Seconds of a node of speed 1 that a request takes in a batch of 32; lengths in tokens."""
    iteration = ITERATION_S + DECODE_S * _REFERENCE_BATCH
    return prompt / PREFILL_TOKENS_PER_S + output * iteration / _REFERENCE_BATCH


def scale_to_load(fleet: tuple[NodeSpec, ...], rate: float, cost: float, load: float) -> tuple[NodeSpec, ...]:
    """The fleet with all speeds multiplied so that ``rate`` requests/s of ``cost`` seconds make up ``load``.

    ``load`` in (0, 1] is the share of the capacity in use; all arguments above 0, else ValueError. This is
    how one trace keeps any number of nodes busy: the machines become slower or faster, the requests
    stay as they were.
    """
    if not (rate > 0 and cost > 0 and 0 < load <= 1):
        raise ValueError("rate and cost must be above 0, load in (0, 1]")
    factor = rate * cost / (load * sum(spec.speed for spec in fleet))
    return tuple(replace(spec, speed=spec.speed * factor) for spec in fleet)
