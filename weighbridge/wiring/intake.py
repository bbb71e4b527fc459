"""The parts of the collector process, from the settings."""

import random
from collections.abc import Callable

from pydantic import SecretStr

from collector.alerts.config import AlertsConfig, Destination
from collector.alerts.rules import DriftRule
from collector.alerts.service import AlertService
from collector.config import CollectorConfig
from storage.control import Control
from storage.queries import Reader
from weighbridge.settings import DestinationSettings, RuleSettings, Settings, SettingsError


def collector_config(settings: Settings) -> CollectorConfig:
    """What the collector is told."""
    intake = settings.intake
    return CollectorConfig(
        grpc_host=settings.otlp_grpc.host,
        grpc_port=settings.otlp_grpc.port,
        http_host=settings.otlp_http.host,
        http_port=settings.otlp_http.port,
        max_request_bytes=intake.max_request_size,
        max_inflight_bytes=intake.max_waiting_size,
        max_inflight_requests=intake.max_waiting_requests,
        bearer_token=intake.bearer_token.get_secret_value() if intake.bearer_token else None,
        cors_origins=intake.cors_origins,
    )


def alerts_config(settings: Settings) -> AlertsConfig:
    """Rules and destinations. Raises SettingsError for what the alerts alone can judge, such as a secret."""
    alerts = settings.alerts
    try:
        return AlertsConfig(
            rules=tuple(_rule(rule) for rule in alerts.rules),
            destinations=tuple(_destination(destination) for destination in alerts.destinations),
            external_url=alerts.external_url or f"http://{settings.web}",
        )
    except ValueError as error:
        raise SettingsError(f"alerts: {error}") from None


def alert_service(
    settings: Settings, reader: Reader, control: Control, clock: Callable[[], int], rng: random.Random
) -> AlertService:
    """The alerts beside the intake; without rules it still delivers what an earlier run left."""
    return AlertService(alerts_config(settings), reader, control, clock=clock, rng=rng)


def _rule(rule: RuleSettings) -> DriftRule:
    return DriftRule(
        name=rule.name,
        policy=rule.policy,
        service=rule.service,
        node=rule.node,
        delta=rule.delta,
        threshold=rule.threshold,
        min_samples=rule.min_samples,
        min_change=rule.min_change,
        for_s=round(rule.hold_for),
        resolve_after_s=rule.resolve_after,
        severity=rule.severity,
        labels=dict(rule.labels),
        annotations=dict(rule.annotations),
    )


def _destination(destination: DestinationSettings) -> Destination:
    return Destination(
        name=destination.name,
        url=destination.url,
        secrets=tuple(_reveal(s) for s in (destination.secret, destination.previous_secret) if s is not None),
        format=destination.format,
        allow_private=destination.allow_private,
    )


def _reveal(secret: SecretStr) -> str:
    return secret.get_secret_value()
