"""The one table from error to wire status, and the bodies that carry it."""

import json
import math
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf import duration_pb2, json_format
from google.rpc import code_pb2, error_details_pb2, status_pb2
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

from collector.decode import Encoding
from collector.errors import (
    BusyError,
    IntakeError,
    InternalError,
    InvalidRequestError,
    PermissionDeniedError,
    TooLargeError,
    UnauthenticatedError,
    UnsupportedMediaError,
)

from .payload import Signal


@dataclass(frozen=True, slots=True)
class WireStatus:
    """How an error is told; ``label`` names it in the metrics."""

    label: str
    grpc: grpc.StatusCode
    http: int
    code: int


TABLE: tuple[tuple[type[IntakeError], WireStatus], ...] = (
    (
        UnsupportedMediaError,
        WireStatus("unsupported", grpc.StatusCode.INVALID_ARGUMENT, 415, code_pb2.INVALID_ARGUMENT),
    ),
    (
        TooLargeError,
        WireStatus("too_large", grpc.StatusCode.RESOURCE_EXHAUSTED, 413, code_pb2.RESOURCE_EXHAUSTED),
    ),
    (
        InvalidRequestError,
        WireStatus("invalid", grpc.StatusCode.INVALID_ARGUMENT, 400, code_pb2.INVALID_ARGUMENT),
    ),
    (BusyError, WireStatus("busy", grpc.StatusCode.UNAVAILABLE, 503, code_pb2.UNAVAILABLE)),
    (
        UnauthenticatedError,
        WireStatus("unauthenticated", grpc.StatusCode.UNAUTHENTICATED, 401, code_pb2.UNAUTHENTICATED),
    ),
    (
        PermissionDeniedError,
        WireStatus("denied", grpc.StatusCode.PERMISSION_DENIED, 403, code_pb2.PERMISSION_DENIED),
    ),
    (InternalError, WireStatus("internal", grpc.StatusCode.INTERNAL, 500, code_pb2.INTERNAL)),
)
"""First match wins. Only BusyError is one that clients retry."""

_INTERNAL = TABLE[-1][1]


def status_of(exc: BaseException) -> WireStatus:
    """The row for ``exc``; what is no IntakeError is internal."""
    return next((status for kind, status in TABLE if isinstance(exc, kind)), _INTERNAL)


def message_of(exc: BaseException) -> str:
    """What the sender is told."""
    if isinstance(exc, IntakeError):
        return str(exc) or (type(exc).__doc__ or "").strip()
    return "the collector failed; its log says why"


def rpc_status(exc: BaseException) -> status_pb2.Status:
    """``google.rpc.Status`` of ``exc``; with RetryInfo when a retry is welcome."""
    status = status_pb2.Status(code=status_of(exc).code, message=message_of(exc))
    if isinstance(exc, BusyError):
        delay = duration_pb2.Duration()
        delay.FromNanoseconds(int(exc.retry_after_s * 1e9))
        status.details.add().Pack(error_details_pb2.RetryInfo(retry_delay=delay))
    return status


def retry_after_header(exc: BaseException) -> dict[str, str]:
    """The ``Retry-After`` header in whole seconds, when a retry is welcome."""
    return {"Retry-After": str(max(1, math.ceil(exc.retry_after_s)))} if isinstance(exc, BusyError) else {}


def error_body(exc: BaseException, encoding: Encoding) -> bytes:
    """``google.rpc.Status`` in the encoding of the request."""
    status = rpc_status(exc)
    if encoding is Encoding.PROTOBUF:
        return bytes(status.SerializeToString())
    return json.dumps(json_format.MessageToDict(status)).encode()


_RESPONSES = {
    Signal.TRACES: (trace_service_pb2.ExportTraceServiceResponse, "rejected_spans"),
    Signal.METRICS: (metrics_service_pb2.ExportMetricsServiceResponse, "rejected_data_points"),
    Signal.LOGS: (logs_service_pb2.ExportLogsServiceResponse, "rejected_log_records"),
}


def answer_body(signal: Signal, rejected: int, message: str, encoding: Encoding) -> bytes:
    """The success answer; ``partial_success`` is left unset when there is nothing to tell."""
    make, rejected_field = _RESPONSES[signal]
    response: Any = make()
    if rejected or message:
        setattr(response.partial_success, rejected_field, rejected)
        response.partial_success.error_message = message
    if encoding is Encoding.PROTOBUF:
        return bytes(response.SerializeToString())
    return json.dumps(json_format.MessageToDict(response)).encode()
