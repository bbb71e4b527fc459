"""Hard constraints, one per file: a node that fails one is not a candidate."""

from .accelerator import AcceleratorFilter
from .breaker import BreakerFilter
from .health import HealthFilter
from .kv_capacity import KvCapacityFilter
from .model_support import ModelFilter
from .queue_capacity import QueueCapacityFilter

__all__ = [
    "AcceleratorFilter",
    "BreakerFilter",
    "HealthFilter",
    "KvCapacityFilter",
    "ModelFilter",
    "QueueCapacityFilter",
]
