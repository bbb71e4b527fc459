"""The health page: who sends badly, whether the lag is ours, whether the store holds."""

from collections.abc import Callable
from typing import Any

from dashboard.config import DashboardConfig
from dashboard.pages.health import draw, failing
from dashboard.pages.health_store import in_words
from storage.control import Control
from storage.errors import StoreUnavailableError
from storage.queries import Reader
from storage.records import HealthView, IntakeTally, ProcessRow, SourceRow, StoreFigures

NOW = 1_800_000_000_000_000_000
SECOND = 1_000_000_000
Text = Callable[[Any], str]
HOSTILE = "<script>alert(1)</script>"
STORE = StoreFigures(
    612 << 20, 2 << 30, 604_800.0, 9_123_456, 8_904_000, NOW - 86_400 * SECOND, NOW - SECOND // 5, "0001"
)


def source(**changes: Any) -> SourceRow:
    plain: dict[str, Any] = {
        "source": "gw",
        "accepted": 1_000,
        "duplicated": 0,
        "decisions": 900,
        "unmapped": 100,
        "rejected": {},
        "warned": {},
        "message": "",
        "rate": 10.0,
        "last_seen_unix_nano": NOW,
    }
    return SourceRow(**{**plain, **changes})


def page(
    text: Text, *sources: SourceRow, processes: tuple[ProcessRow, ...] = (), store: StoreFigures = STORE
) -> str:
    return text(
        draw(HealthView(sources, processes, store), DashboardConfig(in_force={"x": "y"}), NOW, "1.2.3")
    )


def test_an_empty_store_says_what_to_do(reader: Reader, text: Text) -> None:
    """No source, no process: both say what would change that."""
    shown = text(draw(reader.health(), DashboardConfig(), NOW, "1.2.3"))
    assert "No source has sent a span yet" in shown
    assert "See how to send" in shown
    assert "Nothing has been rejected." in shown


def test_rates_and_rejects_reach_the_page_from_the_store(
    reader: Reader, control: Control, text: Text
) -> None:
    """What the collector counts is what a person reads, by source and reason."""
    control.record_intake(
        [
            IntakeTally("gw-eu", accepted=980, decisions=900, unmapped=80, last_seen_unix_nano=NOW),
            IntakeTally(
                "litellm",
                accepted=80,
                rejected={"trace id not 16 bytes": 20},
                warned={"weight is NaN": 7},
                message="20 spans rejected: trace id not 16 bytes",
                last_seen_unix_nano=NOW,
            ),
        ]
    )
    shown = text(draw(reader.health(), DashboardConfig(), NOW, "1.2.3"))
    for expected in (
        "gw-eu",
        "litellm",
        "trace id not 16 bytes",
        "weight is NaN",
        "20 spans rejected",
        "20.00 %",
        "1.85",
    ):
        assert expected in shown, expected


def test_a_source_that_stopped_is_marked_and_one_long_gone_is_not(text: Text) -> None:
    """Amber is for what changed lately."""
    assert "silent 22 s" in page(text, source(last_seen_unix_nano=NOW - 22 * SECOND))
    assert "silent 2 h" not in page(text, source(last_seen_unix_nano=NOW - 7_200 * SECOND))


def test_the_queue_and_the_commits_are_those_of_the_collector(text: Text) -> None:
    """Figures of a heartbeat, weighted by how many writes they stand for."""
    figures = {
        "queue_spans": 412.0,
        "inflight_bytes": 4.5 * 2**20,
        "refused_requests": 3.0,
        "rss_bytes": 2.0**27,
    }
    writes = {"writes": 10.0, "written_spans": 5_120.0, "write_ms": 12.4, "write_max_ms": 31.0}
    process = ProcessRow(
        "collect", "host:1", "1.2.3", NOW - 100 * SECOND, NOW - SECOND, {**figures, **writes}
    )
    shown = page(text, source(), processes=(process,))
    for expected in (
        "412 spans",
        "4.5 MiB inside, busy answers 3",
        "12.4 ms",
        "longest 31.0 ms, 512 spans a batch",
        "128 MiB",
    ):
        assert expected in shown, expected


def test_a_process_without_a_heartbeat_is_marked(text: Text) -> None:
    """Never fresh by accident."""
    process = ProcessRow("collect", "host:1", "1.2.3", NOW - 100 * SECOND, NOW - 40 * SECOND, {})
    shown = page(text, source(), processes=(process,))
    assert "silent 40 s" in shown
    assert "unknown" in shown, "memory it never told is unknown, not zero"


def test_the_store_shows_its_size_limit_and_extent(text: Text) -> None:
    """Size of limit, share, and what goes first."""
    shown = page(text, source())
    assert "30 % of 2.0 GiB" in shown
    assert "612 MiB of 2.0 GiB" in shown
    assert "9,123,456, 8,904,000" in shown
    full = StoreFigures(2 << 30, 2 << 30, None, 10, 1, None, None, "0001")
    assert "the oldest are deleted" in page(text, store=full)


def test_spans_from_the_future_blame_the_clock(text: Text) -> None:
    """A negative lag is a sender's clock, not a record."""
    ahead = StoreFigures(1, None, None, 1, 1, NOW, NOW + 90 * SECOND, "0001")
    assert "ahead: a sender's clock is wrong" in page(text, source(), store=ahead)


def test_text_of_senders_stays_text(text: Text) -> None:
    """Names, reasons and messages are string children, which browsers never parse."""
    hostile = source(source=HOSTILE, rejected={HOSTILE: 1}, warned={HOSTILE: 2}, message=HOSTILE)
    assert page(text, hostile).count(HOSTILE) >= 5


def test_a_store_that_is_away_is_said_with_its_reason(text: Text) -> None:
    """No old figures stay on the screen."""
    shown = text(failing(StoreUnavailableError("database is locked")))
    assert "The store cannot be read." in shown
    assert "database is locked" in shown


def test_settings_are_shown_with_their_units() -> None:
    """Seconds and bytes are written as people read them; what is not set says so."""
    raw = {
        "retention.max_age": "604800.0",
        "intake.max_request_size": "67108864",
        "web": "None",
        "data_dir": "/d",
    }
    shown = {"retention.max_age": "7 d", "intake.max_request_size": "64.0 MiB", "web": "not set"}
    assert dict(in_words(raw)) == shown


def test_the_configuration_in_force_is_listed(text: Text) -> None:
    """Version, schema and addresses."""
    shown = page(text)
    assert "1.2.3, 0001" in shown
    assert "127.0.0.1:4317, 127.0.0.1:4318" in shown
