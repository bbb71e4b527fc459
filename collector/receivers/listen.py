"""Listening sockets, with errors that name the address."""

import errno
import socket

from collector.errors import AddressInUseError, ListenError

BACKLOG = 512


def join_address(host: str, port: int) -> str:
    """``host:port``, an IPv6 host in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; raises ListenError when the address cannot be used."""
    address = join_address(host, port)
    try:
        family, kind, protocol, _, target = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as exc:
        raise ListenError(f"cannot listen on {address}: {exc.strerror or exc}") from exc
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(target)
        bound.listen(BACKLOG)
    except OSError as exc:
        bound.close()
        if exc.errno == errno.EADDRINUSE:
            raise AddressInUseError(address) from exc
        raise ListenError(f"cannot listen on {address}: {exc.strerror or exc}") from exc
    bound.setblocking(False)
    return bound


def check_free(host: str, port: int) -> None:
    """Raise ListenError when ``host:port`` cannot be listened on; for servers that bind by themselves."""
    bind(host, port).close()
