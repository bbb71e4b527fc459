"""Counts of each source, kept for good, and its last minutes in slots of 10 s for the rate.

Names of sources come from the senders, so their number is bounded: beyond ``MAX_SOURCES`` further ones
are counted together under ``OTHER_SOURCES``, and beyond ``MAX_REASONS`` of one source its further
reasons under ``OTHER_REASONS``.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, delete, func, select

from storage import statements
from storage.records import IntakeTally, SourceRow
from storage.tables import intake_reason, intake_slot, intake_source

MAX_SOURCES = 1_000
MAX_REASONS = 100
OTHER_SOURCES = "(other sources)"
OTHER_REASONS = "(other reasons)"
SLOT_S = 10
RATE_SLOTS = 6
KEPT_SLOTS = 30

_NANO = 1_000_000_000


def add(connection: Connection, tallies: Sequence[IntakeTally], now_unix_nano: int) -> None:
    """Add the counts of each tally to its source."""
    known = set(connection.execute(select(intake_source.c.source)).scalars())
    slot = now_unix_nano // (SLOT_S * _NANO)
    for tally in tallies:
        source = _bounded(tally.source.encode("utf-8", "replace").decode(), known, MAX_SOURCES, OTHER_SOURCES)
        message = tally.message.encode("utf-8", "replace").decode()
        counts = (tally.accepted, tally.duplicated, tally.decisions, tally.unmapped)
        connection.exec_driver_sql(
            statements.UPSERT_SOURCE, (source, *counts, message, tally.last_seen_unix_nano)
        )
        if tally.accepted:
            connection.exec_driver_sql(statements.UPSERT_SLOT, (slot, source, tally.accepted))
        for kind, reasons in (("rejected", tally.rejected), ("warned", tally.warned)):
            _add_reasons(connection, source, kind, reasons)
    connection.execute(delete(intake_slot).where(intake_slot.c.slot < slot - KEPT_SLOTS))


def rows(connection: Connection, now_unix_nano: int) -> tuple[SourceRow, ...]:
    """Every source, the fastest first."""
    reasons: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for row in connection.execute(select(intake_reason)):
        reasons[row.source, row.kind][row.reason] = row._mapping["count"]
    rates = _rates(connection, now_unix_nano)
    found = [
        SourceRow(
            source=row.source,
            accepted=row.accepted,
            duplicated=row.duplicated,
            decisions=row.decisions,
            unmapped=row.unmapped,
            rejected=reasons.get((row.source, "rejected"), {}),
            warned=reasons.get((row.source, "warned"), {}),
            message=row.message,
            rate=rates.get(row.source, 0.0),
            last_seen_unix_nano=row.last_seen_unix_nano,
        )
        for row in connection.execute(select(intake_source).order_by(intake_source.c.source))
    ]
    return tuple(sorted(found, key=lambda row: -row.rate))


def _rates(connection: Connection, now_unix_nano: int) -> dict[str, float]:
    slot = now_unix_nano // (SLOT_S * _NANO)
    first = slot - RATE_SLOTS + 1
    elapsed_s = now_unix_nano / _NANO - first * SLOT_S
    window = (
        select(intake_slot.c.source, func.sum(intake_slot.c.accepted).label("accepted"))
        .where(intake_slot.c.slot.between(first, slot))
        .group_by(intake_slot.c.source)
    )
    return {row.source: row.accepted / elapsed_s for row in connection.execute(window)}


def _add_reasons(connection: Connection, source: str, kind: str, reasons: Mapping[str, int]) -> None:
    if not reasons:
        return
    mine = select(intake_reason.c.reason).where(
        intake_reason.c.source == source, intake_reason.c.kind == kind
    )
    known = set(connection.execute(mine).scalars())
    for reason, count in reasons.items():
        name = _bounded(reason.encode("utf-8", "replace").decode(), known, MAX_REASONS, OTHER_REASONS)
        connection.exec_driver_sql(statements.UPSERT_REASON, (source, kind, name, count))


def _bounded(name: str, known: set[str], most: int, other: str) -> str:
    if name in known:
        return name
    if len(known) >= most:
        return other
    known.add(name)
    return name
