"""The whole status table on both transports, against the real servers."""

import asyncio
import gzip
import json

import grpc
import pytest
from google.protobuf.json_format import ParseDict
from google.rpc import error_details_pb2, status_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

from collector.memory import MemoryStore
from storage.errors import StoreUnavailableError

PROTOBUF = "application/x-protobuf"


class FailingStore(MemoryStore):
    """A store that raises ``error`` while it is set."""

    error: Exception | None = None

    def write(self, batches):
        if self.error is not None:
            raise self.error
        return super().write(batches)


async def grpc_error(running, body, **call):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await running.send_grpc(body, **call)
    details = dict(caught.value.trailing_metadata() or ()).get("grpc-status-details-bin")
    return caught.value.code(), caught.value.details(), details and status_pb2.Status.FromString(details)


def http_status(response):
    """The google.rpc.Status of a response, in whichever encoding it came."""
    if response.headers["content-type"] == PROTOBUF:
        return status_pb2.Status.FromString(response.content)
    return ParseDict(response.json(), status_pb2.Status())


def retry_delay(status):
    info = error_details_pb2.RetryInfo()
    assert status.details[0].Unpack(info)
    return info.retry_delay.ToNanoseconds() / 1e9


async def test_all_accepted(start, make_request):
    """OK with partial_success unset, 200 in the content type of the request."""
    running = await start()
    answer = await running.send_grpc(make_request(2).SerializeToString())
    assert not answer.HasField("partial_success")
    binary = await running.send_http(make_request(2, first=5).SerializeToString())
    assert (binary.status_code, binary.headers["content-type"], binary.content) == (200, PROTOBUF, b"")
    text = await running.send_http(b'{"resourceSpans": []}', content_type="application/json; charset=utf-8")
    assert (text.status_code, text.headers["content-type"], text.json()) == (200, "application/json", {})


async def test_some_rejected(start, make_request):
    """The count of rejected spans and a message that says which and why."""
    running = await start()
    request = make_request(3)
    request.resource_spans[0].scope_spans[0].spans[1].trace_id = b""
    answer = await running.send_grpc(request.SerializeToString())
    assert answer.partial_success.rejected_spans == 1
    assert "1 x trace_id is not 16 bytes" in answer.partial_success.error_message
    response = await running.send_http(request.SerializeToString())
    told = trace_service_pb2.ExportTraceServiceResponse.FromString(response.content)
    assert (response.status_code, told.partial_success) == (200, answer.partial_success)
    document = {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "zz", "spanId": "01" * 8}]}]}]}
    response = await running.send_http(json.dumps(document).encode(), content_type="application/json")
    assert response.json()["partialSuccess"]["rejectedSpans"] == "1"
    assert running.store.span_count == 2


async def test_warning_only(start, make_request):
    """A broken decision costs nothing and is told: rejected 0 and a message."""
    running = await start()
    body = make_request(1, decision__node="a", weight=float("nan")).SerializeToString()
    answer = await running.send_grpc(body)
    assert answer.partial_success.rejected_spans == 0
    assert answer.partial_success.error_message == "kept with warnings: 1 x weight is not finite"
    response = await running.send_http(body)
    assert trace_service_pb2.ExportTraceServiceResponse.FromString(response.content) == answer
    assert running.store.span_count == 1


@pytest.mark.parametrize("body", [b"garbage", b"\x0a\xff\xff\xff\xff\x0f", b"\x1f\x8bnot gzip"])
async def test_cannot_be_decoded(start, body):
    """INVALID_ARGUMENT; 400 with google.rpc.Status in the encoding of the request."""
    running = await start()
    code, message, status = await grpc_error(running, body)
    assert (code, status.code, status.message) == (grpc.StatusCode.INVALID_ARGUMENT, 3, message)
    assert not status.details
    for media in (PROTOBUF, "application/json"):
        response = await running.send_http(body, content_type=media)
        assert (response.status_code, response.headers["content-type"]) == (400, media)
        assert http_status(response).code == 3
        assert "retry-after" not in response.headers


async def test_store_unavailable_and_back(start, make_request):
    """UNAVAILABLE with RetryInfo, 503 with Retry-After; accepted again once the store is back."""
    store = FailingStore()
    store.error = StoreUnavailableError("database is locked")
    running = await start(store, retry_after_s=1.5)
    body = make_request(1).SerializeToString()
    code, message, status = await grpc_error(running, body)
    assert (code, retry_delay(status)) == (grpc.StatusCode.UNAVAILABLE, 1.5)
    assert "database is locked" in message
    response = await running.send_http(body)
    assert (response.status_code, response.headers["retry-after"]) == (503, "2")
    assert retry_delay(http_status(response)) == 1.5
    assert (await running.http.get("/readyz")).status_code == 503
    store.error = None
    await running.send_grpc(body)
    assert (await running.http.get("/readyz")).status_code == 200
    assert store.span_count == 1


async def test_overloaded(start, make_request):
    """Beyond the requests that may wait the answer is busy, and places come back."""
    loop, entered, release = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    class Stuck(MemoryStore):
        def write(self, batches):
            loop.call_soon_threadsafe(entered.set)
            asyncio.run_coroutine_threadsafe(release.wait(), loop).result()
            return super().write(batches)

    running = await start(Stuck(), max_inflight_requests=1)
    first = asyncio.create_task(running.send_grpc(make_request(1).SerializeToString()))
    await entered.wait()
    response = await running.send_http(make_request(1, first=2).SerializeToString())
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")
    release.set()
    await first
    assert (await running.send_http(make_request(1, first=2).SerializeToString())).status_code == 200


