"""Retention: age and size hold, the file really shrinks, and intake goes on."""

import threading

import pytest
from sqlalchemy import func, select

from storage import tables
from storage.control import Control, NewAlert, NewDelivery
from storage.records import DecisionQuery, ProcessRow, TimeRange
from storage.retention import DAY_S, Limits, Retention

MB = 2**20


def count(database, *chosen):
    with database.read() as connection:
        found = [connection.execute(select(func.count()).select_from(t)).scalar_one() for t in chosen]
    return found[0] if len(found) == 1 else found


def fill(kit, writer, start, number, *, size=0, node="a", end=None, service="router"):
    for first in range(start, start + number, 200):
        said = [
            kit.Said(
                trace=i,
                span=i,
                node=node,
                end=end or kit.START + i,
                service=service,
                attributes={"pad": "x" * size},
            )
            for i in range(first, min(first + 200, start + number))
        ]
        writer.write([kit.batch_of(said)])


def test_what_is_too_old_goes_and_the_rest_stays(kit, writer, clock, database, reader):
    """Spans, decisions, outcomes and roll-ups go by age, in several chunks; the counts follow."""
    fill(kit, writer, 1, 500)
    writer.write([kit.batch_of([kit.Said(trace=9999, span=1, about=(1, 1), outcome="ok")])])
    clock.now += 2 * 3600 * kit.NANO
    fill(kit, writer, 1001, 30, end=clock.now)
    retention = Retention(database, max_age_s=3600.0, limits=Limits(chunk_rows=64))
    report = retention.run_once(clock.now)
    assert (report.spans, report.decisions, report.roll_ups) == (501, 500, 1)
    assert count(database, tables.span, tables.decision, tables.outcome, tables.weight_second) == [
        30,
        30,
        0,
        1,
    ]
    figures = reader.health().store
    assert (figures.spans, figures.decisions, figures.max_age_s, figures.limit_bytes) == (
        30,
        30,
        3600.0,
        2 * 2**30,
    )
    assert retention.run_once(clock.now).spans == 0


def test_what_arrived_lately_stays_however_old_its_time(kit, writer, clock, database, reader):
    """A replay of last year's spans is kept for as long as if they were of today."""
    fill(kit, writer, 1, 10, end=kit.START - 400 * 86_400 * kit.NANO)
    assert Retention(database).run_once(clock.now).spans == 0
    assert len(reader.decisions(DecisionQuery()).items) == 10


def test_the_file_stays_below_its_size(kit, writer, clock, database, reader):
    """The oldest go first, the files on disk shrink below the limit, and the newest is still there."""
    fill(kit, writer, 1, 8_000, size=3_000)
    before = database.file_bytes()
    limit = 16 * MB
    assert before > 1.5 * limit
    report = Retention(database, max_size_bytes=limit).run_once(clock.now)
    assert report.size_bytes == database.file_bytes() < limit
    assert report.size_before_bytes == before
    kept = reader.decisions(DecisionQuery(), limit=1000).items
    assert int(kept[0].span_id, 16) == 8_000
    assert reader.trace(kit.trace_hex(1)) is None
    assert reader.health().store.spans == 8_000 - report.spans >= 1_000


def test_a_store_that_keeps_filling_stays_below_its_size(kit, writer, clock, database):
    """Round after round of intake and retention ends below the limit."""
    limit = 16 * MB
    retention = Retention(database, max_size_bytes=limit)
    for turn in range(4):
        fill(kit, writer, 1 + turn * 2_000, 2_000, size=3_000)
        retention.run_once(clock.now)
        assert database.file_bytes() < limit


def test_roll_ups_alone_cannot_break_the_size(kit, writer, clock, database):
    """With no span left to delete, the oldest roll-ups go."""
    with database.write() as connection:
        connection.exec_driver_sql(
            """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
            INSERT INTO weight_second SELECT 1800000000 + i / 64, i % 64, 1, 1, 0, 1, 1, 1, 1, 1, i, 0, 0 FROM n"""
        )
    assert database.file_bytes() > 12 * MB
    report = Retention(database, max_size_bytes=10 * MB, max_age_s=None).run_once(clock.now)
    assert database.file_bytes() < 10 * MB
    assert 0 < report.roll_ups < 300_000
    with database.read() as connection:
        assert (
            connection.execute(select(func.max(tables.weight_second.c.second))).scalar_one()
            == 1800000000 + 300000 // 64
        )


def test_intake_goes_on_during_a_run(kit, writer, clock, database, reader):
    """Writes from another thread land between the chunks, and none of them is lost."""
    fill(kit, writer, 1, 6_000)
    clock.now += 2 * 3600 * kit.NANO
    done = threading.Event()

    def run():
        Retention(database, max_age_s=3600.0, limits=Limits(chunk_rows=50)).run_once(clock.now)
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    number = 0
    while not done.is_set():
        number += 1
        writer.write([kit.batch_of([kit.Said(trace=10_000 + number, span=1, node="a", end=clock.now)])])
    thread.join()
    assert number > 10
    assert reader.health().store.spans == count(database, tables.span) == number


