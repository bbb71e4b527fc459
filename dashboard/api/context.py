"""What every router of the API is built from, and the answer all of them give."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel

from dashboard.api.asking import Store
from dashboard.api.problems import ProblemRoute
from dashboard.api.schemas import ProblemBody
from storage.queries import Reader

_NANO = 1_000_000_000


@dataclass(frozen=True)
class ApiContext:
    """The store's reader, how it is asked, and what the answers state about this process.

    ``clock`` gives nanoseconds since the epoch. ``configuration`` holds the settings in force with
    secrets already masked: it is shown as it is.
    """

    reader: Reader
    store: Store
    clock: Callable[[], int]
    version: str
    configuration: Mapping[str, Any]


def new_router(*tags: str) -> APIRouter:
    """A router whose errors are JSON problems, documented as such."""
    responses: dict[int | str, dict[str, Any]] = {
        422: {
            "model": ProblemBody,
            "description": "A parameter is wrong; the body says which and what to do.",
        },
        503: {"model": ProblemBody, "description": "The store cannot answer now; see Retry-After."},
    }
    return APIRouter(route_class=ProblemRoute, tags=list(tags), responses=responses)


def answer(body: BaseModel) -> Response:
    """``body`` as JSON, never cached: the next look must see what came since."""
    return Response(
        body.model_dump_json(by_alias=True),
        media_type="application/json",
        headers={"cache-control": "no-store"},
    )


def columns(row: Any) -> dict[str, Any]:
    """The fields of a record by name, one level deep."""
    return {field.name: getattr(row, field.name) for field in fields(row)}


def iso(unix_nano: int | None) -> str | None:
    """RFC 3339 text in UTC with nanoseconds; None for no time and for years text cannot hold."""
    if unix_nano is None or unix_nano < 0:
        return None
    seconds, rest = divmod(unix_nano, _NANO)
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"
