"""The embeddable scheduling engine: filter, score, pick, record.

    from engine import Node, Request, Scheduler

    scheduler = Scheduler([Node("a"), Node("b")])
    with scheduler.decide(Request(delta=0.9)) as decision:
        ...  # send the request to decision.node
        decision.succeeded(latency_ms=42.0)

``engine.recorder.Recorder`` exports the decisions; it is imported from there, so that this package alone
does not need the OpenTelemetry SDK.
"""

from .clock import ManualClock, SystemClock
from .decision import Decision
from .errors import ConfigurationError, EngineError, NoEligibleNodeError, UnknownNodeError
from .experiments import Assignment, PolicySplit
from .model import Candidate, Node, Outcome, OutcomeKind, Request, Score
from .policies import build_profile, default_profile
from .profile import Profile
from .scheduler import Scheduler, SchedulerConfig
from .trace_context import TraceContext

__all__ = [
    "Assignment",
    "Candidate",
    "ConfigurationError",
    "Decision",
    "EngineError",
    "ManualClock",
    "NoEligibleNodeError",
    "Node",
    "Outcome",
    "OutcomeKind",
    "PolicySplit",
    "Profile",
    "Request",
    "Scheduler",
    "SchedulerConfig",
    "Score",
    "SystemClock",
    "TraceContext",
    "UnknownNodeError",
    "build_profile",
    "default_profile",
]
