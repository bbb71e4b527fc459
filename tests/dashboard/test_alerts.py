"""The alerts page: what drifted, since when, and whether the page went out."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dashboard.config import DashboardConfig
from dashboard.pages.alert_chart import weight_chart, window
from dashboard.pages.alert_evidence import RULE_SNIPPET
from dashboard.pages.alerts import draw, failing, show
from storage.control import Control, NewAlert, NewDelivery
from storage.errors import StoreUnavailableError
from storage.queries import Reader
from storage.records import AlertRow, TimeRange
from weighbridge.settings import load

NOW = 1_800_000_000_000_000_000
SECOND = 1_000_000_000
Text = Callable[[Any], str]
NO_RULE, ONE_RULE = DashboardConfig(), DashboardConfig(alert_rules=1)


def raise_alert(control: Control, node: str, *, age_s: int = 17, told: tuple[str, ...] = ()) -> int:
    labels = {
        "node": node,
        "policy": "llm",
        "service": "gw",
        "severity": "warning",
        "alertname": "weight-drift",
    }
    summary = {"summary": f"{node} weight fell from 0.62 to 0.31 in 4 s", "example_trace_id": "ab" * 16}
    new = NewAlert(f"fp-{node}", "weight-drift", labels, summary, 0.31, NOW - age_s * SECOND)
    return control.open_alert(new, [NewDelivery(f"{node}-{name}", name, b"{}") for name in told]).alert_id


def test_without_a_rule_the_page_shows_the_settings_to_paste(text: Text) -> None:
    """An empty state says what to do next."""
    shown = text(draw((), "open", None, NO_RULE, NOW))
    assert "No rule is set" in shown
    assert "[[alerts.rules]]" in shown


def test_the_settings_to_paste_are_valid(tmp_path: Path) -> None:
    """The snippet is read by the program itself."""
    assert tomllib.loads(RULE_SNIPPET)["alerts"]["rules"][0]["name"] == "weight-drift"
    file = tmp_path / "weighbridge.toml"
    file.write_text(RULE_SNIPPET)
    settings = load({}, file)
    assert len(settings.alerts.rules) == len(settings.alerts.destinations) == 1


def test_with_a_rule_and_no_alert_all_is_well(text: Text) -> None:
    """Quiet when healthy."""
    assert "Nothing has drifted" in text(draw((), "open", None, ONE_RULE, NOW))


def test_an_open_alert_is_told_in_a_sentence_with_its_deliveries(
    reader: Reader, control: Control, text: Text
) -> None:
    """What, where, since when, and who was told with which answer."""
    raise_alert(control, "gpu-a10-07", told=("sre", "pager", "chat"))
    control.mark_delivered("gpu-a10-07-sre", status=200)
    control.mark_retry(
        "gpu-a10-07-pager", next_attempt_unix_nano=NOW + 240 * SECOND, status=503, error="Service Unavailable"
    )
    control.mark_failed("gpu-a10-07-chat", status=None, error="connection refused")
    shown = text(draw(reader.alerts(), "open", None, ONE_RULE, NOW))
    for expected in (
        "Weight drifted on gpu-a10-07",
        "firing 17 s",
        "fell from 0.62 to 0.31",
        "delivered",
        "waiting",
        "next in 4 min",
        "503",
        "Service Unavailable",
        "given up",
        "connection refused",
        "1 message waiting in the outbox",
    ):
        assert expected in shown, expected


def test_the_alert_leads_to_the_decisions_it_is_about(reader: Reader, control: Control) -> None:
    """Node, policy, service and the minutes around it."""
    raise_alert(control, "gpu a&b")
    drawn = str(draw(reader.alerts(), "open", None, ONE_RULE, NOW))
    assert "/ui/decisions?node=gpu+a%26b&policy=llm&service=gw&from=2027-01-15T07%3A54%3A43.000Z" in drawn


def test_the_chosen_alert_is_shown_and_an_unknown_one_falls_back(
    reader: Reader, control: Control, text: Text
) -> None:
    """The address holds which alert one looks at."""
    first = raise_alert(control, "a", age_s=60)
    raise_alert(control, "b", age_s=30)
    assert "a weight fell" in text(draw(reader.alerts(), "open", first, ONE_RULE, NOW))
    assert "b weight fell" in text(draw(reader.alerts(), "open", 10**15, ONE_RULE, NOW))


def test_a_resolved_alert_moves_to_the_past(reader: Reader, control: Control, text: Text) -> None:
    """Open says that all is over and leads to it; Past says how long it lasted."""
    number = raise_alert(control, "a", age_s=130)
    control.resolve_alert(number, ends_unix_nano=NOW)
    alerts = reader.alerts()
    assert "Nothing fires now" in text(draw(alerts, "open", None, ONE_RULE, NOW))
    assert "resolved after 2 min 10 s" in text(draw(alerts, "past", None, ONE_RULE, NOW))
    assert "Nothing fires now" in text(draw(alerts, "../..", None, ONE_RULE, NOW))


def test_the_weight_around_the_alert_is_drawn(
    reader: Reader, control: Control, send: Callable[..., None], text: Text
) -> None:
    """The line comes from the store's roll-ups of that node, policy and service only."""
    for second in range(60):
        weight = 0.62 if second < 40 else 0.31
        send(
            {"decision.node": "a", "weight": weight, "decision.policy.name": "llm"},
            service="gw",
            age_s=61 - second,
        )
    raise_alert(control, "a", age_s=20)
    assert "Weight of this node" in text(show(reader, "open", None, ONE_RULE, NOW))
    drawn = weight_chart(
        reader.weight_history(TimeRange(0, NOW), node="a"),
        reader.alerts()[0],
        window(reader.alerts()[0], NOW),
    )
    assert "Weight from 0.62 to 0.31" in str(drawn)
    raise_alert(control, "never-seen", age_s=10)
    assert "Weight of this node" not in text(show(reader, "open", None, ONE_RULE, NOW))


