"""What processes tell of themselves: counts, heartbeats, alerts and their deliveries."""

import pytest

from storage.control import Control, NewAlert, NewDelivery
from storage.database import Database
from storage.intake_rows import MAX_REASONS, MAX_SOURCES, OTHER_REASONS, OTHER_SOURCES
from storage.records import IntakeTally, ProcessRow


@pytest.fixture
def control(database, clock):
    return Control(database, clock)


def drift(fingerprint="f", **changed):
    values = {
        "rule": "drift",
        "labels": {"node": "a"},
        "annotations": {"summary": "s"},
        "value": 1.5,
        "starts_unix_nano": 10,
    }
    return NewAlert(fingerprint, **(values | changed))


def test_counts_add_up_by_source_and_reason(control, reader):
    """Deltas of several flushes become totals; the newest message and time stay."""
    control.record_intake(
        [
            IntakeTally(
                "a",
                accepted=5,
                decisions=3,
                unmapped=2,
                rejected={"x": 1},
                message="m",
                last_seen_unix_nano=9,
            )
        ]
    )
    control.record_intake(
        [
            IntakeTally("a", accepted=1, duplicated=4, warned={"y": 2}, last_seen_unix_nano=7),
            IntakeTally("b", rejected={"x": 1}),
        ]
    )
    a, b = reader.health().sources
    assert (a.source, a.accepted, a.duplicated, a.decisions, a.unmapped) == ("a", 6, 4, 3, 2)
    assert (a.rejected, a.warned, a.message, a.last_seen_unix_nano) == ({"x": 1}, {"y": 2}, "m", 9)
    assert (b.accepted, b.rejected, b.rate) == (0, {"x": 1}, 0.0)


def test_the_rate_is_over_the_last_minute(kit, control, clock, reader):
    """Spans count for a minute and then no more; idle sources fall to nought."""
    clock.now = 1_800_000_000 * kit.NANO
    for _ in range(12):
        clock.now += 5 * kit.NANO
        control.record_intake([IntakeTally("a", accepted=50)])
    assert reader.health().sources[0].rate == pytest.approx(10, rel=0.2)
    clock.now += 61 * kit.NANO
    assert reader.health().sources[0].rate == 0


def test_the_history_behind_rates_is_bounded(kit, control, clock, database):
    """A day of flushes leaves only the last minutes of it."""
    for _ in range(100):
        clock.now += 600 * kit.NANO
        control.record_intake([IntakeTally("a", accepted=1)])
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM intake_slot").scalar_one() == 1


def test_sources_and_reasons_a_sender_invents_are_bounded(control, reader):
    """Beyond a number of names further ones are counted together."""
    control.record_intake([IntakeTally(f"s{i:05}", accepted=1) for i in range(MAX_SOURCES + 20)])
    control.record_intake([IntakeTally("s00000", rejected={f"r{i:04}": 1 for i in range(MAX_REASONS + 7)})])
    sources = {row.source: row for row in reader.health().sources}
    assert len(sources) == MAX_SOURCES + 1
    assert sources[OTHER_SOURCES].accepted == 20
    assert sources["s00000"].rejected[OTHER_REASONS] == 7


def test_hostile_names_are_counted(control, reader):
    """A source whose name no UTF-8 can hold is counted all the same."""
    control.record_intake([IntakeTally("\ud800", accepted=1, rejected={"\udfff": 1}, message="\ud800")])
    assert reader.health().sources[0].source == "?"


def test_a_heartbeat_replaces_the_one_before(control, reader):
    """Each process has one row, with its newest figures."""
    for seen in (1, 2):
        control.heartbeat(ProcessRow("collect", "i", "0.1", 0, seen, {"queue_spans": float(seen)}))
    control.heartbeat(ProcessRow("serve", "i", "0.1", 0, 1, {}))
    assert [(p.role, p.seen_unix_nano, p.figures) for p in reader.health().processes] == [
        ("collect", 2, {"queue_spans": 2.0}),
        ("serve", 1, {}),
    ]


def test_an_alert_opens_changes_and_resolves(control, reader):
    """One row from firing to resolved, shown with what was delivered."""
    row = control.open_alert(drift(), [NewDelivery("w1", "hook", b"{}")])
    assert (row.state, row.value, row.labels, row.ends_unix_nano) == ("firing", 1.5, {"node": "a"}, None)
    assert control.update_alert(row.alert_id, value=2.0).annotations == {"summary": "s"}
    assert control.update_alert(row.alert_id, value=3.0, annotations={}).annotations == {}
    ended = control.resolve_alert(
        row.alert_id, ends_unix_nano=20, deliveries=[NewDelivery("w2", "hook", b"{}")]
    )
    assert (ended.state, ended.value, ended.ends_unix_nano) == ("resolved", 3.0, 20)
    assert [d.webhook_id for d in ended.deliveries] == ["w1", "w2"]
    assert reader.alerts() == (ended,) == reader.alerts(state="resolved")
    assert control.firing() == () == reader.alerts(state="firing")


