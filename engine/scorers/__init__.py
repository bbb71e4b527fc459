"""Scorers, one per file: each gives every candidate a value in [0, 1]."""

from .kv_room import KvRoomScorer
from .latency import LatencyScorer
from .node_weight import NodeWeightScorer
from .prefix_affinity import PrefixAffinityScorer
from .queue_depth import QueueDepthScorer
from .reliability import ReliabilityScorer

__all__ = [
    "KvRoomScorer",
    "LatencyScorer",
    "NodeWeightScorer",
    "PrefixAffinityScorer",
    "QueueDepthScorer",
    "ReliabilityScorer",
]
