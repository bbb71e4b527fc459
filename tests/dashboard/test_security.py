"""The dashboard on loopback answers to hosts it knows only."""

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from dashboard.security import HostCheck


async def _page(_request: object) -> PlainTextResponse:
    return PlainTextResponse("here")


async def _socket(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text("here")
    await websocket.close()


@pytest.fixture
def client() -> TestClient:
    app = Starlette(routes=[Route("/", _page), WebSocketRoute("/ws", _socket)])
    return TestClient(HostCheck(app, ["bridge.example"]))


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8050", "127.0.0.1:8050", "[::1]:8050", "10.0.0.4", "Bridge.Example:443"]
)
def test_known_hosts_are_answered(client: TestClient, host: str) -> None:
    """Addresses, localhost, and the names in the settings, with and without a port."""
    assert client.get("/", headers={"host": host}).text == "here"
    with client.websocket_connect("/ws", headers={"host": host}) as socket:
        assert socket.receive_text() == "here"


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8050", "localhost.evil.example", "", "[::1", "a b"]
)
def test_a_name_that_was_rebound_to_loopback_is_refused(client: TestClient, host: str) -> None:
    """421 that names the setting; the WebSocket is closed before it opens."""
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "web_hosts" in answer.json()["detail"]
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/ws", headers={"host": host}):
        pass
