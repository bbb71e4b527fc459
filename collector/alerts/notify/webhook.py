"""Posts a message to a webhook, signed after Standard Webhooks, and says what came of it."""

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType

import httpx2
from standardwebhooks import Webhook

from collector.alerts.config import Destination
from collector.alerts.model import short
from collector.alerts.notify.addresses import RefusedAddressError, resolve

TIME_LIMIT_S = 15.0
LONGEST_WAIT_S = 86_400.0
_TOLD = 300  # characters of a receiver's answer worth keeping


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one attempt. ``status`` is None when there was no HTTP answer.

    ``retry_after_s`` is what the receiver asked for, None when it did not.
    """

    status: int | None
    error: str = ""
    retry_after_s: float | None = None

    @property
    def delivered(self) -> bool:
        """Any 2xx."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def gone(self) -> bool:
        """410: the receiver wants nothing any more."""
        return self.status == 410


class WebhookSender:
    """Posts messages; use as an async context manager. Follows no redirect and uses no proxy."""

    def __init__(self, *, time_limit_s: float = TIME_LIMIT_S, context: ssl.SSLContext | None = None) -> None:
        self._time_limit_s = time_limit_s
        self._client = httpx2.AsyncClient(
            verify=context or True,
            follow_redirects=False,
            trust_env=False,
            timeout=time_limit_s,
            # A kept connection is found again by address: it may have been opened for another name.
            limits=httpx2.Limits(max_keepalive_connections=0),
        )

    async def __aenter__(self) -> "WebhookSender":
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.__aexit__(kind, error, trace)

    async def post(self, destination: Destination, webhook_id: str, body: bytes, now: int) -> Answer:
        """One attempt within the time limit; never raises for what the network does.

        ``now`` (ns since the epoch) becomes the message's timestamp: a receiver refuses old ones.
        """
        try:
            async with asyncio.timeout(self._time_limit_s):
                return await self._post(destination, webhook_id, body, now // 1_000_000_000)
        except TimeoutError:
            return Answer(None, f"no answer within {self._time_limit_s:g} s")
        except RefusedAddressError as error:
            return Answer(None, str(error))
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            return Answer(None, short(f"{type(error).__name__}: {error}", _TOLD))

    async def _post(self, destination: Destination, webhook_id: str, body: bytes, seconds: int) -> Answer:
        url = httpx2.URL(destination.url)
        port = url.port or {"http": 80, "https": 443}[url.scheme]
        address = await resolve(url.host, port, allow_private=destination.allow_private)
        headers = signed_headers(destination.secrets, webhook_id, body, seconds)
        request = self._client.build_request(
            "POST",
            url.copy_with(host=address),
            content=body,
            headers={**headers, "host": url.netloc.decode("ascii")},
            # The certificate must be of the name, although the connection goes to the address.
            extensions={"sni_hostname": url.host},
        )
        response = await self._client.send(request, stream=True)
        try:
            return await _answer(response, datetime.fromtimestamp(seconds, UTC))
        finally:
            await response.aclose()


def signed_headers(secrets: Sequence[str], webhook_id: str, body: bytes, seconds: int) -> Mapping[str, str]:
    """Headers of one attempt; one signature for each secret, none without secrets."""
    headers = {
        "content-type": "application/json",
        "user-agent": "weighbridge",
        "webhook-id": webhook_id,
        "webhook-timestamp": str(seconds),
    }
    at = datetime.fromtimestamp(seconds, UTC)
    signatures = [Webhook(secret).sign(webhook_id, at, body.decode()) for secret in secrets]
    return headers | ({"webhook-signature": " ".join(signatures)} if signatures else {})


async def _answer(response: httpx2.Response, now: datetime) -> Answer:
    status = response.status_code
    if 200 <= status < 300:
        return Answer(status)
    if 300 <= status < 400:
        to = short(response.headers.get("location", ""), 200)
        return Answer(
            status, f"answered a redirect to {to!r}; redirects are not followed, set the new address"
        )
    told = b""
    async for piece in response.aiter_raw(4096):
        told += piece
        if len(told) >= _TOLD:
            break
    words = told[:_TOLD].decode("utf-8", "replace").strip()
    return Answer(
        status, f"HTTP {status}" + (f": {words}" if words else ""), retry_after(response.headers, now)
    )


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds of a Retry-After header, given in seconds or as a date; None when absent or unreadable."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(min(int(value[:9]), LONGEST_WAIT_S))
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    if at.tzinfo is None:
        return None
    return min(max((at - now).total_seconds(), 0.0), LONGEST_WAIT_S)
