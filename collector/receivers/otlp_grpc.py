"""OTLP over gRPC.

The service is registered on raw bytes, so that what does not decode becomes INVALID_ARGUMENT rather than
what the library makes of a failed deserializer. It is registered as a client stream of one message, which
is the same on the wire: the handler then runs before the message is read, and flow control keeps the
message at the sender until a reader is free. The library's own decompression is off because it has no
bound; a gzip message is told by its first bytes, with which no OTLP message can begin (field 3 of a type
that does not exist).
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio

from collector.config import CollectorConfig
from collector.decode import Encoding
from collector.errors import AddressInUseError, BusyError, IntakeError, InvalidRequestError, ListenError
from collector.metrics import CollectorMetrics
from collector.stages.admit import Admission, Ticket

from .access import check_access
from .export import Export
from .listen import check_free, join_address
from .payload import Payload, Signal
from .status import answer_body, message_of, rpc_status, status_of

_logger = logging.getLogger(__name__)

_SERVICES = {
    "/opentelemetry.proto.collector.trace.v1.TraceService/Export": Signal.TRACES,
    "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export": Signal.METRICS,
    "/opentelemetry.proto.collector.logs.v1.LogsService/Export": Signal.LOGS,
}
_GZIP_MAGIC = b"\x1f\x8b"
_STATUS_KEY = "grpc-status-details-bin"
_FRAMING_BYTES = 4096
_TRANSPORT = "grpc"
_IDENTITY_AND_GZIP = 0b101


class GrpcReceiver:
    """The gRPC server; ``start`` binds it, ``stop`` lets running calls end."""

    def __init__(
        self, export: Export, admission: Admission, metrics: CollectorMetrics, config: CollectorConfig
    ) -> None:
        self._export = export
        self._admission = admission
        self._metrics = metrics
        self._config = config
        self._readers = asyncio.Semaphore(config.grpc_readers)
        self._server: Any = None
        self.address = ""

    async def start(self) -> None:
        """Listen; raises ListenError when the address cannot be used."""
        host, port = self._config.grpc_host, self._config.grpc_port
        check_free(host, port)
        server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", self._config.request_limit + _FRAMING_BYTES),
                ("grpc.per_message_decompression", 0),
                ("grpc.compression_enabled_algorithms_bitset", _IDENTITY_AND_GZIP),
                ("grpc.so_reuseport", 0),
            ]
        )
        server.add_generic_rpc_handlers((_Services(self),))
        try:
            bound = server.add_insecure_port(join_address(host, port))
        except RuntimeError as exc:
            raise AddressInUseError(join_address(host, port)) from exc
        if bound == 0:
            raise ListenError(f"cannot listen on {join_address(host, port)}")
        await server.start()
        self._server, self.address = server, join_address(host, bound)

    async def stop(self, grace_s: float) -> None:
        """Take no new calls; running ones have ``grace_s`` to end."""
        server, self._server = self._server, None
        if server is not None:
            await server.stop(grace_s)

    async def handle(self, signal: Signal, context: Any) -> bytes:
        """Answer one call, or abort it with a status of the table."""
        try:
            metadata = {k.lower(): v for k, v in context.invocation_metadata() if isinstance(v, str)}
            check_access(metadata, self._config.bearer_token, self._config.cors_origins)
            with self._admission.enter() as ticket:
                body = await self._read(context, ticket)
                payload = Payload(body, Encoding.PROTOBUF, body[:2] == _GZIP_MAGIC, context.peer())
                result = await self._export.export(signal, payload, ticket.move())
        except asyncio.CancelledError:
            raise
        except Exception as exc:
            if not isinstance(exc, IntakeError):
                _logger.exception("a call could not be handled")
            status = status_of(exc)
            self._metrics.answered(_TRANSPORT, signal.value, status.label)
            context.set_trailing_metadata(((_STATUS_KEY, rpc_status(exc).SerializeToString()),))
            await context.abort(status.grpc, message_of(exc))
            raise
        self._metrics.answered(_TRANSPORT, signal.value, "ok")
        return answer_body(signal, result.rejected, result.message, Encoding.PROTOBUF)

    async def _read(self, context: Any, ticket: Ticket) -> bytes:
        try:
            async with asyncio.timeout(self._config.request_timeout_s), self._readers:
                message = await context.read()
        except TimeoutError as exc:
            raise BusyError("the request did not arrive in time", self._config.retry_after_s) from exc
        if not isinstance(message, bytes):
            raise InvalidRequestError("the call ended without a message")
        ticket.grow(len(message))
        return message


class _Services(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """Finds the handler of a method; unknown ones are answered UNIMPLEMENTED by the library."""

    def __init__(self, receiver: GrpcReceiver) -> None:
        self._receiver = receiver

    def service(self, handler_call_details: Any) -> Any:
        """The handler of one method, or None."""
        signal = _SERVICES.get(handler_call_details.method)
        if signal is None:
            return None

        async def handle(_messages: AsyncIterator[bytes], context: Any) -> bytes:
            return await self._receiver.handle(signal, context)

        return grpc.stream_unary_rpc_method_handler(handle)
