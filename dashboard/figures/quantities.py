"""Quantities and names that only single decisions and comparisons need, as a person reads them. Pure.

What every page needs is in ``dashboard.format``; here are numbers of unknown size, very short times, and
senders' texts inside a sentence.
"""

import math
import unicodedata

from dashboard.format import MINUS, UNKNOWN, decimal, milliseconds

_CONTROLS = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})


def number(value: float | None, digits: int = 3) -> str:
    """A plain number such as 0.692; very large and very small ones keep three significant digits."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    value += 0.0  # a negative zero has no sign
    size = abs(value)
    if size >= 1e9 or 0 < size < 0.5 * 10.0**-digits:
        return f"{value:.3g}".replace("-", MINUS)
    return decimal(value, max(0, digits - 2) if size >= 1_000 else digits)


def gap(value: float | None, digits: int = 3) -> str:
    """A difference that bears its sign; what rounds to nothing keeps enough digits to show that it is not."""
    text = number(value, digits)
    return f"+{text}" if value is not None and value > 0 and text != UNKNOWN else text


def brief(nanoseconds: float) -> str:
    """A length of time that may be very short: 850 ns, 61 µs, then as ``format.milliseconds``."""
    size = abs(nanoseconds)
    if size == 0:
        return "0 ms"
    if size < 1_000:
        return f"{decimal(nanoseconds, 0)} ns"
    if size < 1_000_000:
        return f"{decimal(nanoseconds / 1_000, 0 if size >= 10_000 else 1)} µs"
    return milliseconds(nanoseconds / 1e6)


def apart(text: str) -> tuple[str, str]:
    """Figure and unit of a quantity with one unit, for tiles that write the unit smaller."""
    figure, _, unit = text.partition(" ")
    return figure, unit


def p_value(value: float) -> str:
    """A p value to the digits that matter."""
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}" if value < 0.01 else f"{value:.3f}"


def shown(text: str, limit: int = 64) -> str:
    """A sender's text fit for the middle of a sentence: marks that steer the line are replaced, length cut.

    Control and formatting characters (bidirectional overrides among them) become U+FFFD.
    """
    plain = "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in _CONTROLS else c for c in text[: limit + 1]
    )
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"


def spoken(name: str) -> str:
    """A scorer's or filter's name as words: ``prefix_cache`` reads "prefix cache"."""
    return shown(name, 40).replace("_", " ").replace("-", " ").strip() or "(no name)"


def listed(names: list[str]) -> str:
    """Names in a sentence: a, b and c; from the fourth on they are counted."""
    if len(names) > 3:
        names = [*names[:2], f"{len(names) - 2} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
