"""Bodies of webhook messages, in the two formats a destination can choose. Pure.

``alertmanager`` is version 4 of Alertmanager's webhook: receivers made for it work unchanged. ``standard``
is the ``{type, timestamp, data}`` of Standard Webhooks, below 20 kB.
"""

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from collector.alerts.config import BodyFormat
from collector.alerts.model import Alert, short

NANO = 1_000_000_000
NOT_ENDED = "0001-01-01T00:00:00Z"
STANDARD_LIMIT = 20_000


def body_of(alert: Alert, form: BodyFormat, *, receiver: str, external_url: str, now: int) -> bytes:
    """The message about ``alert`` as UTF-8 JSON; ``now`` in nanoseconds since the epoch."""
    if form == "alertmanager":
        return _json(_alertmanager(alert, receiver, external_url))
    body = _json(_standard(alert, external_url, now))
    limit = 512
    while len(body) >= STANDARD_LIMIT and limit >= 1:
        body = _json(_standard(_cut(alert, limit), external_url, now))
        limit //= 2
    return body


def link_of(alert: Alert, external_url: str) -> str:
    """The page of the decisions the alert is about."""
    shown = {k: v for k in ("node", "policy", "service") if (v := alert.labels.get(k))}
    query = urlencode(shown, errors="replace")
    return f"{external_url.rstrip('/')}/ui/decisions?{query}"


def _alertmanager(alert: Alert, receiver: str, external_url: str) -> dict[str, Any]:
    status = "firing" if alert.firing else "resolved"
    group = {"alertname": alert.labels.get("alertname", alert.rule)}
    entry = {
        "status": status,
        "labels": dict(alert.labels),
        "annotations": dict(alert.annotations),
        "startsAt": _stamp(alert.starts_unix_nano),
        "endsAt": NOT_ENDED if alert.ends_unix_nano is None else _stamp(alert.ends_unix_nano),
        "generatorURL": link_of(alert, external_url),
        "fingerprint": alert.fingerprint,
    }
    return {
        "version": "4",
        "groupKey": f"{{}}:{{alertname={json.dumps(group['alertname'])}}}:{alert.fingerprint}",
        "truncatedAlerts": 0,
        "status": status,
        "receiver": receiver,
        "groupLabels": group,
        "commonLabels": dict(alert.labels),
        "commonAnnotations": dict(alert.annotations),
        "externalURL": external_url,
        "alerts": [entry],
    }


def _standard(alert: Alert, external_url: str, now: int) -> dict[str, Any]:
    status = "firing" if alert.firing else "resolved"
    return {
        "type": f"alert.{status}",
        "timestamp": _stamp(now),
        "data": {
            "status": status,
            "fingerprint": alert.fingerprint,
            "rule": alert.rule,
            "labels": dict(alert.labels),
            "annotations": dict(alert.annotations),
            "value": alert.value,
            "starts_at": _stamp(alert.starts_unix_nano),
            "ends_at": None if alert.ends_unix_nano is None else _stamp(alert.ends_unix_nano),
            "url": short(link_of(alert, external_url), 2048),
        },
    }


def _cut(alert: Alert, limit: int) -> Alert:
    return Alert(
        rule=short(alert.rule, limit),
        labels={k: short(v, limit) for k, v in alert.labels.items()},
        annotations={k: short(v, limit) for k, v in alert.annotations.items()},
        value=alert.value,
        starts_unix_nano=alert.starts_unix_nano,
        ends_unix_nano=alert.ends_unix_nano,
    )


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def _stamp(unix_nano: int) -> str:
    seconds, rest = divmod(unix_nano, NANO)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest // 1_000_000:03d}Z"