def test_a_silence_breaks_the_line(reader: Reader, control: Control, send: Callable[..., None]) -> None:
    """Nothing is drawn across seconds of which nothing is known."""
    for age_s in (60, 59, 5, 4):
        send({"decision.node": "a", "weight": 0.5, "decision.policy.name": "llm"}, service="gw", age_s=age_s)
    raise_alert(control, "a", age_s=30)
    alert = reader.alerts()[0]
    drawn = weight_chart(reader.weight_history(window(alert, NOW), node="a"), alert, window(alert, NOW))
    line = next(d for d in re.findall(r"'d': '([^']+)'", str(drawn)) if "L" in d)
    assert (line.count("M"), line.count("L")) == (2, 2)


def test_an_alert_of_days_is_drawn_for_an_hour() -> None:
    """The chart has a bound, whatever the alert's length."""
    alert = AlertRow("f", 1, "r", "firing", {}, {}, None, NOW - 200_000 * SECOND, None)
    time = window(alert, NOW)
    assert time.end_unix_nano - time.start_unix_nano == 3_600 * SECOND


def test_nobody_told_is_said_plainly(reader: Reader, control: Control, text: Text) -> None:
    """An alert without a destination must not look delivered."""
    raise_alert(control, "a")
    assert "Nobody has been told" in text(draw(reader.alerts(), "open", None, ONE_RULE, NOW))


def test_text_of_senders_stays_text(reader: Reader, control: Control, text: Text) -> None:
    """A node's name is shown, never parsed."""
    raise_alert(control, "<img src=x onerror=alert(1)>")
    assert "Weight drifted on <img src=x onerror=alert(1)>" in text(
        draw(reader.alerts(), "open", None, ONE_RULE, NOW)
    )


def test_a_store_that_is_away_is_said_with_its_reason(text: Text) -> None:
    """What still works is named."""
    shown = text(failing(StoreUnavailableError("disk full")))
    assert "The alerts cannot be read." in shown
    assert "disk full" in shown
