"""Headers that keep a page from running or fetching anything that is not ours."""

import ipaddress
from collections.abc import Collection, Sequence
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_DIGITS: Final = 18
_FIXED: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


def content_policy(script_hashes: Sequence[str]) -> str:
    """The Content-Security-Policy: everything from here, inline scripts only by their hash.

    Inline styles are allowed because Mantine, AG Grid and Plotly write them; a style cannot fetch
    anything either, since images and fonts come from here too.
    """
    return "; ".join(
        [
            "default-src 'self'",
            f"script-src 'self' {' '.join(script_hashes)}".rstrip(),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self'",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ]
    )


class HostCheck:
    """Answers only to hosts it knows: addresses, ``localhost`` and ``names`` (lower case).

    A dashboard on loopback trusts whoever reaches it. A page elsewhere could reach it through the
    visitor's browser under a name of its own that resolves to loopback (DNS rebinding); that name is in
    the Host header.
    """

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self._app = app
        self._names = {"localhost", *names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or WebSocket (ASGI)."""
        if scope["type"] not in ("http", "websocket") or self._knows(Headers(scope=scope).getlist("host")):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            detail = "this host name is not known here; the setting web_hosts takes further ones"
            body = {"status": 421, "title": "Misdirected request", "detail": detail, "errors": []}
            await JSONResponse(body, 421)(scope, receive, send)

    def _knows(self, hosts: Sequence[str]) -> bool:
        if len(hosts) != 1:
            return False
        try:
            name = urlsplit(f"//{hosts[0]}").hostname or ""
            return name in self._names or bool(ipaddress.ip_address(name))
        except ValueError:
            return False


class BodyLimit:
    """Refuses requests whose body is larger than ``most`` bytes or of unknown length, before it is read.

    Nothing sends bodies here but the pages' own callbacks, whose state is small and whose length the
    browser states; the server below holds a sender to the length it stated.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request (ASGI)."""
        reason = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        if reason is None:
            await self._app(scope, receive, send)
            return
        body = {"status": 413, "title": "Too large", "detail": reason, "errors": []}
        await JSONResponse(body, 413, headers={"connection": "close"})(scope, receive, send)

    def _refusal(self, headers: Headers) -> str | None:
        if "transfer-encoding" in headers:
            return "state the length of the body"
        declared = headers.get("content-length", "")
        if declared.isdecimal() and (len(declared) > _DIGITS or int(declared) > self._most):
            return f"bodies are at most {self._most} bytes"
        return None


class SecurityHeaders:
    """Adds the headers to every HTTP answer that has not set its own; ``policy`` is the content policy."""

    def __init__(self, app: ASGIApp, policy: str) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request (ASGI)."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("content-security-policy", self._policy)
                for name, value in _FIXED.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)
