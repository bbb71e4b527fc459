"""Questions the dashboard asks, on small stores whose answers are plain."""

from dataclasses import fields

import pytest
from sqlalchemy import select

from storage import decision_rows, ids
from storage.records import DecisionColumns, DecisionQuery, DecisionRow, TimeRange
from storage.tables import decision, span, weight_series

ALL = TimeRange(0, 2**62)


@pytest.fixture
def many(kit, writer):
    """Thirty decisions, a second apart, on three nodes of two services."""
    said = [
        kit.Said(
            trace=i,
            span=i,
            end=kit.START + i * kit.NANO,
            node="abc"[i % 3],
            service="st"[i % 2],
            policy="p%_" if i % 5 == 0 else "q",
            weight=i / 10,
            confidence=None if i % 4 == 0 else i / 100,
            outcome="error" if i % 6 == 0 else None,
            experiment="e" if i % 2 else None,
            variant="v" if i % 2 else None,
        )
        for i in range(1, 31)
    ]
    writer.write([kit.batch_of(said)])
    return said


def found(reader, **query):
    return [int(row.span_id, 16) for row in reader.decisions(DecisionQuery(**query), limit=1000).items]


@pytest.mark.parametrize(
    ("query", "keeps"),
    [
        ({}, lambda s: True),
        ({"service": "s"}, lambda s: s.service == "s"),
        ({"node": "a"}, lambda s: s.node == "a"),
        ({"policy": "p%_"}, lambda s: s.policy == "p%_"),
        ({"weight_min": 0.5, "weight_max": 2.0}, lambda s: 0.5 <= s.weight <= 2.0),
        ({"confidence_min": 0.1}, lambda s: s.confidence is not None and s.confidence >= 0.1),
        ({"confidence_max": 0.1}, lambda s: s.confidence is not None and s.confidence <= 0.1),
        ({"outcome": "error"}, lambda s: s.outcome == "error"),
        ({"experiment": "e", "variant": "v"}, lambda s: s.experiment == "e"),
        (
            {"node": "a", "service": "t", "outcome": "error"},
            lambda s: (s.node, s.service, s.outcome) == ("a", "t", "error"),
        ),
        ({"node": "nobody"}, lambda s: False),
    ],
)
def test_filters_keep_what_they_say(many, reader, query, keeps):
    """Each filter alone and several together, newest first; the count agrees."""
    expected = [s.span for s in reversed(many) if keeps(s)]
    assert found(reader, **query) == expected
    assert reader.count_decisions(DecisionQuery(**query)) == len(expected)


def test_a_time_range_is_half_open(kit, many, reader):
    """The start belongs to it, the end does not."""
    time = TimeRange(kit.START + 5 * kit.NANO, kit.START + 8 * kit.NANO)
    assert found(reader, time=time) == [7, 6, 5]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("%", "policy"),
        ("_", "policy"),
        ("P%", "policy"),
        ("\\", "none"),
        ("nobody", "none"),
        ("' OR 1=1 --", "none"),
        ("  ", "all"),
    ],
)
def test_text_is_taken_literally(many, reader, text, spans):
    """Wildcards and quotes are ordinary characters; blanks ask for nothing."""
    expected = {
        "policy": [s.span for s in reversed(many) if s.policy == "p%_"],
        "none": [],
        "all": [s.span for s in reversed(many)],
    }
    assert found(reader, text=text) == expected[spans]


def test_text_finds_a_trace_by_the_beginning_of_its_id(kit, writer, reader):
    """Eight or more hex digits of a trace id, in any case; a name of hex digits is found as well."""
    trace = 0xABCDEF12 << 96
    writer.write(
        [
            kit.batch_of(
                [kit.Said(trace=trace + 1, span=1, node="pod-7d9f8b6c"), kit.Said(trace=5, span=2, node="x")]
            )
        ]
    )
    assert found(reader, text="ABCDEF12") == [1]
    assert found(reader, text=kit.trace_hex(trace + 1)) == [1]
    assert found(reader, text=kit.trace_hex(5)[:-1]) == [2]
    assert found(reader, text="7d9f8b6c") == [1]


def test_pages_follow_each_other_without_gap_or_repeat(kit, many, writer, reader):
    """Walking by cursor shows each decision once, even those of the same time, while new ones arrive."""
    same = [kit.Said(trace=100 + i, span=100 + i, end=kit.START + 15 * kit.NANO, node="a") for i in range(10)]
    writer.write([kit.batch_of(same)])
    everything, seen, cursor = found(reader), [], None
    while True:
        page = reader.decisions(DecisionQuery(), limit=7, cursor=cursor)
        seen += [int(row.span_id, 16) for row in page.items]
        writer.write(
            [
                kit.batch_of(
                    [kit.Said(trace=1000 + len(seen), span=1, end=kit.START + 99 * kit.NANO, node="a")]
                )
            ]
        )
        if (cursor := page.next) is None:
            break
    assert seen == everything
    assert len(seen) == 40


