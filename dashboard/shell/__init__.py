"""What stands around every page: rail, top bar, router, states."""

from dashboard.shell.router import Site, frame, register_router

__all__ = ["Site", "frame", "register_router"]