def test_an_alert_that_fires_is_not_opened_twice(control):
    """Opening it again, as after a restart, updates it and keeps its beginning."""
    first = control.open_alert(drift())
    again = control.open_alert(drift(value=9.0, starts_unix_nano=99))
    assert (again.alert_id, again.value, again.starts_unix_nano) == (first.alert_id, 9.0, 10)
    control.resolve_alert(first.alert_id, ends_unix_nano=20)
    assert control.open_alert(drift()).alert_id != first.alert_id


def test_a_resolved_alert_is_left_alone(control):
    """Neither a value nor a second end reaches it, and nothing is queued for it."""
    row = control.open_alert(drift())
    control.resolve_alert(row.alert_id, ends_unix_nano=20)
    assert control.update_alert(row.alert_id, value=5.0) is None
    assert (
        control.resolve_alert(row.alert_id, ends_unix_nano=30, deliveries=[NewDelivery("w", "h", b"")])
        is None
    )
    assert control.due(2**62) == ()


def test_deliveries_survive_a_restart_until_they_are_done(control, database, clock):
    """What is pending is found by the next process; what was delivered is not."""
    row = control.open_alert(drift(), [NewDelivery("w1", "hook", b"body"), NewDelivery("w2", "hook", b"")])
    control.mark_delivered("w2", status=204)
    database.dispose()
    restarted = Control(Database(database.url), clock)
    (item,) = restarted.due(clock.now)
    assert (item.webhook_id, item.body, item.attempts, item.alert_ids) == ("w1", b"body", 0, (row.alert_id,))
    restarted._database.dispose()


def test_a_retry_waits_for_its_time(control):
    """A failed attempt is counted and due again only later; then it may be given up."""
    control.open_alert(drift(), [NewDelivery("w", "hook", b"")])
    control.mark_retry("w", next_attempt_unix_nano=500, status=503, error="busy")
    assert control.due(499) == ()
    assert control.due(500)[0].attempts == 1
    control.mark_failed("w", status=None, error="gone")
    (delivery,) = control.firing()[0].deliveries
    assert (delivery.state, delivery.attempts, delivery.last_status, delivery.last_error) == (
        "failed",
        2,
        None,
        "gone",
    )
    assert control.due(2**62) == ()


def test_the_longest_waiting_is_due_first(control):
    """Deliveries come in the order of their time, up to the limit."""
    row = control.open_alert(drift())
    control.enqueue(
        [NewDelivery(f"w{t}", "hook", b"", due_unix_nano=t) for t in (30, 10, 20)], [row.alert_id]
    )
    assert [item.webhook_id for item in control.due(100, limit=2)] == ["w10", "w20"]


def test_a_message_is_queued_once(control):
    """The same webhook id again is ignored."""
    row = control.open_alert(drift())
    assert control.enqueue([NewDelivery("w", "hook", b"1")], [row.alert_id]) == 1
    assert control.enqueue([NewDelivery("w", "hook", b"2")], [row.alert_id]) == 0
    assert control.due(1)[0].body == b"1"


def test_a_disabled_destination_gets_nothing(control):
    """What waited for it is given up, and what comes later is not sent until it is enabled."""
    row = control.open_alert(drift(), [NewDelivery("w1", "hook", b""), NewDelivery("w2", "other", b"")])
    control.disable("hook", reason="410 Gone")
    control.enqueue([NewDelivery("w3", "hook", b"")], [row.alert_id])
    assert [item.webhook_id for item in control.due(2**62)] == ["w2"]
    assert [d.state for d in control.alert(row.alert_id).deliveries] == ["disabled", "pending", "disabled"]
    assert control.disabled() == {"hook": "410 Gone"}
    control.enable("hook")
    control.enqueue([NewDelivery("w4", "hook", b"")], [row.alert_id])
    assert [item.webhook_id for item in control.due(2**62)] == ["w2", "w4"]


def test_alerts_are_listed_newest_first(control, reader):
    """The list is cut at its limit."""
    for i in range(5):
        control.open_alert(drift(f"f{i}", starts_unix_nano=i))
    assert [row.fingerprint for row in reader.alerts(limit=3)] == ["f4", "f3", "f2"]
    assert [row.fingerprint for row in control.firing()] == ["f0", "f1", "f2", "f3", "f4"]
    assert control.alert(10**6) is None
