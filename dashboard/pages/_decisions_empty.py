"""Why the list of decisions is empty, and which filter to drop for it not to be."""

from dataclasses import dataclass, replace
from typing import Any

from dash import dcc, html

from dashboard.components import empty_state
from dashboard.figures.quantities import shown
from dashboard.filters import Filters, active, without
from dashboard.format import NANO, count, instant
from dashboard.page import MOUNT, RANGES
from dashboard.pages._decision_filters import address
from storage.queries import Reader
from storage.records import DecisionQuery

_CAP = 1_000  # enough to tell a person that there is something behind a filter


@dataclass(frozen=True, slots=True)
class Way:
    """A way out of an empty list: the filter it drops, in words, and how many decisions show then."""

    drops: str
    words: str
    filters: Filters
    found: int


@dataclass(frozen=True, slots=True)
class Emptiness:
    """Why nothing shows. ``ways`` are the single steps that bring decisions back.

    ``newest`` is the time of the newest decision under the same filters at any time, None without one;
    ``ever`` tells whether the store holds any decision at all.
    """

    ways: tuple[Way, ...]
    newest: int | None
    ever: bool


def explain(reader: Reader, filters: Filters, now: int) -> Emptiness:
    """Ask the store which single filter, all of them together, or the time range hides everything."""
    ways = []
    chips = active(filters)
    for name, words, value in chips:
        less = without(filters, name)
        if found := reader.count_decisions(less.query(now), cap=_CAP):
            ways.append(Way(words, f"Drop {words} {shown(value, 32)}", less, found))
    if not ways and len(chips) > 1:
        less = Filters(range=filters.range, start=filters.start, end=filters.end)
        if found := reader.count_decisions(less.query(now), cap=_CAP):
            ways.append(Way("", "Drop all filters", less, found))
    newest = _newest(reader, filters.query(now))
    wider = _reaching(filters, newest, now)
    if wider is not None:
        ways.append(Way("", f"Show {wider.span_words.removeprefix('in ')}", wider, 0))
    ever = bool(ways) or newest is not None or bool(reader.decisions(DecisionQuery(), limit=1).items)
    return Emptiness(tuple(ways), newest, ever)


def draw(filters: Filters, emptiness: Emptiness) -> Any:
    """The empty state: what removes everything, and the ways out as links."""
    setup = dcc.Link("Set up a source", href=f"{MOUNT}/setup", className="btn")
    if not emptiness.ever:
        return empty_state(
            "No decision has arrived yet",
            "Point a scheduler's OTLP exporter here and its decisions show within a second.",
            dcc.Link("Set up a source", href=f"{MOUNT}/setup", className="btn primary"),
            shape="decisions",
        )
    links = [
        dcc.Link(_label(way), href=address(way.filters), className="btn primary" if not index else "btn")
        for index, way in enumerate(emptiness.ways[:4])
    ]
    return empty_state(_title(filters, emptiness), _why(filters, emptiness), *(links or [setup]))


def _title(filters: Filters, emptiness: Emptiness) -> str:
    chips = active(filters)
    if not chips:
        return f"No decisions {filters.span_words}"
    culprits = [way.drops for way in emptiness.ways if way.drops]
    if len(culprits) == 1:
        return f"The filter on {culprits[0]} removes every decision"
    if len(chips) == 1:
        return f"No decisions {filters.span_words}, with or without the filter"
    return "The filters together leave no decision"


def _why(filters: Filters, emptiness: Emptiness) -> Any:
    if emptiness.newest is not None:
        return f"The newest one that fits is from {instant(emptiness.newest)} UTC."
    if active(filters):
        return f"Nothing {filters.span_words} fits, nor at any other time in the store."
    return "The store holds decisions of other times only."


def _label(way: Way) -> Any:
    if not way.found:
        return way.words
    more = "over " if way.found >= _CAP else ""
    return [way.words, html.Span(f"leaves {more}{count(way.found)}", className="k")]


def _newest(reader: Reader, query: DecisionQuery) -> int | None:
    found = reader.decisions(replace(query, time=None), limit=1).items
    return found[0].time_unix_nano if found else None


def _reaching(filters: Filters, newest: int | None, now: int) -> Filters | None:
    """The same filters over the shortest relative range that reaches the newest fit, else one around it."""
    if newest is None:
        return None
    for name, seconds in RANGES.items():
        if now - seconds * NANO <= newest < now:
            return replace(filters, range=name, start=None, end=None)
    return replace(filters, start=max(0, newest - 900 * NANO), end=newest + NANO)
