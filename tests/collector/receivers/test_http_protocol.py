"""Limits of a request's head, over real sockets."""

import asyncio

import pytest
import uvicorn
from starlette.responses import PlainTextResponse

from collector.receivers import http_protocol
from collector.receivers.http_protocol import BoundedHttpProtocol
from collector.receivers.listen import bind

HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"


@pytest.fixture
async def port():
    """A server with the protocol."""
    socket = bind("127.0.0.1", 0)
    config = uvicorn.Config(
        PlainTextResponse("here"), http=BoundedHttpProtocol, ws="none", lifespan="off", log_config=None
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[socket])
    yield socket.getsockname()[1]
    await server.shutdown(sockets=[socket])


async def _send_for_ever(writer, piece):
    while True:
        writer.write(piece)
        await writer.drain()


async def test_a_head_without_end_is_cut(port):
    """Whether of many headers or of one; what is sent after is not read."""
    for endless in (b"X-A: " + b"a" * 1_000 + b"\r\n", b"a" * 1_000):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD + b"X-Long: ")
        with pytest.raises(ConnectionError):
            await _send_for_ever(writer, endless * 100)
        writer.transport.abort()


async def test_a_head_that_never_comes_is_not_waited_for(port, monkeypatch):
    """Neither one that is never begun nor one that is never ended, also after a request that was whole."""
    monkeypatch.setattr(http_protocol, "HEAD_TIME_S", 0.2)
    whole = HEAD + b"\r\n"
    for sent, answered in ((b"", False), (HEAD, False), (whole + HEAD, True)):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        received = await asyncio.wait_for(reader.read(), 5)
        assert (b"here" in received) is answered
        writer.close()


async def test_requests_one_after_another_are_answered(port, monkeypatch):
    """The limit is of one head, not of a connection, and a large body is not a head."""
    monkeypatch.setattr(http_protocol, "MAX_HEAD_BYTES", 200)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(5):
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" + b"b" * 1_000)
        assert b"200 OK" in await reader.readuntil(b"here")
    writer.close()
