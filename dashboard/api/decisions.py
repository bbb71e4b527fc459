"""``decisions``: the list, newest first, and one decision whole."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from dashboard.api.context import ApiContext, answer, columns, iso, new_router
from dashboard.api.problems import ProblemError
from dashboard.api.schemas import Candidate, Decision, DecisionList, DecisionWhole, Filtered, ProblemBody
from dashboard.api.times import FORMS, time_range
from storage.records import CandidateDetail, DecisionDetail, DecisionQuery, DecisionRow

HEX = r"^[0-9a-fA-F]+$"
TraceId = Annotated[str, Path(pattern=HEX, min_length=32, max_length=32, description="32 hex digits.")]
SpanId = Annotated[str, Path(pattern=HEX, min_length=16, max_length=16, description="16 hex digits.")]
Name = Annotated[str | None, Field(max_length=1024)]
Bound = Annotated[float | None, Field(allow_inf_nan=False)]


class DecisionFilters(BaseModel):
    """Parameters of the list; every one given must hold."""

    model_config = ConfigDict(frozen=True)

    start: str | None = Field(None, alias="from", max_length=64, description=f"Not before: {FORMS}.")
    end: str | None = Field(None, alias="to", max_length=64, description="Before, in the same forms.")
    service: Name = None
    policy: Name = None
    node: Name = None
    weight_min: Bound = None
    weight_max: Bound = None
    confidence_min: Bound = None
    confidence_max: Bound = None
    outcome: Literal["ok", "error", "dropped"] | None = None
    experiment: Name = None
    variant: Name = None
    q: Name = Field(None, description="A trace id, or a part of a node or policy name.")
    limit: int = Field(100, ge=1, le=1000, description="Decisions a page.")
    cursor: str | None = Field(None, max_length=1024, description="`next` of the page before.")

    def query(self, now: int) -> DecisionQuery:
        """The question for the store."""
        names = ("service", "policy", "node", "outcome", "experiment", "variant")
        bounds = ("weight_min", "weight_max", "confidence_min", "confidence_max")
        return DecisionQuery(
            time=time_range(self.start, self.end, now),
            text=self.q or None,
            **{name: getattr(self, name) for name in (*names, *bounds)},
        )


def decisions_router(context: ApiContext) -> APIRouter:
    """Routes of the noun ``decisions``."""
    router = new_router("decisions")

    @router.get("/decisions", response_model=DecisionList, summary="Decisions, newest first")
    async def decisions(filters: Annotated[DecisionFilters, Query()]) -> Response:
        """Decisions that match every filter. Follow `next` with `cursor` for older ones."""
        query = filters.query(context.clock())
        try:
            page = await context.store.ask(
                context.reader.decisions, query, limit=filters.limit, cursor=filters.cursor
            )
        except ValueError as error:
            raise ProblemError(400, f"cursor: {error}; start again without it") from error
        return answer(DecisionList(items=[decision_of(row) for row in page.items], next=page.next))

    @router.get(
        "/decisions/{trace_id}/{span_id}",
        response_model=DecisionWhole,
        responses={404: {"model": ProblemBody}},
        summary="One decision whole",
    )
    async def decision(trace_id: TraceId, span_id: SpanId) -> Response:
        """Why this node: candidates with their scores, best first, filtered nodes, the span's attributes."""
        found = await context.store.ask(context.reader.decision, trace_id.lower(), span_id.lower())
        if found is None:
            raise ProblemError(
                404, "no such decision is in the store; it may be older than the retention allows"
            )
        return answer(_whole(found))

    return router


def decision_of(row: DecisionRow) -> Decision:
    """A row of the store as the API states it."""
    return Decision(**columns(row), time=iso(row.time_unix_nano) or "")


def _whole(found: DecisionDetail) -> DecisionWhole:
    detail = found.detail
    return DecisionWhole(
        **columns(found.row),
        time=iso(found.row.time_unix_nano) or "",
        candidates=[_candidate(detail, i, found.row.node) for i in range(len(detail.candidates))],
        scorer_weights=dict(zip(detail.scorer_names, detail.scorer_weights, strict=False)),
        filtered=[
            Filtered(node=node, reason=detail.filter_reasons[i] if i < len(detail.filter_reasons) else "")
            for i, node in enumerate(detail.filtered)
        ],
        attributes=dict(found.attributes),
    )


def _candidate(detail: CandidateDetail, index: int, chosen: str) -> Candidate:
    row = detail.scorer_scores[index] if index < len(detail.scorer_scores) else ()
    return Candidate(
        node=detail.candidates[index],
        weight=detail.weights[index] if index < len(detail.weights) else None,
        score=detail.scores[index] if index < len(detail.scores) else None,
        scorers=dict(zip(detail.scorer_names, row, strict=False)),
        chosen=detail.candidates[index] == chosen,
    )
