"""Numbers, units and times as the interface writes them.

Sentence rules in one place: a unit always follows its number after a space, minus is the true minus
sign, thousands are grouped, times are UTC with 24 hours, and what is unknown says so instead of zero.
"""

import math
import re
from datetime import UTC, datetime
from typing import Final

UNKNOWN: Final = "unknown"
MINUS: Final = "−"  # the true minus sign
NANO: Final = 1_000_000_000

_BINARY: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_EARLIEST_NANO: Final = 0
_LATEST_NANO: Final = 4_102_444_800 * NANO  # the year 2100: a later instant in an address is a typing error
_UNIX_SECONDS: Final = re.compile(r"\d{1,10}(\.\d{1,9})?")


def _minus(text: str) -> str:
    return MINUS + text[1:] if text.startswith("-") else text


def count(value: float | None) -> str:
    """A count with grouped thousands: 14,206. Unknown for None and for what is not finite."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return _minus(f"{round(value):,}")


def decimal(value: float | None, digits: int = 2) -> str:
    """A number with a fixed count of digits after the point: 0.62."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return _minus(f"{value:,.{digits}f}")


def signed(value: float | None, digits: int = 2) -> str:
    """A difference that always bears its sign: +1.8, −0.3; zero has none."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    text = f"{value:+,.{digits}f}"
    return text[1:] if float(text.replace(",", "")) == 0 else _minus(text)


def percent(share: float | None, digits: int = 1) -> str:
    """A share in [0, 1] as per cent: 10.0 %. Above zero it never reads as zero: < 0.1 %."""
    if share is None or not math.isfinite(share):
        return UNKNOWN
    if share == 0:
        return "0 %"
    smallest = 10.0**-digits
    if 0 < share * 100 < smallest:
        return f"< {smallest:.{digits}f} %"
    return f"{_minus(f'{share * 100:,.{digits}f}')} %"


def rate(per_second: float | None) -> str:
    """A rate without its unit: grouped above 100, one digit under it, two under 1."""
    if per_second is None or not math.isfinite(per_second):
        return UNKNOWN
    size = abs(per_second)
    if size == 0:
        return "0"
    if size < 1:
        return decimal(per_second, 2)
    return count(per_second) if size >= 100 else decimal(per_second, 1)


def byte_size(size: float | None) -> tuple[str, str]:
    """A size and its binary unit, apart, so that a tile can write the unit smaller: ("612", "MiB")."""
    if size is None or not math.isfinite(size) or size < 0:
        return UNKNOWN, ""
    index = 0
    while size >= 1024 and index < len(_BINARY) - 1:
        size, index = size / 1024, index + 1
    digits = 0 if index == 0 or size >= 100 else 1
    return f"{size:,.{digits}f}", _BINARY[index]


def milliseconds(value: float | None) -> str:
    """A duration given in ms: 0.42 ms, 31 ms, 2.90 s."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    size = abs(value)
    if size >= 1_000:
        return duration(value / 1_000)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2
    return f"{decimal(value, digits)} ms"


def duration(seconds: float | None) -> str:
    """A length of time in the one or two largest units: 9 s, 2 min 10 s, 1 h 12 min, 3 d 4 h."""
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    if seconds < 0:
        return MINUS + duration(-seconds)
    if seconds < 10:
        return f"{seconds:.1f} s" if round(seconds, 1) != round(seconds) else f"{round(seconds)} s"
    whole = round(seconds)
    for size, unit, smaller, small_unit in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size} {unit}" + (f" {rest} {small_unit}" if rest else "")
    return f"{whole} s"


def age(now_unix_nano: int, then_unix_nano: int | None) -> str:
    """How long ago something was: now (under 2 s), 9 s ago, never."""
    if not then_unix_nano:
        return "never"
    seconds = (now_unix_nano - then_unix_nano) / NANO
    return "now" if seconds < 2 else f"{duration(seconds)} ago"


def instant(unix_nano: int | None, *, fraction: bool = False) -> str:
    """Date and time in UTC: 2026-12-01 02:14:31, with milliseconds when ``fraction``."""
    if unix_nano is None:
        return UNKNOWN
    try:
        when = datetime.fromtimestamp(unix_nano // NANO, UTC)
    except (OverflowError, ValueError, OSError):
        return UNKNOWN
    text = when.strftime("%Y-%m-%d %H:%M:%S")
    return f"{text}.{unix_nano % NANO // 1_000_000:03d}" if fraction else text


def iso(unix_nano: int) -> str:
    """The instant as an address and a ``datetime`` attribute hold it: 2026-12-01T02:14:31.400Z."""
    text = instant(unix_nano, fraction=True)
    return text if text == UNKNOWN else text.replace(" ", "T") + "Z"


def parse_instant(text: str) -> int | None:
    """Nanoseconds since the epoch of an ISO 8601 instant (UTC when it names no zone) or of Unix seconds.

    None for anything else, and for what lies outside 1970 to 2100.
    """
    text = text.strip()
    if _UNIX_SECONDS.fullmatch(text):
        whole, _, rest = text.partition(".")
        return _within(int(whole) * NANO + int(rest.ljust(9, "0") or 0))
    try:
        when = datetime.fromisoformat(text)
        when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
        return _within(int(when.timestamp()) * NANO + when.microsecond * 1_000)
    except (ValueError, OverflowError):
        return None


def _within(unix_nano: int) -> int | None:
    return unix_nano if _EARLIEST_NANO <= unix_nano <= _LATEST_NANO else None


def plural(number: int, noun: str, many: str | None = None) -> str:
    """A count with its noun: 1 source, 6 sources."""
    return f"{count(number)} {noun if number == 1 else many or noun + 's'}"
