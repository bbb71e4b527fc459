"""The composition root: settings, wiring and the command."""

__version__ = "0.1.0"
