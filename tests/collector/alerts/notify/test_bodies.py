"""The two body formats, field by field."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from collector.alerts.model import Alert
from collector.alerts.notify.bodies import STANDARD_LIMIT, body_of

NANO = 1_000_000_000
LABELS = {"alertname": "drift", "policy": "p", "service": "s", "node": 'n "1"&<b>', "severity": "warning"}
FIRING = Alert("drift", LABELS, {"summary": "it fell"}, 0.34, 1_800_000_000 * NANO + 250_000_000)
ENDED = Alert("drift", LABELS, {"summary": "it fell"}, 0.34, 1_800_000_000 * NANO, 1_800_000_090 * NANO)


def read(alert: Alert, form: str) -> dict:
    return json.loads(
        body_of(alert, form, receiver="ops", external_url="https://wb.test/", now=1_800_000_001 * NANO)
    )


def test_the_alertmanager_body_has_every_field_of_version_4() -> None:
    """Receivers made for Alertmanager find what they look for, all label values strings."""
    body = read(FIRING, "alertmanager")
    assert set(body) == {
        "version", "groupKey", "truncatedAlerts", "status", "receiver", "groupLabels", "commonLabels",
        "commonAnnotations", "externalURL", "alerts",
    }  # fmt: skip
    assert (body["version"], body["status"], body["receiver"], body["truncatedAlerts"]) == (
        "4",
        "firing",
        "ops",
        0,
    )
    alert = body["alerts"][0]
    assert set(alert) == {
        "status",
        "labels",
        "annotations",
        "startsAt",
        "endsAt",
        "generatorURL",
        "fingerprint",
    }
    assert alert["labels"] == body["commonLabels"] == LABELS
    assert alert["startsAt"] == "2027-01-15T08:00:00.250Z"
    assert alert["endsAt"] == "0001-01-01T00:00:00Z"
    assert alert["fingerprint"] == FIRING.fingerprint
    assert all(isinstance(v, str) for v in [*alert["labels"].values(), *alert["annotations"].values()])


def test_the_link_leads_to_the_decisions_of_the_node() -> None:
    """Whatever characters its name has."""
    link = urlsplit(read(FIRING, "alertmanager")["alerts"][0]["generatorURL"])
    assert (link.netloc, link.path) == ("wb.test", "/ui/decisions")
    assert parse_qs(link.query) == {"node": [LABELS["node"]], "policy": ["p"], "service": ["s"]}


def test_a_resolved_alert_carries_its_end() -> None:
    """Both formats say resolved and when."""
    assert read(ENDED, "alertmanager")["alerts"][0]["endsAt"] == "2027-01-15T08:01:30.000Z"
    assert read(ENDED, "alertmanager")["status"] == "resolved"
    standard = read(ENDED, "standard")
    assert (standard["type"], standard["data"]["ends_at"]) == ("alert.resolved", "2027-01-15T08:01:30.000Z")


def test_the_standard_body_has_type_timestamp_and_data() -> None:
    """As Standard Webhooks asks."""
    body = read(FIRING, "standard")
    assert set(body) == {"type", "timestamp", "data"}
    assert (body["type"], body["timestamp"]) == ("alert.firing", "2027-01-15T08:00:01.000Z")
    assert (body["data"]["value"], body["data"]["ends_at"]) == (0.34, None)


@pytest.mark.parametrize("filler", ["x", "\u00e9", "\U0001f525", '"'])
def test_the_standard_body_stays_below_20_kb(filler: str) -> None:
    """Long names are cut, whatever they are made of; the body stays JSON."""
    wide = {f"label_{i}": filler * 1_024 for i in range(40)}
    alert = Alert("drift", LABELS | wide, {"summary": filler * 1_024}, 0.3, NANO)
    body = body_of(alert, "standard", receiver="ops", external_url="https://wb.test", now=NANO)
    assert len(body) < STANDARD_LIMIT
    assert json.loads(body)["data"]["labels"]["alertname"] == "drift"


def test_lone_surrogates_do_not_break_a_body() -> None:
    """A name UTF-8 cannot hold arrives with a replacement, in valid UTF-8."""
    alert = Alert("drift", {"node": "\ud800"}, {}, 0.3, NANO)
    for form in ("alertmanager", "standard"):
        json.loads(body_of(alert, form, receiver="ops", external_url="", now=NANO).decode("utf-8"))
