"""Pickers, one per file: choose among scored candidates and say with which probability."""

from .argmax import ArgmaxPicker
from .two_choices import TwoChoicesPicker
from .weighted_random import WeightedRandomPicker

__all__ = ["ArgmaxPicker", "TwoChoicesPicker", "WeightedRandomPicker"]
