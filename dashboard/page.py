"""What a page is: where it lives, what it shows, and what it was asked for.

A page module exposes ``register(app, reader) -> Page``: it registers its callbacks on ``app`` and
returns its description. The shell draws everything around it. ``Page.layout`` runs in a worker thread,
so it may call the reader directly; ``StoreUnavailableError`` and a reader that does not answer in time
become the shell's error state.

Every change of path or query that goes through a link or ``weighbridge.navigate(href)`` calls ``layout``
again. State that the page draws by itself (a selected row, a frozen frame) goes into the address with
``weighbridge.replaceQuery({key: value})``, which does not.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from dashboard.format import parse_instant
from storage.records import TimeRange

MOUNT: Final = "/ui"
"""Where every page lives; a ``Page.path`` is below it."""

RANGES: Final[Mapping[str, int]] = {
    "1m": 60,
    "5m": 300,
    "15m": 900,
    "1h": 3_600,
    "6h": 21_600,
    "24h": 86_400,
    "7d": 604_800,
}
"""Names of relative time ranges (``?range=``) and their length in seconds."""

Control = Literal["scope", "range", "live"]
"""Parts of the top bar a page uses: the service select, the time range, Live and Freeze."""

_LONGEST_TEXT: Final = 256


@dataclass(frozen=True, slots=True)
class Visit:
    """What the address asked for, made safe: every accessor answers None or a default for garbage.

    ``parts`` are the named parts of the page's path, ``query`` the last value of each query key.
    """

    now_unix_nano: int
    parts: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    default_range: str = "15m"

    def text(self, name: str) -> str | None:
        """A query value, trimmed; None when empty, over 256 characters or with control characters."""
        value = self.query.get(name, "").strip()
        if not value or len(value) > _LONGEST_TEXT or not value.isprintable():
            return None
        return value

    def number(self, name: str, low: float, high: float) -> float | None:
        """A finite number in [low, high]; None for anything else."""
        try:
            value = float(self.query.get(name, ""))
        except ValueError:
            return None
        return value if math.isfinite(value) and low <= value <= high else None

    def choice(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        """One of ``allowed``; ``default`` for anything else."""
        value = self.query.get(name, "")
        return value if value in allowed else default

    @property
    def service(self) -> str | None:
        """The scope of the top bar (``?service=``); None means all services."""
        return self.text("service")

    @property
    def range_name(self) -> str | None:
        """Name of the relative range in force; None when the address holds an absolute one."""
        if self._absolute() is not None:
            return None
        return self.choice("range", tuple(RANGES), self.default_range)

    @property
    def time(self) -> TimeRange:
        """The time range: ``?from=&to=`` (UTC, ISO 8601 or Unix seconds), else ``?range=`` up to now."""
        absolute = self._absolute()
        if absolute is not None:
            return absolute
        seconds = RANGES[self.choice("range", tuple(RANGES), self.default_range)]
        return TimeRange(self.now_unix_nano - seconds * 1_000_000_000, self.now_unix_nano)

    def _absolute(self) -> TimeRange | None:
        start, end = parse_instant(self.query.get("from", "")), parse_instant(self.query.get("to", ""))
        return TimeRange(start, end) if start is not None and end is not None and start < end else None


@dataclass(frozen=True, slots=True)
class NavEntry:
    """A page's place in the rail: label, icon name (see components/icons.py) and the key after G.

    ``foot`` puts it at the bottom of the rail.
    """

    label: str
    icon: str
    key: str = ""
    foot: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the dashboard.

    ``path`` starts with a slash, is below ``/ui`` and may hold named parts, as in
    ``/decisions/{trace_id}/{span_id}``.
    ``layout`` answers a Dash component and is called once per navigation, in a worker thread.
    ``parent`` names the page whose rail entry is lit while this one is shown.
    """

    name: str
    path: str
    title: str
    layout: Callable[[Visit], Any]
    nav: NavEntry | None = None
    parent: str | None = None
    controls: frozenset[Control] = frozenset()
    default_range: str = "15m"

    def match(self, path: str) -> Mapping[str, str] | None:
        """The named parts when ``path`` (below the mount) is this page's; None otherwise."""
        mine, theirs = self.path.strip("/").split("/"), path.strip("/").split("/")
        if len(mine) != len(theirs):
            return None
        parts: dict[str, str] = {}
        for pattern, value in zip(mine, theirs, strict=True):
            if pattern.startswith("{") and value:
                parts[pattern.strip("{}")] = value
            elif pattern != value:
                return None
        return parts
