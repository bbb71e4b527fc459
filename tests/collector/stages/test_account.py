"""Accounting: exact counts by source, and one line for the sender."""

import pytest

from collector.adapters.registry import adapt
from collector.decode import Encoding, decode_traces
from collector.metrics import CollectorMetrics
from collector.stages.account import Account, apportion, tell
from collector.tallies import Tallies
from storage.records import AdaptedBatch, WriteResult


@pytest.fixture
def account():
    tallies = Tallies()
    return tallies, Account(tallies, CollectorMetrics(), lambda: 42)


def parts(request):
    decoded = decode_traces(request.SerializeToString(), Encoding.PROTOBUF)
    found = adapt(decoded.batch)
    return decoded, AdaptedBatch(decoded.batch, found.decisions, found.outcomes)


def test_sources_of_one_request_are_counted_apart(account, make_request):
    """Decisions, outcomes and plain spans are told apart for each source."""
    tallies, counting = account
    request = make_request(2, service="a", decision__node="n", weight=1.0)
    request.resource_spans.append(make_request(3, service="b", first=10).resource_spans[0])
    request.resource_spans.append(
        make_request(1, service="c", first=20, decision__id="x", decision__outcome="ok").resource_spans[0]
    )
    decoded, adapted = parts(request)
    counting.traces(decoded, adapted, WriteResult(6, 0, 2))
    seen = {
        t.source: (t.accepted, t.duplicated, t.decisions, t.unmapped, t.last_seen_unix_nano)
        for t in tallies.drain()
    }
    assert seen == {"a": (2, 0, 2, 0, 42), "b": (3, 0, 0, 3, 42), "c": (1, 0, 0, 0, 42)}


def test_rejects_of_a_source_without_kept_spans_are_counted(account, make_request):
    """A source all of whose spans were rejected still shows, with its reasons."""
    tallies, counting = account
    request = make_request(1, service="")
    request.resource_spans[0].scope_spans[0].spans[0].trace_id = b""
    decoded, adapted = parts(request)
    message = counting.traces(decoded, adapted, WriteResult(0, 0, 0))
    (tally,) = tallies.drain()
    assert (tally.source, tally.accepted, tally.message) == ("unknown_service", 0, message)
    assert tally.rejected == {"trace_id is not 16 bytes": 1}


def test_the_message_names_the_most_frequent_reasons():
    """Several sources and reasons become one bounded line."""
    rejects = {("a", "r1"): 2, ("b", "r1"): 1}
    warnings = {("a", f"w{i}"): i for i in range(1, 8)}
    assert tell({}, {}) == ""
    assert tell(rejects, warnings) == (
        "rejected: 3 x r1; kept with warnings: 7 x w7, 6 x w6, 5 x w5, 4 x w4, 3 x w3 and 2 more reasons"
    )


def test_shares_sum_to_the_total():
    """Largest remainder: nothing is lost or invented."""
    assert apportion(10, {"a": 1, "b": 1, "c": 1}) == {"a": 4, "b": 3, "c": 3}
    assert apportion(0, {"a": 2}) == {"a": 0}
    assert apportion(0, {}) == {}
