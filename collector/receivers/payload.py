"""The body of one request, and its decompression that stops at the limit."""

import zlib
from dataclasses import dataclass
from enum import Enum

from collector.decode import Encoding
from collector.errors import InvalidRequestError, TooLargeError

_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_STEP = 2**20


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
    out, size, rest = [], 0, body
    while rest:
        member = zlib.decompressobj(_GZIP_WINDOW)
        while not member.eof:
            try:
                piece = member.decompress(rest, min(_STEP, limit + 1 - size))
            except zlib.error as exc:
                raise InvalidRequestError("the body is not gzip") from exc
            rest = member.unconsumed_tail
            size += len(piece)
            if size > limit:
                raise TooLargeError(f"the request is larger than {limit} bytes after decompression")
            out.append(piece)
            if not piece and not rest and not member.eof:
                raise InvalidRequestError("the gzip body is cut short")
        rest = member.unused_data
    return b"".join(out)
