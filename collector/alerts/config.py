"""What the alerts are built from; secrets stay out of its repr."""

import base64
import binascii
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from collector.alerts.rules import DriftRule

BodyFormat = Literal["alertmanager", "standard"]
SECRET_PREFIX = "whsec_"  # noqa: S105  # the public prefix of the format, not a secret


@dataclass(frozen=True, slots=True)
class Destination:
    """One webhook.

    ``secrets`` sign every message, each giving one signature, so that a secret can be rotated; without
    any, messages go unsigned. ``allow_private`` lets the address be private, link-local or loopback.
    Raises ValueError for another scheme and for a secret that is not ``whsec_`` and base64 of 24 to 64 bytes.
    """

    name: str
    url: str
    secrets: tuple[str, ...] = field(default=(), repr=False)
    format: BodyFormat = "alertmanager"
    allow_private: bool = False

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"destination {self.name!r}: the address must begin with https:// or http://")
        for secret in self.secrets:
            key_of(secret)


@dataclass(frozen=True, slots=True)
class AlertsConfig:
    """Rules and destinations, each destination told of every alert.

    ``external_url`` is the dashboard's address as people reach it. A second is judged ``settle_s`` after
    it began, when its spans have been stored, and no later than ``late_s`` after.
    """

    rules: tuple[DriftRule, ...] = ()
    destinations: tuple[Destination, ...] = ()
    external_url: str = ""
    interval_s: float = 1.0
    settle_s: int = 2
    late_s: int = 10

    def __post_init__(self) -> None:
        for what, names in (
            ("rules", [r.name for r in self.rules]),
            ("destinations", [d.name for d in self.destinations]),
        ):
            if len(set(names)) != len(names):
                raise ValueError(f"two {what} have the same name")


def key_of(secret: str) -> bytes:
    """The signing key inside a ``whsec_`` secret; ValueError tells what is wrong, never the secret."""
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("a webhook secret is whsec_ followed by base64") from None
    if not secret.startswith(SECRET_PREFIX) or not 24 <= len(key) <= 64:
        raise ValueError("a webhook secret is whsec_ followed by base64 of 24 to 64 bytes")
    return key
