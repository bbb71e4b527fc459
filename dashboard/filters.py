"""Filters of the decision list, to and from the query string of its address. Pure.

The address is typed, copied and cut by people, so parsing forgives: an unknown key is ignored, a value
that means nothing is dropped, and bounds given the wrong way round are turned.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from dashboard.format import NANO, instant, iso, parse_instant
from dashboard.page import RANGES
from engine.semconv import OUTCOMES
from storage.records import DecisionQuery, TimeRange

DEFAULT_RANGE: Final = "15m"

_TEXTS = ("service", "policy", "node", "outcome", "experiment", "variant", "text")
_NUMBERS = ("weight_min", "weight_max", "confidence_min", "confidence_max")
_MAX_FIELDS = 200
_RANGE_WORDS = {
    "1m": "minute",
    "5m": "5 min",
    "15m": "15 min",
    "1h": "hour",
    "6h": "6 h",
    "24h": "24 h",
    "7d": "7 days",
}


@dataclass(frozen=True, slots=True)
class Filters:
    """What the list shows. ``start`` and ``end`` (ns, both or neither) replace ``range``.

    None means any; the other fields are those of ``DecisionQuery``.
    """

    range: str = DEFAULT_RANGE
    start: int | None = None
    end: int | None = None
    service: str | None = None
    policy: str | None = None
    node: str | None = None
    weight_min: float | None = None
    weight_max: float | None = None
    confidence_min: float | None = None
    confidence_max: float | None = None
    outcome: str | None = None
    experiment: str | None = None
    variant: str | None = None
    text: str | None = None

    def time(self, now: int) -> TimeRange:
        """The range in ns when the clock reads ``now``."""
        if self.start is not None and self.end is not None:
            return TimeRange(self.start, self.end)
        return TimeRange(now - RANGES[self.range] * NANO, now)

    @property
    def custom(self) -> bool:
        """Whether the time range is two fixed ends rather than the last so many minutes."""
        return self.start is not None

    @property
    def span_words(self) -> str:
        """The time range in a sentence: "in the last 15 min"."""
        if self.start is None or self.end is None:
            return f"in the last {_RANGE_WORDS[self.range]}"
        return f"from {instant(self.start)} to {instant(self.end)} UTC"

    def query(self, now: int) -> DecisionQuery:
        """The question for the store when the clock reads ``now`` (ns)."""
        kept = {name: getattr(self, name) for name in (*_TEXTS, *_NUMBERS)}
        return DecisionQuery(time=self.time(now), **kept)


def parse(search: str | None) -> Filters:
    """Filters in a query string, with or without its question mark; never raises."""
    try:
        pairs = parse_qsl((search or "").removeprefix("?"), max_num_fields=_MAX_FIELDS)
    except ValueError:
        return Filters()
    return of(dict(pairs))


def of(given: Mapping[str, str]) -> Filters:
    """Filters in a query that is already taken apart; never raises."""
    found: dict[str, Any] = {name: given[name] for name in _TEXTS if given.get(name, "").strip()}
    found.update({name: value for name in _NUMBERS if (value := _number(given.get(name))) is not None})
    if found.get("outcome") not in OUTCOMES:
        found.pop("outcome", None)
    if given.get("range") in RANGES:
        found["range"] = given["range"]
    start, end = _instant(given.get("from", "")), _instant(given.get("to", ""))
    if start is not None and end is not None and start < end:
        found["start"], found["end"] = start, end
    for low, high in (("weight_min", "weight_max"), ("confidence_min", "confidence_max")):
        if low in found and high in found and found[low] > found[high]:
            found[low], found[high] = found[high], found[low]
    return Filters(**found)


def render(filters: Filters) -> str:
    """The query string of ``filters`` with its question mark, empty for the defaults; ``parse`` undoes it."""
    pairs: list[tuple[str, str]] = []
    if filters.start is not None and filters.end is not None:
        pairs += [("from", iso(filters.start)), ("to", iso(filters.end))]
    elif filters.range != DEFAULT_RANGE:
        pairs.append(("range", filters.range))
    for name in (*_TEXTS, *_NUMBERS):
        value = getattr(filters, name)
        if value is not None:
            pairs.append((name, value if isinstance(value, str) else repr(value).removesuffix(".0")))
    return "?" + urlencode(pairs) if pairs else ""


def active(filters: Filters) -> tuple[tuple[str, str, str], ...]:
    """Filters in force as (name to drop it by, words, value in words); the time range is not among them."""
    chips = [
        (name, name, str(getattr(filters, name))) for name in _TEXTS if getattr(filters, name) is not None
    ]
    for name in ("weight", "confidence"):
        low, high = getattr(filters, f"{name}_min"), getattr(filters, f"{name}_max")
        if low is not None and high is not None:
            chips.append((name, name, f"{low:g} to {high:g}"))
        elif low is not None or high is not None:
            chips.append((name, name, f"≥ {low:g}" if low is not None else f"≤ {high:g}"))
    return tuple(chips)


def without(filters: Filters, name: str) -> Filters:
    """The same filters less one of those ``active`` names; an unknown name changes nothing."""
    known = {field.name for field in fields(Filters)} - {"range"}
    dropped = {key: None for key in (name, f"{name}_min", f"{name}_max") if key in known}
    return replace(filters, **dropped)  # type: ignore[arg-type]  # every field but range takes None


def narrower(filters: Filters) -> Filters | None:
    """The shortest relative range, or None when that is in force already."""
    if not filters.custom and filters.range == DEFAULT_RANGE:
        return None
    return replace(filters, range=DEFAULT_RANGE, start=None, end=None)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else None
    except ValueError:
        return None
    return value if value is not None and math.isfinite(value) else None


def _instant(text: str) -> int | None:
    # A plus sign before a zone arrives as a space from an address that was typed by hand.
    return parse_instant(text) or parse_instant(text.replace(" ", "+"))
