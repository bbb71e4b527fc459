"""The pages of the dashboard, one module each; this list is the only one."""

from collections.abc import Callable
from typing import Any

from dashboard.config import DashboardConfig
from dashboard.page import Page
from dashboard.pages import alerts, decision, decisions, experiments, health, live, setup
from storage.queries import Reader


def register_pages(
    app: Any, reader: Reader, *, config: DashboardConfig, clock: Callable[[], int], version: str
) -> tuple[Page, ...]:
    """Register every page on ``app``, in the order of the rail."""
    return (
        live.register(app, reader),
        decisions.register(app, reader, clock=clock),
        decision.register(app, reader),
        experiments.register(app, reader),
        alerts.register(app, reader, config=config, clock=clock),
        health.register(app, reader, config=config, clock=clock, version=version),
        setup.register(app, reader, config=config, clock=clock),
    )