def test_names_go_when_nothing_refers_to_them(kit, writer, clock, database, reader):
    """Resources and series of yesterday's services go with their spans; a writer that knew them goes on."""
    fill(kit, writer, 1, 10, service="old", node="gone")
    clock.now += int(9 * DAY_S) * kit.NANO
    fill(kit, writer, 101, 10, service="new", end=clock.now)
    Retention(database).run_once(clock.now)
    assert count(database, tables.resource, tables.scope, tables.weight_series) == [1, 1, 1]
    fill(kit, writer, 201, 10, service="old", node="gone", end=clock.now)
    assert {row.service for row in reader.decisions(DecisionQuery()).items} == {"old", "new"}
    assert {sample.node for sample in reader.weights()} == {"a", "gone"}


def test_a_series_not_seen_for_a_day_leaves_the_live_view(kit, writer, clock, database, reader):
    """Its history and its name stay for as long as its roll-ups; being seen again brings it back."""
    fill(kit, writer, 1, 5, node="quiet")
    clock.now += int(1.5 * DAY_S) * kit.NANO
    fill(kit, writer, 11, 5, node="busy", end=clock.now)
    Retention(database).run_once(clock.now)
    assert [s.node for s in reader.weights()] == ["busy"]
    assert {p.node for p in reader.weight_history(TimeRange(0, 2**62))} == {"busy", "quiet"}
    assert len(reader.decisions(DecisionQuery(text="quiet")).items) == 5
    fill(kit, writer, 21, 5, node="quiet", end=clock.now)
    assert {s.node for s in reader.weights()} == {"busy", "quiet"}


def test_names_a_sender_invents_are_bounded(kit, writer, clock, database):
    """A new node for every span leaves only so many series, the newest."""
    said = [kit.Said(trace=i, span=i, node=f"n{i}") for i in range(1, 301)]
    for start in range(0, 300, 50):
        clock.now += 1
        writer.write([kit.batch_of(said[start : start + 50])])
    Retention(database, limits=Limits(series=100)).run_once(clock.now)
    assert count(database, tables.weight_series) == 100


def test_roll_ups_of_a_wrong_clock_go(kit, writer, clock, database):
    """Seconds more than a day ahead, which age would not reach for years, are deleted."""
    fill(kit, writer, 1, 1, end=kit.START + 400 * 86_400 * kit.NANO)
    fill(kit, writer, 2, 1)
    assert Retention(database).run_once(clock.now).roll_ups == 1


def test_old_alerts_go_and_firing_ones_stay(kit, clock, database, reader):
    """With an alert go its deliveries, except those still to be sent."""
    control = Control(database, clock)
    for i in range(4):
        row = control.open_alert(
            NewAlert(f"f{i}", "r", {}, {}, None, clock.now), [NewDelivery(f"w{i}", "d", b"")]
        )
        if i:
            control.resolve_alert(row.alert_id, ends_unix_nano=clock.now + i)
    control.mark_delivered("w1", status=200)
    clock.now += int(100 * DAY_S) * kit.NANO
    report = Retention(database).run_once(clock.now)
    assert report.alerts == 3
    assert [row.fingerprint for row in reader.alerts()] == ["f0"]
    assert [item.webhook_id for item in control.due(clock.now)] == ["w0", "w2", "w3"]


def test_resolved_alerts_are_bounded_in_number(clock, database, reader):
    """A flapping rule keeps its newest alerts only."""
    control = Control(database, clock)
    for i in range(10):
        row = control.open_alert(NewAlert("f", "r", {}, {}, float(i), clock.now))
        control.resolve_alert(row.alert_id, ends_unix_nano=clock.now + i)
    Retention(database, limits=Limits(alerts=3)).run_once(clock.now)
    assert [row.value for row in reader.alerts()] == [9.0, 8.0, 7.0]


def test_processes_not_heard_of_for_a_day_go(kit, clock, database, reader):
    """The health page shows who is there, not who ever was."""
    control = Control(database, clock)
    control.heartbeat(ProcessRow("serve", "old", "0", 0, clock.now - int(2 * DAY_S) * kit.NANO, {}))
    control.heartbeat(ProcessRow("serve", "new", "0", 0, clock.now, {}))
    Retention(database).run_once(clock.now)
    assert [p.instance for p in reader.health().processes] == ["new"]


def test_experiments_go_by_age_and_by_number(kit, writer, clock, database):
    """Old minutes go, and the oldest beyond the bound."""
    said = [
        kit.Said(trace=i, span=i, node="a", experiment="e", variant="v", end=kit.START - i * 60 * kit.NANO)
        for i in range(1, 21)
    ]
    said.append(
        kit.Said(
            trace=99,
            span=99,
            node="a",
            experiment="e",
            variant="v",
            end=kit.START - int(91 * DAY_S) * kit.NANO,
        )
    )
    writer.write([kit.batch_of(said)])
    Retention(database).run_once(clock.now)
    assert count(database, tables.experiment_minute) == 20
    Retention(database, limits=Limits(experiment_rows=5)).run_once(clock.now)
    assert count(database, tables.experiment_minute) == 5


@pytest.mark.parametrize("limits", [{"max_age_s": None}, {"max_size_bytes": None}])
def test_a_limit_may_be_absent(kit, writer, clock, database, reader, limits):
    """Without a limit nothing is deleted for it, and readers see that there is none."""
    fill(kit, writer, 1, 10)
    Retention(database, **limits).run_once(clock.now)
    figures = reader.health().store
    assert figures.spans == 10
    assert None in (figures.max_age_s, figures.limit_bytes)
