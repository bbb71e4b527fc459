"""What a caller of the API is told when a question cannot be answered: one JSON form, one table.

Every error body is ``{"status", "title", "detail", "errors"}``; ``detail`` says what to do, ``errors``
names the parameters that were wrong. The route class here turns what a handler raises into that form, so
the routers work alike whatever application includes them.
"""

import difflib
import logging
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import HTTPException, RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from dashboard.api.schemas import ParameterError, ProblemBody
from storage.errors import SchemaOutdatedError, StorageError, StoreUnavailableError

RETRY_AFTER_S = 2
_LOG = logging.getLogger(__name__)
_TITLES = {
    400: "Bad request",
    404: "Not found",
    405: "Method not allowed",
    422: "Bad parameter",
    503: "Unavailable",
}


class ProblemError(Exception):
    """An answer other than success; the message is the ``detail`` and says what to do."""

    def __init__(self, status: int, detail: str, errors: Sequence[ParameterError] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.errors = list(errors)


class BusyError(Exception):
    """The store did not answer in time, or too many questions wait for it."""


def bad_parameter(parameter: str, message: str) -> ProblemError:
    """A 422 about one parameter."""
    return ProblemError(
        422, f"{parameter}: {message}", [ParameterError(parameter=parameter, message=message)]
    )


def problem(
    status: int, detail: str, errors: Sequence[ParameterError] = (), headers: Mapping[str, str] | None = None
) -> Response:
    """The response itself."""
    body = ProblemBody(status=status, title=_TITLES.get(status, "Error"), detail=detail, errors=list(errors))
    return JSONResponse(body.model_dump(), status, headers=dict(headers or {}))


def answer_for(error: Exception) -> Response | None:
    """The response to what a handler raised, None for what is a fault of this program."""
    retry = {"retry-after": str(RETRY_AFTER_S)}
    match error:
        case ProblemError():
            return problem(error.status, str(error), error.errors)
        case BusyError() | StoreUnavailableError():
            return problem(503, f"{error}; try again in {RETRY_AFTER_S} s", headers=retry)
        case SchemaOutdatedError():
            return problem(503, str(error), headers={"retry-after": "60"})  # it names the command itself
        case StorageError():
            return problem(503, f"the store cannot be used: {error}", headers={"retry-after": "60"})
        case HTTPException():
            return problem(error.status_code, str(error.detail), headers=error.headers)
        case _:
            return None


class ProblemRoute(APIRoute):
    """A route whose every error is a ``ProblemBody``."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler with its errors turned into responses."""
        inner = super().get_route_handler()
        known = _names(self)

        async def handle(request: Request) -> Response:
            unknown = [_unknown(name, known) for name in request.query_params if known and name not in known]
            try:
                if unknown:
                    raise _wrong(unknown)
                return await inner(request)
            except RequestValidationError as error:
                return _response_to(request, _wrong([_parameter_error(e) for e in error.errors()]))
            except Exception as error:
                return _response_to(request, error)

        return handle


def _names(route: APIRoute) -> list[str]:
    """Query parameters a route knows, those inside a parameter model included."""
    names: list[str] = []
    for field in route.dependant.query_params:
        model = field.field_info.annotation
        inner = getattr(model, "model_fields", None)
        names += [f.alias or name for name, f in inner.items()] if inner else [field.alias]
    return names


def _response_to(request: Request, error: Exception) -> Response:
    response = answer_for(error)
    if response is None:
        raise error
    if response.status_code == 503:
        _LOG.warning("%s was not answered: %s", request.url.path, error)
    return response


def _wrong(errors: Sequence[ParameterError]) -> ProblemError:
    return ProblemError(422, "; ".join(f"{e.parameter}: {e.message}" for e in errors), errors)


def _unknown(name: str, known: Sequence[str]) -> ParameterError:
    near = difflib.get_close_matches(name, known, 1, 0.5)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
    return ParameterError(parameter=name[:100], message=f"unknown parameter; {hint}")


def _parameter_error(error: Mapping[str, Any]) -> ParameterError:
    name = ".".join(str(part) for part in error["loc"][1:]) or str(error["loc"][0])
    message = re.sub(r"^(?:Value error, |(?:Input|String) should )", _must, str(error["msg"]))
    return ParameterError(parameter=name, message=message)


def _must(found: re.Match[str]) -> str:
    return "must " if found[0].endswith("should ") else ""
