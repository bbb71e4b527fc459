"""What may come over a socket: bombs, giants, clients that vanish. The process stays up, its memory bounded."""

import asyncio
import gzip
import random
import tracemalloc

import grpc
import pytest

from collector.config import MEBIBYTE
from collector.errors import InvalidRequestError, TooLargeError
from collector.receivers.payload import MOST_MEMBERS, gunzip

LOGS = "/opentelemetry.proto.collector.logs.v1.LogsService/Export"


def bomb(mebibytes: int) -> bytes:
    """Zeros, gzipped about 1,000 to 1."""
    return gzip.compress(bytes(mebibytes * MEBIBYTE), compresslevel=1)


def test_a_bomb_stops_at_the_limit():
    """Decompression ends as soon as the limit is passed, holding little more than that."""
    packed = bomb(200)
    tracemalloc.start()
    with pytest.raises(TooLargeError):
        gunzip(packed, 4 * MEBIBYTE)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10 * MEBIBYTE


def test_gzip_is_read_to_the_limit_and_all_its_members():
    """A body of exactly the limit is taken; several members are one body."""
    assert gunzip(gzip.compress(b"x" * 1000), 1000) == b"x" * 1000
    assert gunzip(gzip.compress(b"ab") + gzip.compress(b"") + gzip.compress(b"cd"), 4) == b"abcd"
    assert gunzip(b"", 10) == b""


def test_members_of_any_length_are_put_together():
    """Also those that end within what is read at once, and the last bytes of a member that fills it."""
    rng = random.Random(1)
    parts = [rng.randbytes(n) for n in (0, 1, 65_000, 65_536, 3, 200_000)]
    whole = b"".join(parts)
    assert gunzip(b"".join(gzip.compress(part) for part in parts), len(whole)) == whole
    assert gunzip(gzip.compress(b"y" * 3_000_000), 3_000_000) == b"y" * 3_000_000


def test_a_body_of_very_many_members_is_refused():
    """Each costs time, none reaches a limit of size."""
    one = gzip.compress(b"")
    assert gunzip(one * MOST_MEMBERS, 10) == b""
    with pytest.raises(InvalidRequestError, match="members"):
        gunzip(one * 100_000, 10)


@pytest.mark.parametrize(
    "body",
    [b"plain", gzip.compress(b"x" * 1000, mtime=0)[:-12], gzip.compress(b"x", mtime=0) + b"trailing"],
    ids=["not gzip", "cut short", "something after it"],
)
def test_broken_gzip_is_an_invalid_request(body):
    """Cut short, not gzip, or followed by something else."""
    with pytest.raises(InvalidRequestError):
        gunzip(body, 10_000)


async def test_bombs_over_the_wire_are_too_large(start, make_request):
    """Both transports refuse them, and serve the next request."""
    running = await start(max_request_bytes=4 * MEBIBYTE)
    packed = bomb(100)
    assert (await running.send_http(packed, content_encoding="gzip")).status_code == 413
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await running.send_grpc(bytes(100 * MEBIBYTE), compression=grpc.Compression.Gzip)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    await running.send_grpc(make_request(1).SerializeToString(), compression=grpc.Compression.Gzip)
    assert running.store.span_count == 1


async def test_the_largest_request_is_taken_while_others_are_served(start, make_request):
    """A request of 64 MiB lands in parts; small ones are answered meanwhile."""
    running = await start()
    request = make_request(10_000, text="x" * 6_600)
    body = request.SerializeToString()
    assert 63 * MEBIBYTE < len(body) < 64 * MEBIBYTE
    large = asyncio.create_task(running.send_http(body))
    answered = 0
    while not large.done():
        await running.send_grpc(make_request(1, first=20_000 + answered).SerializeToString())
        answered += 1
    assert large.result().status_code == 200
    assert answered > 3
    assert running.store.span_count == 10_000 + answered
    assert max(len(b.spans) for b in running.store.batches) == 4096


async def test_clients_that_vanish_leave_nothing_behind(start, make_request):
    """Half a body, a reset, a cancelled call: admission is given back and the next request works."""
    running = await start(max_inflight_requests=4)
    host, port = running.collector.http_address.split(":")
    head = b"POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-protobuf\r\ncontent-length: 100000\r\n\r\n"
    for _ in range(8):
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(head + bytes(5_000))
        await writer.drain()
        writer.transport.abort()
    for _ in range(8):
        call = running.channel.stream_unary(LOGS)()
        await call.wait_for_connection()
        call.cancel()
    async with asyncio.timeout(10):
        while running.collector.inflight_requests:  # noqa: ASYNC110 (its own deadline bounds it)
            await asyncio.sleep(0.01)
    await running.send_grpc(make_request(1).SerializeToString())
    assert (await running.send_http(make_request(1).SerializeToString())).status_code == 200


async def test_a_client_that_stops_sending_is_told_in_time(start):
    """Half a body holds its place no longer than the time limit."""
    running = await start(request_timeout_s=0.2)
    host, port = running.collector.http_address.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        b"POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"
    )
    answer = await reader.readline()
    assert answer.split()[1] == b"503"
    writer.close()
    assert running.collector.inflight_requests == 0


async def test_a_call_without_a_message_is_invalid(start):
    """gRPC lets a client end a call before its message."""
    running = await start()
    call = running.channel.stream_unary(LOGS)(iter(()))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_hostile_strings_arrive_as_they_are(start, make_request):
    """Markup, control characters and right-to-left marks are data."""
    hostile = "<img src=x onerror=alert(1)>\x00\x1b[31m\u202e'\";--"
    running = await start()
    await running.send_grpc(
        make_request(1, service=hostile, decision__node=hostile, weight=1.0).SerializeToString()
    )
    (batch,) = running.store.batches
    assert batch.decisions.node == [hostile]
    assert batch.spans.resources[0].service == hostile
    (tally,) = [t async for t in _tallies(running)]
    assert tally.source == hostile


async def _tallies(running):
    await running.collector.stop()
    for tally in running.store.tallies:
        yield tally
