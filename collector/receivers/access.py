"""Who may send: a bearer token, and web pages only from the origins the settings name."""

import secrets
from collections.abc import Mapping

from collector.errors import PermissionDeniedError, UnauthenticatedError

_SCHEME = "bearer"


def check_access(headers: Mapping[str, str], token: str | None, origins: tuple[str, ...] = ()) -> None:
    """Raise UnauthenticatedError or PermissionDeniedError when ``headers`` (lower-case names) may not send.

    A browser names the page's origin itself, so a page from elsewhere cannot post into a collector on the
    visitor's own machine.
    """
    origin = headers.get("origin")
    if origin is not None and origin not in origins and "*" not in origins:
        raise PermissionDeniedError("web pages of this origin may not send here; see intake.cors_origins")
    if token is None:
        return
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() != _SCHEME or not secrets.compare_digest(given.strip().encode(), token.encode()):
        raise UnauthenticatedError("send the header Authorization: Bearer <token> with the collector's token")