def test_pages_by_offset_agree_with_pages_by_cursor(many, reader):
    """A grid that asks for rows 10 to 19 gets them."""
    page = reader.decisions(DecisionQuery(), limit=10, offset=10)
    assert [int(row.span_id, 16) for row in page.items] == found(reader)[10:20]
    assert reader.decisions(DecisionQuery(), limit=10, offset=10**6).items == ()


def test_the_last_page_says_so(many, reader):
    """There is no cursor after the end, also when the end is the end of a full page."""
    assert reader.decisions(DecisionQuery(), limit=30).next is None
    assert reader.decisions(DecisionQuery(), limit=29).next is not None


@pytest.mark.parametrize("cursor", ["", "x", "MTox", "!!!!", "é", "MS4y=", "LTEuMQ==", "a" * 5000])
def test_a_cursor_that_is_none_is_refused(reader, cursor):
    """Only what a page gave is a cursor."""
    with pytest.raises(ValueError, match="cursor"):
        reader.decisions(DecisionQuery(), cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_page_has_a_sensible_size(reader, limit):
    """Between one and a thousand."""
    with pytest.raises(ValueError, match="limit"):
        reader.decisions(DecisionQuery(), limit=limit)


def test_counting_stops_at_the_cap(many, reader):
    """Beyond the cap the answer is the cap."""
    assert reader.count_decisions(DecisionQuery(), cap=12) == 12


def test_every_column_of_a_decision_comes_back(kit, writer, reader):
    """What goes in as a column comes out as a field; forgetting one fails here."""
    values = {
        "policy_version": "7", "policy_fingerprint": "f00", "strategy": "argmax", "reason": "best", "candidates_total": 9,
        "margin": 0.25, "tie_count": 2, "propensity": 0.5, "signal_age_ms": 12.5, "tenant": "acme", "model": "m",
        "inferred": True,
    }  # fmt: skip
    said = kit.Said(
        node="a",
        weight=0.75,
        confidence=0.5,
        outcome="ok",
        latency_ms=3.5,
        experiment="e",
        variant="v",
        adjusted=4.0,
        more=values,
    )
    writer.write([kit.batch_of([said])])
    row = reader.decision(kit.trace_hex(1), kit.span_hex(1)).row
    for name, value in values.items():
        assert getattr(row, name) == value, name
    assert (row.node, row.weight, row.confidence, row.outcome, row.outcome_latency_ms) == (
        "a",
        0.75,
        0.5,
        "ok",
        3.5,
    )
    assert (row.experiment, row.variant, row.adjusted_count) == ("e", "v", 4.0)
    assert (row.time_unix_nano, row.duration_nano, row.service, row.instance) == (
        kit.START,
        1_000,
        "router",
        "router-0",
    )
    assert row.decision_id == f"{row.trace_id}/{row.span_id}"
    assert {f.name for f in fields(DecisionColumns)} - {f.name for f in fields(DecisionRow)} == {
        "span_index",
        "decision_key",
        "detail",
    }


def test_an_unknown_decision_or_trace_is_none(reader, kit, writer):
    """Neither an id nobody sent nor a span that is no decision is an error."""
    writer.write([kit.batch_of([kit.Said()])])
    assert reader.decision(kit.trace_hex(1), kit.span_hex(1)) is None
    assert reader.decision(kit.trace_hex(2), kit.span_hex(1)) is None
    assert reader.trace(kit.trace_hex(2)) is None


@pytest.mark.parametrize("trace_id", ["", "abc", "g" * 32, "0" * 33, " " * 32, "٠" * 32, "0x" + "0" * 30])
def test_an_id_that_is_none_is_refused(reader, trace_id):
    """Only 32 hex digits are a trace id."""
    with pytest.raises(ValueError, match="hex"):
        reader.trace(trace_id)


def test_a_trace_shows_its_spans_by_start(kit, writer, reader):
    """Parents, times and attributes come back; a list cut short says how many there are."""
    said = [
        kit.Said(
            trace=7,
            span=1,
            name="root",
            end=kit.START + 900,
            duration=900,
            attributes={"n": 1, "f": float("nan"), "b": b"\x00"},
        ),
        kit.Said(trace=7, span=3, parent=1, name="late", end=kit.START + 800, duration=100),
        kit.Said(trace=7, span=2, parent=1, node="a", end=kit.START + 200, duration=100),
        kit.Said(trace=8, span=1),
    ]
    writer.write([kit.batch_of(said)])
    trace = reader.trace(kit.trace_hex(7).upper())
    assert [(s.name, s.is_decision) for s in trace.spans] == [
        ("root", False),
        ("schedule p", True),
        ("late", False),
    ]
    assert [s.parent_span_id for s in trace.spans] == [None, kit.span_hex(1), kit.span_hex(1)]
    assert trace.spans[0].attributes == {"n": 1, "f": "NaN", "b": {"bytesValue": "AA=="}}
    assert (trace.spans[0].start_unix_nano, trace.spans[0].end_unix_nano) == (kit.START, kit.START + 900)
    assert trace.spans[0].resource == {"service.name": "router"}
    cut = reader.trace(kit.trace_hex(7), limit=2)
    assert (len(cut.spans), cut.total) == (2, 3)


def test_shares_of_nodes_add_up(kit, writer, reader):
    """Stated shares come from weights second by second, realised shares from what was chosen."""
    said = [
        kit.Said(span=1, node="a", weight=3.0, end=kit.START),
        kit.Said(span=2, node="b", weight=1.0, end=kit.START + 1),
        kit.Said(span=3, node="a", weight=1.0, end=kit.START + kit.NANO),
        kit.Said(span=4, node="c", weight=None, end=kit.START, policy="q"),
    ]
    writer.write([kit.batch_of(said)])
    a, b, c = reader.nodes(ALL)
    assert (a.node, a.decisions, a.realised_share, a.stated_share) == (
        "a",
        2,
        pytest.approx(2 / 3),
        pytest.approx(0.875),
    )
    assert (b.node, b.decisions, b.realised_share, b.stated_share) == (
        "b",
        1,
        pytest.approx(1 / 3),
        pytest.approx(0.125),
    )
    assert (c.node, c.weight, c.stated_share, c.realised_share) == ("c", None, None, 1.0)
    assert (a.weight, a.last_seen_unix_nano) == (1.0, kit.START + kit.NANO)
    assert [n.node for n in reader.nodes(ALL, policy="q")] == ["c"]
    first = TimeRange(kit.START, kit.START + kit.NANO)
    assert [(n.node, n.decisions) for n in reader.nodes(first, policy="p")] == [("a", 1), ("b", 1)]


def test_weight_history_is_by_second_and_filtered(kit, many, reader):
    """One point for each second a series was mentioned in."""
    points = reader.weight_history(TimeRange(kit.START + 3 * kit.NANO, kit.START + 9 * kit.NANO), node="a")
    assert [(p.second, p.node) for p in points] == [((kit.START // kit.NANO) + i, "a") for i in (3, 6)]
    assert reader.weight_history(ALL, service="nobody") == ()


def test_facets_name_what_there_is(kit, many, reader):
    """All of it, or what a range has seen."""
    assert reader.facets().nodes == ("a", "b", "c")
    assert reader.facets(TimeRange(kit.START + 3 * kit.NANO, kit.START + 4 * kit.NANO)).nodes == ("a",)
    assert reader.facets(TimeRange(kit.START, kit.START + 10**15)).services == ("s", "t")
    assert reader.facets(TimeRange(kit.START + 10**14, kit.START + 10**15)).policies == ()


def test_an_empty_store_answers_everything(reader):
    """No rows, no errors: the first page a person sees."""
    assert reader.decisions(DecisionQuery()).items == ()
    assert (
        reader.weights()
        == reader.weight_history(ALL)
        == reader.nodes(ALL)
        == reader.experiments()
        == reader.alerts()
        == ()
    )
    assert reader.facets(ALL) == reader.facets()
    health = reader.health()
    assert (health.sources, health.processes) == ((), ())
    assert (health.store.spans, health.store.oldest_unix_nano, health.store.schema) == (0, None, "0001")
    assert health.store.size_bytes > 0


def test_the_data_version_changes_when_somebody_commits(kit, writer, reader, database):
    """It stays while nothing happens, moves with a commit and works again after its connection is gone."""
    first = reader.data_version()
    assert reader.data_version() == first
    writer.write([kit.batch_of([kit.Said()])])
    assert reader.data_version() != first
    reader.close()
    assert isinstance(reader.data_version(), int)


def plan(database, statement):
    with database.read() as connection:
        compiled = statement.compile(connection, compile_kwargs={"literal_binds": True})
        return " | ".join(row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}"))


@pytest.mark.parametrize(
    "query",
    [
        DecisionQuery(),
        DecisionQuery(time=ALL),
        DecisionQuery(node="a"),
        DecisionQuery(time=ALL, service="s", policy="p", weight_min=0.1),
        DecisionQuery(outcome="ok"),
        DecisionQuery(text="a"),
    ],
)
def test_lists_walk_an_index_in_its_order(many, database, query):
    """No list reads the whole table or sorts it to show a page."""
    with database.read() as connection:
        statement = decision_rows.matching(connection, query)
    statement = statement.order_by(decision.c.time_unix_nano.desc(), decision.c.id.desc()).limit(100)
    steps = plan(database, statement)
    assert "ix_decision_time_unix_nano_node" in steps.split(" | ")[0]
    assert "SCAN span" not in steps
    assert "SCAN outcome" not in steps
    assert "USE TEMP B-TREE FOR ORDER BY" not in steps


def test_single_rows_and_traces_are_found_by_index(many, database, kit):
    """A trace and a decision are ranges of one index."""
    trace = select(span.c.id).where(span.c.key.between(*ids.of_trace(bytes(16))))
    assert "sqlite_autoindex_span_1 (key>? AND key<?)" in plan_bound(database, trace)
    changed = select(weight_series.c.id).where(weight_series.c.change > 5).order_by(weight_series.c.change)
    assert "ix_weight_series_change" in plan(database, changed)


def plan_bound(database, statement):
    with database.read() as connection:
        compiled = statement.compile(connection)
        parameters = tuple(compiled.params[name] for name in compiled.positiontup)
        return " | ".join(
            row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}", parameters)
        )
