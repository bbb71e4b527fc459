"""What ``health`` and the probes answer, as pydantic models; conventions as in ``schemas``."""

from typing import Any

from dashboard.api.schemas import Body
from dashboard.api.values import Counts, Number, Numbers, Text


class Source(Body):
    """Intake of one source; `rate` is accepted spans a second over the last minute."""

    source: Text
    accepted: int
    duplicated: int
    decisions: int
    unmapped: int
    rejected: Counts
    warned: Counts
    message: Text
    rate: Number
    last_seen_unix_nano: int
    last_seen: str | None


class Process(Body):
    """Newest heartbeat of one process; `figures` are its own gauges."""

    role: str
    instance: Text
    version: str
    started_unix_nano: int
    seen_unix_nano: int
    seen: str | None
    figures: Numbers


class StoreSize(Body):
    """Size and extent of the store; row counts may be estimates."""

    size_bytes: int
    limit_bytes: int | None
    max_age_s: Number
    spans: int
    decisions: int
    oldest_unix_nano: int | None
    newest_unix_nano: int | None
    schema_revision: str


class Health(Body):
    """Sources, processes, the store and the settings in force (secrets masked)."""

    version: str
    time_unix_nano: int
    sources: list[Source]
    processes: list[Process]
    store: StoreSize
    configuration: dict[str, Any]


class Alive(Body):
    """Whether the process is alive, or ready to answer."""

    status: str
    version: str
