"""How the store and the processes around it are, out of the tables."""

import json

from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, select

from storage import intake_rows
from storage.records import HealthView, ProcessRow, StoreFigures
from storage.tables import counter, limit, process, span

MAX_AGE = "max_age_s"
MAX_SIZE = "max_size_bytes"


def view(connection: Connection, *, size_bytes: int, now_unix_nano: int) -> HealthView:
    """Everything the health page shows."""
    return HealthView(
        sources=intake_rows.rows(connection, now_unix_nano),
        processes=_processes(connection),
        store=_figures(connection, size_bytes),
    )


def _processes(connection: Connection) -> tuple[ProcessRow, ...]:
    chosen = select(process).order_by(process.c.role, process.c.seen_unix_nano.desc())
    return tuple(
        ProcessRow(
            role=row.role,
            instance=row.instance,
            version=row.version,
            started_unix_nano=row.started_unix_nano,
            seen_unix_nano=row.seen_unix_nano,
            figures=json.loads(row.figures),
        )
        for row in connection.execute(chosen)
    )


def _figures(connection: Connection, size_bytes: int) -> StoreFigures:
    counts = dict(connection.execute(select(counter.c.name, counter.c.value)).all())
    limits = dict(connection.execute(select(limit.c.name, limit.c.value)).all())
    ends = select(span.c.end_unix_nano).limit(1)
    size = limits.get(MAX_SIZE)
    return StoreFigures(
        size_bytes=size_bytes,
        limit_bytes=None if size is None else int(size),
        max_age_s=limits.get(MAX_AGE),
        spans=counts["spans"],
        decisions=counts["decisions"],
        oldest_unix_nano=connection.execute(ends.order_by(span.c.id)).scalar(),
        newest_unix_nano=connection.execute(ends.order_by(span.c.id.desc())).scalar(),
        schema=MigrationContext.configure(connection).get_current_revision() or "",
    )
