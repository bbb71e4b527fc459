"""The body of one request, and its decompression that stops at the limit."""

import zlib
from dataclasses import dataclass
from enum import Enum

from collector.decode import Encoding
from collector.errors import InvalidRequestError, TooLargeError

_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_STEP = 2**20
_READ = 2**16

MOST_MEMBERS = 1_000
"""Members of one gzip body. Empty ones cost time and reach no limit of size; senders use one."""


class Signal(Enum):
    """What a request carries."""

    TRACES = "traces"
    METRICS = "metrics"
    LOGS = "logs"


@dataclass(frozen=True, slots=True)
class Payload:
    """A request as it was received. ``peer`` is the sender's address, for the log only."""

    body: bytes
    encoding: Encoding
    gzipped: bool = False
    peer: str = ""

    def plain(self, limit: int) -> bytes:
        """The body, decompressed.

        Raises TooLargeError as soon as more than ``limit`` bytes have come out, InvalidRequestError when
        the body is not whole gzip.
        """
        if len(self.body) > limit:
            raise TooLargeError(f"the request is larger than {limit} bytes")
        return gunzip(self.body, limit) if self.gzipped else self.body


def gunzip(body: bytes, limit: int) -> bytes:
    """``body`` decompressed, all gzip members of it; errors as in Payload.plain."""
    view, at = memoryview(body), 0
    out, size, members = [], 0, 0
    while at < len(body):
        members += 1
        if members > MOST_MEMBERS:
            raise InvalidRequestError(f"the gzip body has more than {MOST_MEMBERS} members")
        member = zlib.decompressobj(_GZIP_WINDOW)
        while not member.eof:
            given: bytes | memoryview = member.unconsumed_tail
            if not given:  # a little at a time, since what follows a member's end is copied
                given = view[at : at + _READ]
                at += len(given)
            try:
                piece = member.decompress(given, min(_STEP, limit + 1 - size))
            except zlib.error as exc:
                raise InvalidRequestError("the body is not gzip") from exc
            size += len(piece)
            if size > limit:
                raise TooLargeError(f"the request is larger than {limit} bytes after decompression")
            out.append(piece)
            if not piece and not given and not member.eof:
                raise InvalidRequestError("the gzip body is cut short")
        at -= len(member.unused_data)
    return b"".join(out)
