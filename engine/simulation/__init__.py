"""A cluster of LLM nodes and its workload under a virtual clock: the demo and the benchmark run on it."""

from .cluster import Cluster, ClusterConfig, End, Event, Finished, FirstToken
from .disturbances import Calendar, Disturbance, disturbances
from .fleet import LARGE_MODEL, NodeSpec, build_fleet, request_cost, scale_to_load
from .node import Job, Load, SimulatedNode
from .workload import PRIORITIES, TENANTS, Arrival, TraceData, arrivals, load_trace

__all__ = [
    "LARGE_MODEL",
    "PRIORITIES",
    "TENANTS",
    "Arrival",
    "Calendar",
    "Cluster",
    "ClusterConfig",
    "Disturbance",
    "End",
    "Event",
    "Finished",
    "FirstToken",
    "Job",
    "Load",
    "NodeSpec",
    "SimulatedNode",
    "TraceData",
    "arrivals",
    "build_fleet",
    "disturbances",
    "load_trace",
    "request_cost",
    "scale_to_load",
]
