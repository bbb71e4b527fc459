"""Alerts: watches weights for drift, keeps what fires, and tells destinations from an outbox."""

from collector.alerts.config import AlertsConfig, Destination
from collector.alerts.rules import DriftRule, threshold_within
from collector.alerts.service import AlertService

__all__ = ["AlertService", "AlertsConfig", "Destination", "DriftRule", "threshold_within"]
