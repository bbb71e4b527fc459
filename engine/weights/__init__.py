"""Weight functions, one per file, and the policies that give a node its effective weight."""

from .joint import JointWeight, inverse_sensitivity, joint_weight
from .latency import LatencyWeight, latency_weight

__all__ = ["JointWeight", "LatencyWeight", "inverse_sensitivity", "joint_weight", "latency_weight"]
