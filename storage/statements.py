"""Raw statements of the write path, in SQLite's dialect and with its driver's placeholders.

They are kept together because another database needs its own: everything else is SQLAlchemy Core.
"""

from functools import lru_cache

from sqlalchemy import Table

from storage import tables


def _insert(table: Table) -> str:
    names = [column.name for column in table.columns]
    return f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"  # noqa: S608 - our own names


INSERT_DETAIL = _insert(tables.decision_detail)
INSERT_OUTCOME = _insert(tables.outcome)
INSERT_RESOURCE = _insert(tables.resource)
INSERT_SCOPE = _insert(tables.scope)

WRITE_COUNTER = "UPDATE counter SET value = ? WHERE name = ?"

FIND_RESOURCE = "SELECT id, seen_unix_nano FROM resource WHERE hash = ?"
FIND_SCOPE = "SELECT id, seen_unix_nano FROM scope WHERE hash = ?"
SEE_RESOURCE = "UPDATE resource SET seen_unix_nano = ? WHERE id = ?"
SEE_SCOPE = "UPDATE scope SET seen_unix_nano = ? WHERE id = ?"
FIND_SERIES = "SELECT id FROM weight_series WHERE service = ? AND policy = ? AND node = ?"

# A mention older than what is kept changes nothing but when the series was last seen, unless what is kept
# lies in the future of the store. A mention without a weight never replaces one.
_NEWER = """(weight IS NULL OR (excluded.weight IS NOT NULL AND (
    excluded.time_unix_nano >= time_unix_nano OR time_unix_nano > excluded.seen_unix_nano)))"""
_NEWEST = ", ".join(
    f"{name} = CASE WHEN {_NEWER} THEN excluded.{name} ELSE {name} END"
    for name in ("weight", "score", "scores", "scorer_weights", "time_unix_nano", "change")
)
UPSERT_SERIES = f"""
{_insert(tables.weight_series)}
ON CONFLICT (service, policy, node) DO UPDATE SET
  {_NEWEST}, seen_unix_nano = excluded.seen_unix_nano, retired = excluded.retired
"""

UPSERT_SECOND = f"""
{_insert(tables.weight_second)}
ON CONFLICT (second, series_id) DO UPDATE SET
  chosen = chosen + excluded.chosen,
  adjusted = adjusted + excluded.adjusted,
  unadjusted = unadjusted + excluded.unadjusted,
  observations = observations + excluded.observations,
  weight_sum = weight_sum + excluded.weight_sum,
  weight_min = min(coalesce(weight_min, excluded.weight_min), coalesce(excluded.weight_min, weight_min)),
  weight_max = max(coalesce(weight_max, excluded.weight_max), coalesce(excluded.weight_max, weight_max)),
  weight_last = CASE WHEN excluded.last_unix_nano >= last_unix_nano
    THEN coalesce(excluded.weight_last, weight_last) ELSE weight_last END,
  last_unix_nano = max(last_unix_nano, excluded.last_unix_nano),
  confidence_sum = confidence_sum + excluded.confidence_sum,
  confidences = confidences + excluded.confidences
"""

UPSERT_EXPERIMENT = f"""
{_insert(tables.experiment_minute)}
ON CONFLICT (experiment, variant, minute) DO UPDATE SET
  exposures = exposures + excluded.exposures,
  outcomes = outcomes + excluded.outcomes,
  errors = errors + excluded.errors,
  latencies = latencies + excluded.latencies,
  latency_sum_ms = latency_sum_ms + excluded.latency_sum_ms,
  latency_sumsq_ms2 = latency_sumsq_ms2 + excluded.latency_sumsq_ms2,
  first_unix_nano = min(first_unix_nano, excluded.first_unix_nano),
  last_unix_nano = max(last_unix_nano, excluded.last_unix_nano)
"""

UPSERT_SOURCE = f"""
{_insert(tables.intake_source)}
ON CONFLICT (source) DO UPDATE SET
  accepted = accepted + excluded.accepted, duplicated = duplicated + excluded.duplicated,
  decisions = decisions + excluded.decisions, unmapped = unmapped + excluded.unmapped,
  message = CASE WHEN excluded.message = '' THEN message ELSE excluded.message END,
  last_seen_unix_nano = max(last_seen_unix_nano, excluded.last_seen_unix_nano)
"""
UPSERT_REASON = f"""
{_insert(tables.intake_reason)}
ON CONFLICT (source, kind, reason) DO UPDATE SET count = count + excluded.count
"""
UPSERT_SLOT = f"""
{_insert(tables.intake_slot)}
ON CONFLICT (slot, source) DO UPDATE SET accepted = accepted + excluded.accepted
"""


def find_spans(count: int) -> str:
    """Which of ``count`` span keys are stored."""
    return f"SELECT key FROM span WHERE key IN ({', '.join('?' * count)})"  # noqa: S608 - marks only


def find_outcomes(count: int) -> str:
    """Which of ``count`` decision keys have an outcome."""
    return f"SELECT decision_key FROM outcome WHERE decision_key IN ({', '.join('?' * count)})"  # noqa: S608 - marks only


@lru_cache(maxsize=256)
def insert_into(table: Table, constants: tuple[str | None, ...]) -> str:
    """An insert whose columns with a constant are written out: binding a value costs more than a literal."""
    names = ", ".join(column.name for column in table.columns)
    values = ", ".join("?" if constant is None else constant for constant in constants)
    return f"INSERT INTO {table.name} ({names}) VALUES ({values})"  # noqa: S608 - our own names and literals
