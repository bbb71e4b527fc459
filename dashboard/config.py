"""What the dashboard needs to know about the installation it shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DashboardConfig:
    """Facts for the pages; all of them are shown, so secrets are masked before they come here.

    ``otlp_grpc`` and ``otlp_http`` are ``host:port`` as a sender on this machine would dial them.
    ``in_force`` lists further settings in the order in which the health page shows them.
    ``known_hosts`` are names besides ``localhost`` and plain addresses under which it answers; None: any.
    ``alert_rules`` and ``alert_destinations`` are how many are set.
    """

    otlp_grpc: str = "127.0.0.1:4317"
    otlp_http: str = "127.0.0.1:4318"
    database: str = ""
    settings_file: str = ""
    in_force: Mapping[str, str] = field(default_factory=dict)
    alert_rules: int = 0
    alert_destinations: int = 0
    known_hosts: tuple[str, ...] | None = None
