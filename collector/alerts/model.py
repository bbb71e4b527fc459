"""What an alert is, and what happens to it. Pure."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

MAX_VALUE = 1024
"""Longest label or annotation value in characters; names come from senders and end up in messages."""

EventKind = Literal["open", "update", "resolve"]


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert: what it is about (labels) and what it says (annotations), all strings.

    ``value`` is the weight it last spoke of. ``ends_unix_nano`` is None while it fires.
    """

    rule: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    value: float
    starts_unix_nano: int
    ends_unix_nano: int | None = None

    @property
    def fingerprint(self) -> str:
        """16 hex digits that equal labels share."""
        return fingerprint_of(self.labels)

    @property
    def firing(self) -> bool:
        """Whether it still fires."""
        return self.ends_unix_nano is None


@dataclass(frozen=True, slots=True)
class Event:
    """A change of one alert; ``alert`` is as it is after the change."""

    kind: EventKind
    alert: Alert


def fingerprint_of(labels: Mapping[str, str]) -> str:
    """16 hex digits of a hash over the sorted labels; lengths keep ("ab", "c") apart from ("a", "bc")."""
    digest = hashlib.sha256()
    for pair in sorted(labels.items()):
        for text in pair:
            raw = text.encode("utf-8", "replace")
            digest.update(len(raw).to_bytes(8, "little") + raw)
    return digest.hexdigest()[:16]


def short(text: str, limit: int = MAX_VALUE) -> str:
    """``text`` cut to ``limit`` characters, with an ellipsis where something went."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