async def test_overloaded_by_bytes(start, make_request):
    """Bytes of waiting requests are bounded before anything is decoded."""
    loop, entered, release = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    class Stuck(MemoryStore):
        def write(self, batches):
            loop.call_soon_threadsafe(entered.set)
            asyncio.run_coroutine_threadsafe(release.wait(), loop).result()
            return super().write(batches)

    big = make_request(1, padding="x" * 6000).SerializeToString()
    running = await start(Stuck(), max_inflight_bytes=10_000)
    first = asyncio.create_task(running.send_http(big))
    await entered.wait()
    code, _, status = await grpc_error(running, big)
    assert (code, retry_delay(status)) == (grpc.StatusCode.UNAVAILABLE, 1.0)
    assert (await running.send_http(big)).status_code == 503
    release.set()
    assert (await first).status_code == 200


async def test_a_store_that_is_too_slow_asks_for_a_retry(start, make_request):
    """After the time limit the sender is told to retry; the resend finds its spans."""
    loop, release = asyncio.get_running_loop(), asyncio.Event()

    class Slow(MemoryStore):
        def write(self, batches):
            asyncio.run_coroutine_threadsafe(release.wait(), loop).result()
            return super().write(batches)

    running = await start(Slow(), request_timeout_s=0.2)
    body = make_request(1).SerializeToString()
    assert (await running.send_http(body)).status_code == 503
    code, _, _ = await grpc_error(running, body)
    assert code is grpc.StatusCode.UNAVAILABLE
    assert running.collector.inflight_requests == 2, "what still waits keeps its place"
    release.set()
    assert (await running.send_http(body)).status_code == 200
    assert running.store.span_count == 1
    assert running.collector.inflight_requests == 0


async def test_too_large(start):
    """RESOURCE_EXHAUSTED without RetryInfo, 413: plain, gzipped, chunked, or only announced."""
    running = await start(max_request_bytes=20_000)
    plain, zipped = bytes(100_000), gzip.compress(bytes(100_000))
    for body in (plain, zipped):
        code, _, status = await grpc_error(running, body)
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert status is None or not status.details
    for content, coding in ((plain, "identity"), (zipped, "gzip"), (_pieces(), "identity")):
        response = await running.send_http(content, content_encoding=coding)
        assert response.status_code == 413
        assert "20000 bytes" in http_status(response).message
        assert "retry-after" not in response.headers


async def _pieces():
    for _ in range(10):
        yield bytes(10_000)


@pytest.mark.parametrize(
    "headers",
    [
        {"content_type": "text/plain"},
        {"content_type": "application/x-protobufs"},
        {"content_type": ""},
        {"content_encoding": "br"},
        {"content_encoding": "deflate"},
    ],
)
async def test_media_that_are_not_supported(start, headers):
    """415 with words that say what to send."""
    running = await start()
    response = await running.send_http(b"", **headers)
    assert response.status_code == 415
    assert "use " in http_status(response).message


async def test_unauthenticated(start, make_request):
    """With a token set, senders without it, or with another, are refused."""
    running = await start(bearer_token="s3cret")
    body = make_request(1).SerializeToString()
    code, _, _ = await grpc_error(running, body)
    assert code is grpc.StatusCode.UNAUTHENTICATED
    code, _, _ = await grpc_error(running, body, metadata=(("authorization", "Bearer wrong"),))
    assert code is grpc.StatusCode.UNAUTHENTICATED
    response = await running.send_http(body)
    assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
    assert (await running.send_http(body, authorization="Basic s3cret")).status_code == 401
    await running.send_grpc(body, metadata=(("authorization", "Bearer s3cret"),))
    assert (await running.send_http(body, authorization="bearer s3cret")).status_code == 200


async def test_not_allowed(start, make_request):
    """Web pages of origins that are not named may not send, on either transport."""
    running = await start(cors_origins=("https://ours.example",))
    body = make_request(1).SerializeToString()
    response = await running.send_http(body, origin="https://evil.example")
    assert (response.status_code, http_status(response).code) == (403, 7)
    response = await running.send_http(body, origin="https://ours.example")
    assert (response.status_code, response.headers["access-control-allow-origin"]) == (
        200,
        "https://ours.example",
    )
    code, _, _ = await grpc_error(running, body, metadata=(("origin", "https://evil.example"),))
    assert code is grpc.StatusCode.PERMISSION_DENIED


async def test_faults_of_our_own(start, make_request):
    """A bug is INTERNAL and 500, never UNKNOWN, and the process goes on."""
    store = FailingStore()
    store.error = RuntimeError("bug")
    running = await start(store)
    body = make_request(1).SerializeToString()
    code, message, status = await grpc_error(running, body)
    assert (code, status.code) == (grpc.StatusCode.INTERNAL, 13)
    assert "bug" not in message
    assert (await running.send_http(body)).status_code == 500
    store.error = None
    assert (await running.send_http(body)).status_code == 200


async def test_paths_and_methods_that_do_not_exist(start):
    """404 and 405 are JSON; gRPC answers UNIMPLEMENTED."""
    running = await start()
    response = await running.http.get("/v1/traces")
    assert (response.status_code, response.headers["allow"], response.json()["error"]) == (
        405,
        "POST",
        "Method Not Allowed",
    )
    response = await running.send_http(b"", path="/v1/trace")
    assert (response.status_code, response.json()) == (404, {"error": "Not Found"})
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await running.send_grpc(b"", method="/a.B/C")
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
