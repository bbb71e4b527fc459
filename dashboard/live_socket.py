"""The WebSocket of the live feed: who may open it, and the two directions of one connection."""

import asyncio
import logging
import math
import time
from urllib.parse import urlsplit

import orjson
from fastapi import APIRouter
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from dashboard.live_hub import LiveHub
from dashboard.live_matrix import to_text
from dashboard.live_viewer import Viewer

log = logging.getLogger(__name__)
PATH = "/ws/weights"
MESSAGE_LIMIT = 1_024
MESSAGES_PER_S = 20
NAME_LIMIT = 256

TOO_MANY = 1013
POLICY_VIOLATION = 1008
GOING_AWAY = 1001

SERVER_OPTIONS = {"ws_per_message_deflate": False}
"""What uvicorn must be told: compressing each connection costs fifteen times the CPU of the feed."""


def build_live_router(hub: LiveHub) -> APIRouter:
    """A router with ``WebSocket /ws/weights?policy=&service=`` that serves ``hub``."""
    router = APIRouter()

    @router.websocket(PATH)
    async def weights(websocket: WebSocket) -> None:
        await serve_viewer(hub, websocket)

    return router


def origin_allowed(origin: str | None, host: str | None, allowed: tuple[str, ...]) -> bool:
    """Whether a page of ``origin`` may read the feed served at ``host``.

    Browsers let any page open a WebSocket to any host, so the same-origin rule must be kept here. A
    client without an Origin header is no browser and may connect.
    """
    if origin is None or origin in allowed:
        return True
    try:
        parts = urlsplit(origin)
        known = parts.scheme in {"http", "https"}
        return known and bool(host) and parts.netloc.lower() == (host or "").lower()
    except ValueError:
        return False


async def serve_viewer(hub: LiveHub, websocket: WebSocket) -> None:
    """Serve one connection until it ends, whoever ends it."""
    headers = websocket.headers
    if not origin_allowed(headers.get("origin"), headers.get("host"), hub.config.allowed_origins):
        hub.figures.refused += 1
        await websocket.close(POLICY_VIOLATION)
        return
    await websocket.accept()
    asked = websocket.query_params
    viewer = hub.join(asked.get("policy", "")[:NAME_LIMIT], asked.get("service") or None)
    if viewer is None:
        await websocket.close(TOO_MANY, "Too many viewers; try again later.")
        return
    sender = asyncio.create_task(_send(hub, viewer, websocket))
    receiver = asyncio.create_task(_receive(viewer, websocket))
    try:
        await asyncio.wait({sender, receiver}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        hub.leave(viewer)
        for task in (sender, receiver):
            task.cancel()
        await asyncio.gather(sender, receiver, return_exceptions=True)


async def _send(hub: LiveHub, viewer: Viewer, websocket: WebSocket) -> None:
    """Send what waits; a send that takes too long ends the connection."""
    try:
        while True:
            message = await viewer.take()
            if viewer.closed:
                await websocket.close(GOING_AWAY)
                return
            for each in hub.catch_up(viewer) if message is None else [message]:
                async with asyncio.timeout(hub.config.stuck_s):
                    await _send_one(websocket, each)
    except TimeoutError:
        hub.figures.evicted += 1
    except (WebSocketDisconnect, RuntimeError, OSError):
        log.debug("A viewer left while it was being sent to")


async def _send_one(websocket: WebSocket, message: bytes | str) -> None:
    if isinstance(message, str):
        await websocket.send_text(message)
    else:
        await websocket.send_bytes(message)


async def _receive(viewer: Viewer, websocket: WebSocket) -> None:
    """Answer pings and requests for a full frame; anything else, or a flood, ends the connection."""
    second, heard = 0, 0
    try:
        while True:
            text = await websocket.receive_text()
            now = int(time.monotonic())
            second, heard = (second, heard + 1) if now == second else (now, 1)
            if len(text) > MESSAGE_LIMIT or heard > MESSAGES_PER_S or not _answer(viewer, text):
                await websocket.close(POLICY_VIOLATION)
                return
    except (WebSocketDisconnect, KeyError, RuntimeError):
        if websocket.client_state is not WebSocketState.DISCONNECTED:
            log.debug("A viewer sent what is not text")


def _answer(viewer: Viewer, text: str) -> bool:
    """Act on one message of the browser; False when it is not one of ours."""
    try:
        message = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    match message:
        case {"type": "ping", "t": float() | int() as t} if not isinstance(t, bool) and math.isfinite(t):
            viewer.offer(to_text({"type": "pong", "t": t}))
        case {"type": "full"}:
            viewer.fall_back()
        case _:
            return False
    return True
