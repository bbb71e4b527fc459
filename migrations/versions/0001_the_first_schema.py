"""The first schema: spans, decisions, outcomes, weights, experiments, intake, alerts."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
COUNTERS = ("span", "change", "name", "generation", "spans", "decisions")


def upgrade() -> None:
    op.create_table(
        "alert",
        sa.Column("id", Id, nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("labels", sa.Text(), nullable=False),
        sa.Column("annotations", sa.Text(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("starts_unix_nano", sa.BigInteger(), nullable=False),
        sa.Column("ends_unix_nano", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert")),
    )
    op.create_index(op.f("ix_alert_state_fingerprint"), "alert", ["state", "fingerprint"])

    op.create_table(
        "counter",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_counter")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "decision",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("decision_key", sa.LargeBinary(), nullable=True),
        sa.Column("time_unix_nano", sa.BigInteger(), nullable=False),
        sa.Column("resource_id", Id, nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("policy_version", sa.Text(), nullable=True),
        sa.Column("policy_fingerprint", sa.Text(), nullable=True),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=True),
        sa.Column("confidence", sa.Double(), nullable=True),
        sa.Column("strategy", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("candidates_total", sa.BigInteger(), nullable=True),
        sa.Column("margin", sa.Double(), nullable=True),
        sa.Column("tie_count", sa.BigInteger(), nullable=True),
        sa.Column("propensity", sa.Double(), nullable=True),
        sa.Column("signal_age_ms", sa.Double(), nullable=True),
        sa.Column("tenant", sa.Text(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("experiment", sa.Text(), nullable=True),
        sa.Column("variant", sa.Text(), nullable=True),
        sa.Column("inferred", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decision")),
    )
    op.create_index(op.f("ix_decision_time_unix_nano_node"), "decision", ["time_unix_nano", "node"])

    op.create_table(
        "decision_detail",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decision_detail")),
    )
    op.create_table(
        "delivery",
        sa.Column("id", Id, nullable=False),
        sa.Column("webhook_id", sa.Text(), nullable=False),
        sa.Column("destination", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_attempt_unix_nano", sa.BigInteger(), nullable=True),
        sa.Column("created_unix_nano", sa.BigInteger(), nullable=False),
        sa.Column("delivered_unix_nano", sa.BigInteger(), nullable=True),
        sa.Column("last_status", sa.Integer(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery")),
        sa.UniqueConstraint("webhook_id", name=op.f("uq_delivery_webhook_id")),
    )
    op.create_index(
        op.f("ix_delivery_state_next_attempt_unix_nano"), "delivery", ["state", "next_attempt_unix_nano"]
    )

    op.create_table(
        "delivery_alert",
        sa.Column("alert_id", Id, autoincrement=False, nullable=False),
        sa.Column("delivery_id", Id, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("alert_id", "delivery_id", name=op.f("pk_delivery_alert")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_delivery_alert_delivery_id"), "delivery_alert", ["delivery_id"])

    op.create_table(
        "destination",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("disabled_unix_nano", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_destination")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "experiment_minute",
        sa.Column("experiment", sa.Text(), nullable=False),
        sa.Column("variant", sa.Text(), nullable=False),
        sa.Column("minute", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("exposures", sa.Integer(), nullable=False),
        sa.Column("outcomes", sa.Integer(), nullable=False),
        sa.Column("errors", sa.Integer(), nullable=False),
        sa.Column("latencies", sa.Integer(), nullable=False),
        sa.Column("latency_sum_ms", sa.Double(), nullable=False),
        sa.Column("latency_sumsq_ms2", sa.Double(), nullable=False),
        sa.Column("first_unix_nano", sa.BigInteger(), nullable=False),
        sa.Column("last_unix_nano", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("experiment", "variant", "minute", name=op.f("pk_experiment_minute")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "intake_reason",
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("source", "kind", "reason", name=op.f("pk_intake_reason")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "intake_slot",
        sa.Column("slot", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("accepted", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("slot", "source", name=op.f("pk_intake_slot")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "intake_source",
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("accepted", sa.BigInteger(), nullable=False),
        sa.Column("duplicated", sa.BigInteger(), nullable=False),
        sa.Column("decisions", sa.BigInteger(), nullable=False),
        sa.Column("unmapped", sa.BigInteger(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("last_seen_unix_nano", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("source", name=op.f("pk_intake_source")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "outcome",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("decision_key", sa.LargeBinary(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("latency_ms", sa.Double(), nullable=True),
        sa.Column("experiment", sa.Text(), nullable=True),
        sa.Column("variant", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outcome")),
        sa.UniqueConstraint("decision_key", name=op.f("uq_outcome_decision_key")),
    )
    op.create_table(
        "process",
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("instance", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("started_unix_nano", sa.BigInteger(), nullable=False),
        sa.Column("seen_unix_nano", sa.BigInteger(), nullable=False),
        sa.Column("figures", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("role", "instance", name=op.f("pk_process")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "resource",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("service", sa.Text(), nullable=False),
        sa.Column("instance", sa.Text(), nullable=False),
        sa.Column("attributes", sa.LargeBinary(), nullable=False),
        sa.Column("seen_unix_nano", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_resource")),
        sa.UniqueConstraint("hash", name=op.f("uq_resource_hash")),
    )
    op.create_table(
        "scope",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("seen_unix_nano", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scope")),
        sa.UniqueConstraint("hash", name=op.f("uq_scope_hash")),
    )
    op.create_table(
        "span",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("parent_span_id", sa.LargeBinary(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Integer(), nullable=False),
        sa.Column("start_unix_nano", sa.BigInteger(), nullable=False),
        sa.Column("end_unix_nano", sa.BigInteger(), nullable=False),
        sa.Column("resource_id", Id, nullable=False),
        sa.Column("scope_id", Id, nullable=False),
        sa.Column("status_code", sa.Integer(), nullable=False),
        sa.Column("status_message", sa.Text(), nullable=False),
        sa.Column("trace_state", sa.Text(), nullable=False),
        sa.Column("adjusted_count", sa.Double(), nullable=True),
        sa.Column("flagged", sa.Boolean(), nullable=False),
        sa.Column("received_unix_nano", sa.BigInteger(), nullable=False),
        sa.Column("attributes", sa.LargeBinary(), nullable=False),
        sa.Column("events", sa.LargeBinary(), nullable=False),
        sa.Column("links", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_span")),
        sa.UniqueConstraint("key", name=op.f("uq_span_key")),
    )
    op.create_table(
        "store_limit",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_store_limit")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "weight_second",
        sa.Column("second", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("series_id", Id, autoincrement=False, nullable=False),
        sa.Column("chosen", sa.Integer(), nullable=False),
        sa.Column("adjusted", sa.Double(), nullable=False),
        sa.Column("unadjusted", sa.Integer(), nullable=False),
        sa.Column("observations", sa.Integer(), nullable=False),
        sa.Column("weight_sum", sa.Double(), nullable=False),
        sa.Column("weight_min", sa.Double(), nullable=True),
        sa.Column("weight_max", sa.Double(), nullable=True),
        sa.Column("weight_last", sa.Double(), nullable=True),
        sa.Column("last_unix_nano", sa.BigInteger(), nullable=False),
        sa.Column("confidence_sum", sa.Double(), nullable=False),
        sa.Column("confidences", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("second", "series_id", name=op.f("pk_weight_second")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "weight_series",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("service", sa.Text(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("node", sa.Text(), nullable=False),
        sa.Column("weight", sa.Double(), nullable=True),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("scores", sa.Text(), nullable=False),
        sa.Column("scorer_weights", sa.Text(), nullable=False),
        sa.Column("time_unix_nano", sa.BigInteger(), nullable=False),
        sa.Column("change", sa.BigInteger(), nullable=False),
        sa.Column("seen_unix_nano", sa.BigInteger(), nullable=False),
        sa.Column("retired", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_weight_series")),
        sa.UniqueConstraint("service", "policy", "node", name=op.f("uq_weight_series_service_policy_node")),
    )
    op.create_index(op.f("ix_weight_series_change"), "weight_series", ["change"])

    counter = sa.table("counter", sa.column("name", sa.Text), sa.column("value", sa.BigInteger))
    op.bulk_insert(counter, [{"name": name, "value": 0} for name in COUNTERS])


def downgrade() -> None:
    op.drop_index(op.f("ix_weight_series_change"), table_name="weight_series")

    op.drop_table("weight_series")
    op.drop_table("weight_second")
    op.drop_table("store_limit")
    op.drop_table("span")
    op.drop_table("scope")
    op.drop_table("resource")
    op.drop_table("process")
    op.drop_table("outcome")
    op.drop_table("intake_source")
    op.drop_table("intake_slot")
    op.drop_table("intake_reason")
    op.drop_table("experiment_minute")
    op.drop_table("destination")
    op.drop_index(op.f("ix_delivery_alert_delivery_id"), table_name="delivery_alert")

    op.drop_table("delivery_alert")
    op.drop_index(op.f("ix_delivery_state_next_attempt_unix_nano"), table_name="delivery")

    op.drop_table("delivery")
    op.drop_table("decision_detail")
    op.drop_index(op.f("ix_decision_time_unix_nano_node"), table_name="decision")

    op.drop_table("decision")
    op.drop_table("counter")
    op.drop_index(op.f("ix_alert_state_fingerprint"), table_name="alert")

    op.drop_table("alert")
