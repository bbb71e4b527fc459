"""Profiles from configuration, and the default one."""

from collections.abc import Mapping, Sequence
from typing import Any

from .errors import ConfigurationError
from .profile import Profile
from .registry import make
from .semconv import DEFAULT_POLICY

DEFAULT_FILTERS = ("health", "breaker", "model", "accelerator", "queue_capacity", "kv_capacity")
DEFAULT_SCORERS: Mapping[str, float] = {
    "weight": 0.30,
    "queue_depth": 0.25,
    "latency": 0.15,
    "reliability": 0.15,
    "prefix_affinity": 0.10,
    "kv_room": 0.05,
}

_KEYS = {"name", "version", "filters", "scorers", "picker", "weights", "confidence"}
Entry = str | Mapping[str, Any]


def default_profile(name: str = DEFAULT_POLICY, **changes: Any) -> Profile:
    """The profile that is used when none is given; ``changes`` are keys of ``build_profile``."""
    return build_profile({"name": name, **changes})


def build_profile(config: Mapping[str, Any]) -> Profile:
    """Build a profile from plain values, every key optional.

    ``name``, ``version``: text. ``filters``: list of entries. ``scorers``: name to weight, or a list of
    entries with a ``weight``. ``picker``, ``weights``, ``confidence``: an entry. An entry is a name, or a
    mapping with ``name`` and the plug-in's parameters. ConfigurationError says what cannot be used.
    """
    if unknown := set(config) - _KEYS:
        raise ConfigurationError(f"unknown keys in a profile: {', '.join(sorted(unknown))}")
    return Profile(
        str(config.get("name", DEFAULT_POLICY)),
        _scorers(config.get("scorers", DEFAULT_SCORERS)),
        filters=[_made("filter", entry) for entry in config.get("filters", DEFAULT_FILTERS)],
        picker=_made("picker", config.get("picker", "argmax")),
        weights=_made("weight", config.get("weights", "joint")),
        confidence=_made("confidence", config.get("confidence", "margin")),
        version=str(config.get("version", "1")),
    )


def _scorers(entries: Mapping[str, float] | Sequence[Mapping[str, Any]]) -> list[tuple[Any, float]]:
    if isinstance(entries, Mapping):
        return [(make("scorer", name), float(weight)) for name, weight in entries.items()]
    found = []
    for entry in entries:
        parameters = dict(entry)
        if "weight" not in parameters:
            raise ConfigurationError(f"scorer {parameters.get('name')!r} needs a weight")
        weight = float(parameters.pop("weight"))
        found.append((_made("scorer", parameters), weight))
    return found


def _made(kind: str, entry: Entry) -> Any:
    if isinstance(entry, str):
        return make(kind, entry)
    parameters = dict(entry)
    name = parameters.pop("name", None)
    if not isinstance(name, str):
        raise ConfigurationError(f"a {kind} needs a name")
    return make(kind, name, parameters)
