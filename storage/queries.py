"""The read side: questions the dashboard and the alerts ask, each one method named by intent."""

from storage.database import Database
from storage.records import (
    AlertRow,
    DecisionDetail,
    DecisionPage,
    DecisionQuery,
    ExperimentSummary,
    Facets,
    HealthView,
    NodeSummary,
    TimeRange,
    Trace,
    WeightPoint,
    WeightSample,
)


class Reader:
    """Answers questions; safe to call from several threads; never writes.

    Every method raises ``StoreUnavailableError`` when the store cannot answer now.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def decisions(
        self, query: DecisionQuery, *, limit: int = 100, cursor: str | None = None, offset: int = 0
    ) -> DecisionPage:
        """Decisions that match, newest first. ``limit`` 1..1000. Raises ValueError for a bad cursor."""
        raise NotImplementedError

    def count_decisions(self, query: DecisionQuery, *, cap: int = 10_000) -> int:
        """How many match, counted up to ``cap`` (then the answer is ``cap``)."""
        raise NotImplementedError

    def decision(self, trace_id: str, span_id: str) -> DecisionDetail | None:
        """One decision by hex ids, or None. Raises ValueError for ids that are not hex of that length."""
        raise NotImplementedError

    def trace(self, trace_id: str, *, limit: int = 2_000) -> Trace | None:
        """All spans of a trace, by start time."""
        raise NotImplementedError

    def weights(
        self, *, policy: str | None = None, service: str | None = None, changed_after: int = 0
    ) -> tuple[WeightSample, ...]:
        """Newest value of each series; with ``changed_after`` only series whose ``change`` is greater."""
        raise NotImplementedError

    def weight_history(
        self,
        time: TimeRange,
        *,
        policy: str | None = None,
        service: str | None = None,
        node: str | None = None,
    ) -> tuple[WeightPoint, ...]:
        """1 s roll-ups in a range, by second."""
        raise NotImplementedError

    def nodes(
        self, time: TimeRange, *, policy: str | None = None, service: str | None = None
    ) -> tuple[NodeSummary, ...]:
        """Nodes seen in a range with their shares, by name."""
        raise NotImplementedError

    def facets(self, time: TimeRange | None = None) -> Facets:
        """Distinct services, policies and nodes."""
        raise NotImplementedError

    def experiments(self) -> tuple[ExperimentSummary, ...]:
        """All experiments with their arms, by key."""
        raise NotImplementedError

    def alerts(self, *, state: str | None = None, limit: int = 200) -> tuple[AlertRow, ...]:
        """Alerts, newest first, with their deliveries."""
        raise NotImplementedError

    def health(self) -> HealthView:
        """Sources, processes and the store itself."""
        raise NotImplementedError

    def data_version(self) -> int:
        """A cheap number that changes when anyone commits (``PRAGMA data_version`` on SQLite)."""
        raise NotImplementedError
