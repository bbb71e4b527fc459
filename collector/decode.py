"""OTLP bytes to columnar batches, plus counted rejects; pure, no I/O.

``TraceReader`` hands a request out in parts of bounded size, so that a request of 64 MiB neither needs
all its columns at once nor holds the writer for seconds; ``decode_traces`` takes it whole.

What is decided here: a span whose ids are of wrong length or all zero, or whose times lie beyond int64,
is rejected and counted, the rest is kept; a span that ends before it starts is kept and flagged; a span
name beyond 4 KiB is cut and counted; attributes nest as deep as protobuf allows (about 47 arrays), deeper
ones make the request invalid in either encoding. Events are stored as JSON arrays of ``{name,
time_unix_nano, attributes}``, links as ``{trace_id, span_id, trace_state, attributes}``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from storage.records import SpanBatch

from .columns import SpanColumns
from .decode_json import read_json
from .decode_protobuf import read_protobuf

Counts = Mapping[tuple[str, str], int]
"""Counts by (source, reason)."""


class Encoding(Enum):
    """How the body of a request is written."""

    PROTOBUF = "protobuf"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Decoded:
    """What one part of a request held: the spans kept, and counts of what was not or was changed."""

    batch: SpanBatch
    rejects: Counts
    warnings: Counts

    @property
    def rejected(self) -> int:
        """How many spans were not kept."""
        return sum(self.rejects.values())


class TraceReader:
    """Reads one request part by part.

    Raises InvalidRequestError, on construction or in ``read``, when the body is not what it says. In
    JSON a fault deep in a span shows when its part is read; what was read before stays valid.
    """

    def __init__(self, body: bytes, encoding: Encoding) -> None:
        self._request = read_protobuf(body) if encoding is Encoding.PROTOBUF else read_json(body)
        self._resources, self._scopes = tuple(self._request.resources), tuple(self._request.scopes)
        self._group = 0
        self._offset = 0

    @property
    def total(self) -> int:
        """How many spans the request holds, rejected ones included."""
        return sum(len(group.spans) for group in self._request.groups)

    @property
    def done(self) -> bool:
        """Whether every span has been read."""
        return self._group >= len(self._request.groups)

    def read(self, max_spans: int) -> Decoded:
        """The next part, of at most ``max_spans`` (1 or more) spans; empty when all were read."""
        columns, room = SpanColumns(), max_spans
        while room > 0 and not self.done:
            group = self._request.groups[self._group]
            spans = group.spans[self._offset : self._offset + room]
            self._request.fill(columns, group, spans)
            room -= len(spans)
            self._offset += len(spans)
            if self._offset >= len(group.spans):
                self._group, self._offset = self._group + 1, 0
        batch = columns.close(self._resources, self._scopes)
        return Decoded(batch, self._by_source(columns.rejects), self._by_source(columns.warnings))

    def _by_source(self, counts: Mapping[tuple[int, str], int]) -> Counts:
        named: dict[tuple[str, str], int] = {}
        for (resource, reason), count in counts.items():
            key = (self._resources[resource].service, reason)
            named[key] = named.get(key, 0) + count
        return named


def decode_traces(body: bytes, encoding: Encoding) -> Decoded:
    """The whole request as one part; raises InvalidRequestError when it cannot be decoded."""
    reader = TraceReader(body, encoding)
    return reader.read(max(1, reader.total))
