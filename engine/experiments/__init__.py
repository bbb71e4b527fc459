"""Experiments: who gets which arm."""

from .assignment import Assignment
from .split import PolicySplit

__all__ = ["Assignment", "PolicySplit"]
