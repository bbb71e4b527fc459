"""OTLP over HTTP, and the collector's own health and metrics pages."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from collector.config import CollectorConfig
from collector.decode import Encoding
from collector.errors import (
    BusyError,
    IntakeError,
    TooLargeError,
    UnauthenticatedError,
    UnsupportedMediaError,
)
from collector.metrics import CollectorMetrics
from collector.stages.admit import Admission, Ticket

from .access import check_access
from .export import Export
from .http_protocol import BoundedHttpProtocol
from .listen import bind, join_address
from .payload import Payload, Signal
from .status import answer_body, error_body, message_of, retry_after_header, status_of

_logger = logging.getLogger(__name__)

MEDIA_TYPES = {"application/x-protobuf": Encoding.PROTOBUF, "application/json": Encoding.JSON}
_MEDIA_OF = {encoding: media for media, encoding in MEDIA_TYPES.items()}
_CODINGS = {"": False, "identity": False, "gzip": True, "x-gzip": True}
_METRICS_MEDIA = "text/plain; version=0.0.4; charset=utf-8"
_TRANSPORT = "http"
_KEEP_ALIVE_S = 75


class OtlpHttp:
    """The endpoints. ``not_ready`` says why the collector cannot take spans now, "" when it can."""

    def __init__(
        self,
        export: Export,
        admission: Admission,
        metrics: CollectorMetrics,
        config: CollectorConfig,
        not_ready: Callable[[], str],
    ) -> None:
        self._export = export
        self._admission = admission
        self._metrics = metrics
        self._config = config
        self._not_ready = not_ready

    def app(self) -> Starlette:
        """The ASGI application."""
        routes = [Route(f"/v1/{s.value}", self._receiver(s), methods=["POST"]) for s in Signal]
        routes += [
            Route("/healthz", self._healthz),
            Route("/readyz", self._readyz),
            Route("/metrics", self._exposition),
        ]
        origins = list(self._config.cors_origins)
        cors = Middleware(CORSMiddleware, allow_origins=origins, allow_methods=["POST"], allow_headers=["*"])
        return Starlette(
            routes=routes,
            middleware=[cors] if origins else [],
            exception_handlers={HTTPException: _plain_error},
        )

    def _receiver(self, signal: Signal) -> Callable[[Request], Any]:
        async def receive(request: Request) -> Response:
            return await self._receive(signal, request)

        return receive

    async def _receive(self, signal: Signal, request: Request) -> Response:
        encoding = Encoding.JSON  # of an error that comes before the content type is known
        try:
            check_access(request.headers, self._config.bearer_token, self._config.cors_origins)
            encoding, gzipped = _encodings(request)
            with self._admission.enter() as ticket:
                body = await self._read(request, ticket)
                peer = request.client.host if request.client else ""
                payload = Payload(body, encoding, gzipped, peer)
                result = await self._export.export(signal, payload, ticket.move())
        except ClientDisconnect:
            self._metrics.answered(_TRANSPORT, signal.value, "disconnected")
            return Response(status_code=400)
        except Exception as exc:
            if not isinstance(exc, IntakeError):
                _logger.exception("a request could not be handled")
            return self._refuse(signal, exc, encoding)
        self._metrics.answered(_TRANSPORT, signal.value, "ok")
        content = answer_body(signal, result.rejected, result.message, encoding)
        return Response(content, media_type=_MEDIA_OF[encoding])

    def _refuse(self, signal: Signal, exc: Exception, encoding: Encoding) -> Response:
        status = status_of(exc)
        self._metrics.answered(_TRANSPORT, signal.value, status.label)
        headers = retry_after_header(exc)
        if isinstance(exc, UnauthenticatedError):
            headers["WWW-Authenticate"] = "Bearer"
        return Response(error_body(exc, encoding), status.http, headers, _MEDIA_OF[encoding])

    async def _read(self, request: Request, ticket: Ticket) -> bytes:
        """The body as sent, admitted piece by piece; what is beyond the limit is never kept."""
        limit = self._config.request_limit
        declared = request.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > limit:
            raise TooLargeError(f"the request is larger than {limit} bytes")
        pieces, size = [], 0
        try:
            async with asyncio.timeout(self._config.request_timeout_s):
                async for piece in request.stream():
                    size += len(piece)
                    if size > limit:
                        raise TooLargeError(f"the request is larger than {limit} bytes")
                    ticket.grow(len(piece))
                    pieces.append(piece)
        except TimeoutError as exc:
            raise BusyError("the request did not arrive in time", self._config.retry_after_s) from exc
        return b"".join(pieces)

    async def _healthz(self, _request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _readyz(self, _request: Request) -> Response:
        reason = self._not_ready()
        if reason:
            return JSONResponse({"status": "not ready", "reason": reason}, 503)
        return JSONResponse({"status": "ready"})

    async def _exposition(self, _request: Request) -> Response:
        return Response(self._metrics.exposition(), headers={"Content-Type": _METRICS_MEDIA})


class HttpReceiver:
    """Serves ``OtlpHttp`` with uvicorn inside the running loop, leaving signals to the process."""

    def __init__(self, endpoints: OtlpHttp, config: CollectorConfig) -> None:
        self._endpoints = endpoints
        self._config = config
        self._server: uvicorn.Server | None = None
        self._loop_task: asyncio.Task[None] | None = None
        self.address = ""

    async def start(self) -> None:
        """Listen; raises ListenError when the address cannot be used."""
        socket = bind(self._config.http_host, self._config.http_port)
        self.address = join_address(self._config.http_host, socket.getsockname()[1])
        settings = uvicorn.Config(
            self._endpoints.app(),
            http=BoundedHttpProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=max(1, int(self._config.request_timeout_s)),
        )
        settings.load()
        server = uvicorn.Server(settings)
        server.lifespan = settings.lifespan_class(settings)
        await server.startup(sockets=[socket])
        self._server, self._loop_task = server, asyncio.create_task(server.main_loop())

    async def stop(self, grace_s: float) -> None:
        """Take no new connections; running requests have ``grace_s`` to end."""
        server, self._server = self._server, None
        if server is None or self._loop_task is None:
            return
        server.config.timeout_graceful_shutdown = grace_s  # type: ignore[assignment]  # a float serves
        server.should_exit = True
        await self._loop_task
        await server.shutdown()


def _encodings(request: Request) -> tuple[Encoding, bool]:
    """The encoding of the body and whether it is gzipped."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = MEDIA_TYPES.get(media)
    if encoding is None:
        given = "no Content-Type was given" if not media else "this Content-Type is not supported"
        raise UnsupportedMediaError(f"{given}: use {' or '.join(MEDIA_TYPES)}")
    gzipped = _CODINGS.get(request.headers.get("content-encoding", "").strip().lower())
    if gzipped is None:
        raise UnsupportedMediaError("this Content-Encoding is not supported: use gzip or none")
    return encoding, gzipped


async def _plain_error(_request: Request, exc: Exception) -> Response:
    """JSON for what the router itself refuses: unknown paths, wrong methods."""
    if isinstance(exc, HTTPException):
        return JSONResponse({"error": exc.detail}, exc.status_code, exc.headers)
    return JSONResponse({"error": message_of(exc)}, 500)
