"""The one table from configured name to factory."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from .confidence import MarginConfidence
from .errors import ConfigurationError
from .filters import (
    AcceleratorFilter,
    BreakerFilter,
    HealthFilter,
    KvCapacityFilter,
    ModelFilter,
    QueueCapacityFilter,
)
from .pickers import ArgmaxPicker, TwoChoicesPicker, WeightedRandomPicker
from .scorers import (
    KvRoomScorer,
    LatencyScorer,
    NodeWeightScorer,
    PrefixAffinityScorer,
    QueueDepthScorer,
    ReliabilityScorer,
)
from .weights import JointWeight, LatencyWeight

REGISTRY: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    "filter": {
        "health": HealthFilter,
        "breaker": BreakerFilter,
        "model": ModelFilter,
        "accelerator": AcceleratorFilter,
        "queue_capacity": QueueCapacityFilter,
        "kv_capacity": KvCapacityFilter,
    },
    "scorer": {
        "weight": NodeWeightScorer,
        "latency": LatencyScorer,
        "queue_depth": QueueDepthScorer,
        "kv_room": KvRoomScorer,
        "prefix_affinity": PrefixAffinityScorer,
        "reliability": ReliabilityScorer,
    },
    "picker": {
        "argmax": ArgmaxPicker,
        "weighted_random": WeightedRandomPicker,
        "two_choices": TwoChoicesPicker,
    },
    "weight": {
        "joint": JointWeight,
        "inverse_sensitivity": lambda: JointWeight("inverse_sensitivity"),
        "latency": LatencyWeight,
    },
    "confidence": {
        "margin": MarginConfidence,
    },
}
"""Kind of plug-in, then configured name, then factory; a factory takes the plug-in's fields by name."""


def make(kind: str, name: str, parameters: Mapping[str, Any] | None = None) -> Any:
    """Build a plug-in; ConfigurationError names the nearest known name, or the parameter it refuses."""
    table = REGISTRY[kind]
    factory = table.get(name)
    if factory is None:
        near = get_close_matches(name, table, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(table)}"
        raise ConfigurationError(f"no {kind} is named {name!r}; {hint}")
    try:
        return factory(**(parameters or {}))
    except TypeError as error:
        raise ConfigurationError(f"{kind} {name!r}: {error}") from error
