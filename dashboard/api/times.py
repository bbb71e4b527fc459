"""Times as callers write them, into nanoseconds since the epoch. Pure."""

import re
from datetime import datetime

from dashboard.api.problems import bad_parameter
from storage.records import TimeRange

NANO = 1_000_000_000
MAX_NANO = 2**63 - 1
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_LENGTH = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h|d|w)")
_BROKEN_OFFSET = re.compile(r" (\d\d:\d\d)$")  # a "+" that the query string turned into a space
_SMALLEST_NANO = 10**16  # 26 April 1970: anything below was meant as seconds or milliseconds
FORMS = "give RFC 3339 (2026-12-01T14:05:00Z), nanoseconds since the epoch, or a time back from now (-15m)"


def length(parameter: str, text: str) -> int:
    """``60s``, ``5m``, ``1.5h`` in nanoseconds; raises a 422 for anything else."""
    found = _LENGTH.fullmatch(text)
    if not found:
        raise bad_parameter(parameter, "give a length such as 60s, 15m, 6h or 7d")
    return int(float(found[1]) * _UNITS[found[2]] * NANO)


def moment(parameter: str, text: str, now: int) -> int:
    """A time in nanoseconds; raises a 422 that lists the forms it takes."""
    text = text.strip()
    if text == "now":
        return now
    if text.startswith("-") and _LENGTH.fullmatch(text[1:]):
        return max(0, now - length(parameter, text[1:]))
    if text.isascii() and text.isdigit():
        return _integer(parameter, text)
    try:
        parsed = datetime.fromisoformat(_BROKEN_OFFSET.sub(r"+\1", text))
    except ValueError:
        raise bad_parameter(parameter, FORMS) from None
    if parsed.tzinfo is None:
        raise bad_parameter(parameter, "add Z or an offset such as +01:00 to the time")
    return _nano(parameter, parsed)


def time_range(start: str | None, end: str | None, now: int) -> TimeRange | None:
    """The range of ``from`` and ``to``; an open side reaches as far as there is, None when both are open."""
    if not start and not end:
        return None
    begin = moment("from", start, now) if start else 0
    finish = moment("to", end, now) if end else MAX_NANO
    if begin > finish:
        raise bad_parameter("from", "must not lie after `to`; swap them")
    return TimeRange(begin, finish)


def _integer(parameter: str, text: str) -> int:
    value = int(text) if len(text) <= 19 else MAX_NANO + 1
    if value > MAX_NANO or 0 < value < _SMALLEST_NANO:
        raise bad_parameter(parameter, "whole numbers are nanoseconds since the epoch (19 digits today)")
    return value


def _nano(parameter: str, parsed: datetime) -> int:
    # Through whole seconds: a float of nanoseconds would lose the last digits.
    seconds = int(parsed.replace(microsecond=0).timestamp())
    nano = seconds * NANO + parsed.microsecond * 1000
    if not 0 <= nano <= MAX_NANO:
        raise bad_parameter(parameter, "times lie between 1970 and 2262")
    return nano
