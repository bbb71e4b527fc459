"""Tables of the store, as SQLAlchemy Core.

``span.id`` is given by the writer and grows with arrival. ``decision``, ``decision_detail`` and
``outcome`` reuse the id of the span they were read from, so retention deletes one range of ids from all
four and no join needs an index of its own. Names of resources and scopes are kept once, by hash.
"""

from sqlalchemy import BigInteger, Boolean, Column, Double, Index, Integer, LargeBinary, MetaData, Table, Text
from sqlalchemy import UniqueConstraint as Unique

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite takes only INTEGER PRIMARY KEY for the row's own number.
Id = BigInteger().with_variant(Integer, "sqlite")


def _id() -> Column[int]:
    return Column("id", Id, primary_key=True, autoincrement=False)


counter = Table(
    "counter",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
"""Numbers kept by name: the last id given to a ``span``, a ``change`` and a ``name`` (resource, scope,
series), the ``generation`` of names, and how many ``spans`` and ``decisions`` there are."""

resource = Table(
    "resource",
    metadata,
    _id(),
    Column("hash", LargeBinary, nullable=False),
    Column("service", Text, nullable=False),
    Column("instance", Text, nullable=False),
    Column("attributes", LargeBinary, nullable=False),
    Column("seen_unix_nano", BigInteger, nullable=False),
    Unique("hash"),
)

scope = Table(
    "scope",
    metadata,
    _id(),
    Column("hash", LargeBinary, nullable=False),
    Column("name", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("seen_unix_nano", BigInteger, nullable=False),
    Unique("hash"),
)

span = Table(
    "span",
    metadata,
    _id(),
    Column("key", LargeBinary, nullable=False),
    Column("parent_span_id", LargeBinary),
    Column("name", Text, nullable=False),
    Column("kind", Integer, nullable=False),
    Column("start_unix_nano", BigInteger, nullable=False),
    Column("end_unix_nano", BigInteger, nullable=False),
    Column("resource_id", Id, nullable=False),
    Column("scope_id", Id, nullable=False),
    Column("status_code", Integer, nullable=False),
    Column("status_message", Text, nullable=False),
    Column("trace_state", Text, nullable=False),
    Column("adjusted_count", Double),
    Column("flagged", Boolean, nullable=False),
    Column("received_unix_nano", BigInteger, nullable=False),
    Column("attributes", LargeBinary, nullable=False),
    Column("events", LargeBinary, nullable=False),
    Column("links", LargeBinary, nullable=False),
    Unique("key"),
)
"""``key`` is the trace id and the span id, 24 bytes in all: one index finds a span and a whole trace."""

decision = Table(
    "decision",
    metadata,
    _id(),
    Column("decision_key", LargeBinary),
    Column("time_unix_nano", BigInteger, nullable=False),
    Column("resource_id", Id, nullable=False),
    Column("policy", Text, nullable=False),
    Column("policy_version", Text),
    Column("policy_fingerprint", Text),
    Column("node", Text, nullable=False),
    Column("weight", Double),
    Column("confidence", Double),
    Column("strategy", Text),
    Column("reason", Text),
    Column("candidates_total", BigInteger),
    Column("margin", Double),
    Column("tie_count", BigInteger),
    Column("propensity", Double),
    Column("signal_age_ms", Double),
    Column("tenant", Text),
    Column("model", Text),
    Column("experiment", Text),
    Column("variant", Text),
    Column("inferred", Boolean, nullable=False),
    Index(None, "time_unix_nano", "node"),
)
"""``decision_key`` is null where it is the key of the span. The index grows at its end, which is cheap;
a list of one node's decisions walks it from the newest and skips the others without reading their rows."""

decision_detail = Table("decision_detail", metadata, _id(), Column("body", LargeBinary, nullable=False))
"""Candidates of a decision: JSON, compressed; apart from ``decision`` so that lists stay narrow."""

outcome = Table(
    "outcome",
    metadata,
    _id(),
    Column("decision_key", LargeBinary, nullable=False),
    Column("outcome", Text),
    Column("latency_ms", Double),
    Column("experiment", Text),
    Column("variant", Text),
    Unique("decision_key"),
)
"""The first outcome told for a decision, on the decision's own span or a later one."""

weight_series = Table(
    "weight_series",
    metadata,
    _id(),
    Column("service", Text, nullable=False),
    Column("policy", Text, nullable=False),
    Column("node", Text, nullable=False),
    Column("weight", Double),
    Column("score", Double),
    Column("scores", Text, nullable=False),
    Column("scorer_weights", Text, nullable=False),
    Column("time_unix_nano", BigInteger, nullable=False),
    Column("change", BigInteger, nullable=False),
    Column("seen_unix_nano", BigInteger, nullable=False),
    Column("retired", Boolean, nullable=False),
    Unique("service", "policy", "node"),
    Index(None, "change"),
)
"""Newest value of each series; a retired one only lends its names to the roll-ups still kept."""

weight_second = Table(
    "weight_second",
    metadata,
    Column("second", BigInteger, primary_key=True, autoincrement=False),
    Column("series_id", Id, primary_key=True, autoincrement=False),
    Column("chosen", Integer, nullable=False),
    Column("adjusted", Double, nullable=False),
    Column("unadjusted", Integer, nullable=False),
    Column("observations", Integer, nullable=False),
    Column("weight_sum", Double, nullable=False),
    Column("weight_min", Double),
    Column("weight_max", Double),
    Column("weight_last", Double),
    Column("last_unix_nano", BigInteger, nullable=False),
    Column("confidence_sum", Double, nullable=False),
    Column("confidences", Integer, nullable=False),
    sqlite_with_rowid=False,
)
"""1 s roll-up; ``adjusted`` sums the known sampling corrections, ``unadjusted`` counts the unknown."""

experiment_minute = Table(
    "experiment_minute",
    metadata,
    Column("experiment", Text, primary_key=True),
    Column("variant", Text, primary_key=True),
    Column("minute", BigInteger, primary_key=True, autoincrement=False),
    Column("exposures", Integer, nullable=False),
    Column("outcomes", Integer, nullable=False),
    Column("errors", Integer, nullable=False),
    Column("latencies", Integer, nullable=False),
    Column("latency_sum_ms", Double, nullable=False),
    Column("latency_sumsq_ms2", Double, nullable=False),
    Column("first_unix_nano", BigInteger, nullable=False),
    Column("last_unix_nano", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

intake_source = Table(
    "intake_source",
    metadata,
    Column("source", Text, primary_key=True),
    Column("accepted", BigInteger, nullable=False),
    Column("duplicated", BigInteger, nullable=False),
    Column("decisions", BigInteger, nullable=False),
    Column("unmapped", BigInteger, nullable=False),
    Column("message", Text, nullable=False),
    Column("last_seen_unix_nano", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

intake_reason = Table(
    "intake_reason",
    metadata,
    Column("source", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("reason", Text, primary_key=True),
    Column("count", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

intake_slot = Table(
    "intake_slot",
    metadata,
    Column("slot", BigInteger, primary_key=True, autoincrement=False),
    Column("source", Text, primary_key=True),
    Column("accepted", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
"""Accepted spans by 10 s of receive time; the last few minutes only, for the rates."""

process = Table(
    "process",
    metadata,
    Column("role", Text, primary_key=True),
    Column("instance", Text, primary_key=True),
    Column("version", Text, nullable=False),
    Column("started_unix_nano", BigInteger, nullable=False),
    Column("seen_unix_nano", BigInteger, nullable=False),
    Column("figures", Text, nullable=False),
    sqlite_with_rowid=False,
)

alert = Table(
    "alert",
    metadata,
    Column("id", Id, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("rule", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("labels", Text, nullable=False),
    Column("annotations", Text, nullable=False),
    Column("value", Double),
    Column("starts_unix_nano", BigInteger, nullable=False),
    Column("ends_unix_nano", BigInteger),
    Index(None, "state", "fingerprint"),
)

delivery = Table(
    "delivery",
    metadata,
    Column("id", Id, primary_key=True),
    Column("webhook_id", Text, nullable=False),
    Column("destination", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_attempt_unix_nano", BigInteger),
    Column("created_unix_nano", BigInteger, nullable=False),
    Column("delivered_unix_nano", BigInteger),
    Column("last_status", Integer),
    Column("last_error", Text, nullable=False),
    Unique("webhook_id"),
    Index(None, "state", "next_attempt_unix_nano"),
)
"""The outbox: one message to one destination, kept until it was delivered or given up."""

delivery_alert = Table(
    "delivery_alert",
    metadata,
    Column("alert_id", Id, primary_key=True, autoincrement=False),
    Column("delivery_id", Id, primary_key=True, autoincrement=False),
    Index(None, "delivery_id"),
    sqlite_with_rowid=False,
)

destination = Table(
    "destination",
    metadata,
    Column("name", Text, primary_key=True),
    Column("disabled_unix_nano", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    sqlite_with_rowid=False,
)
"""Destinations that answered 410 and get nothing until somebody enables them again."""

limit = Table(
    "store_limit",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Double),
    sqlite_with_rowid=False,
)
"""What retention holds to (``max_age_s``, ``max_size_bytes``), for readers in other processes."""
