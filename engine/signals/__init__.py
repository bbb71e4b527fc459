"""Smoothing of what nodes and requests report; every value carries the time it was taken."""

from .ewma import Ewma, smooth
from .pressure import Pressure, pressure
from .reading import Reading
from .stages import Stage, checked_alpha
from .window import SlidingWindow

__all__ = ["Ewma", "Pressure", "Reading", "SlidingWindow", "Stage", "checked_alpha", "pressure", "smooth"]
