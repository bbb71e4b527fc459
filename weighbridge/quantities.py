"""Quantities as people write them in settings: addresses, durations and sizes."""

import re
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer
from pydantic_settings import NoDecode

_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|min|h|d|w)\s*")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(b|kb|kib|mb|mib|gb|gib|tb|tib)?\s*", re.IGNORECASE)
_BYTES = {
    "b": 1,
    "kb": 10**3,
    "kib": 2**10,
    "mb": 10**6,
    "mib": 2**20,
    "gb": 10**9,
    "gib": 2**30,
    "tb": 10**12,
    "tib": 2**40,
}
_MAX_PORT = 65535
_LONGEST_S = 100 * 366 * 86400.0
"""A hundred years, in nanoseconds well within 64 bits."""

_LARGEST = 2**50
"""A pebibyte; more is a slip of the pen that would fail later, somewhere else."""


@dataclass(frozen=True, slots=True)
class Address:
    """A listening address. Port 0 lets the system choose one."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Read ``HOST:PORT`` or ``[IPV6]:PORT``. Raises ValueError that says what is expected."""
        host, colon, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not colon or not host or not port.isdecimal() or int(port) > _MAX_PORT:
            raise ValueError(
                f"expected HOST:PORT with a port of 0 to 65535, such as 127.0.0.1:4317, not {text!r}"
            )
        return cls(host, int(port))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_duration(text: str) -> float:
    """Read a duration such as ``90s``, ``12h`` or ``7d``; seconds. Raises ValueError."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a duration such as 90s, 12h or 7d, not {text!r}")
    return float(match[1]) * _SECONDS[match[2]]


def parse_size(text: str) -> int:
    """Read a size such as ``2GiB`` or ``500 MB``; bytes. Raises ValueError."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a size such as 2GiB or 500MB, not {text!r}")
    return int(float(match[1]) * _BYTES[(match[2] or "b").lower()])


def _read(parse: Any) -> BeforeValidator:
    return BeforeValidator(lambda value: parse(value) if isinstance(value, str) else value)


AddressSetting = Annotated[Address, NoDecode, _read(Address.parse), PlainSerializer(str)]
Seconds = Annotated[float, _read(parse_duration), Field(le=_LONGEST_S, allow_inf_nan=False)]
ByteSize = Annotated[int, _read(parse_size), Field(le=_LARGEST)]
