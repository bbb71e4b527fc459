"""The live feed as the rest of the program sees it: a hub, its settings and the router that serves it.

How it works is told in ``live_hub``; what travels is told in ``frames`` and in docs/live-feed.md.
"""

from dashboard.live_hub import LiveConfig, LiveFigures, LiveHub
from dashboard.live_socket import SERVER_OPTIONS, build_live_router
from dashboard.live_tail import WeightSource

__all__ = ["SERVER_OPTIONS", "LiveConfig", "LiveFigures", "LiveHub", "WeightSource", "build_live_router"]
