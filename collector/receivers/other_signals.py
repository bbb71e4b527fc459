"""Metrics and logs: checked to be what they say, counted, and not stored."""

import orjson
from google.protobuf import json_format
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2

from collector.decode import Encoding
from collector.errors import InvalidRequestError

from .payload import Signal


def count_items(signal: Signal, body: bytes, encoding: Encoding) -> int:
    """How many metrics or log records ``body`` holds; raises InvalidRequestError when it is neither."""
    request = (
        metrics_service_pb2.ExportMetricsServiceRequest()
        if signal is Signal.METRICS
        else logs_service_pb2.ExportLogsServiceRequest()
    )
    try:
        if encoding is Encoding.PROTOBUF:
            request.ParseFromString(body)
        else:
            document = orjson.loads(body) if body.strip() else {}
            json_format.ParseDict(document, request, ignore_unknown_fields=True)
    except (DecodeError, json_format.ParseError, orjson.JSONDecodeError, TypeError, AttributeError) as exc:
        raise InvalidRequestError(f"the body is not an OTLP {signal.value} request") from exc
    if signal is Signal.METRICS:
        return sum(len(scope.metrics) for owner in request.resource_metrics for scope in owner.scope_metrics)
    return sum(len(scope.log_records) for owner in request.resource_logs for scope in owner.scope_logs)
