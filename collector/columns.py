"""Collects decoded spans column by column and closes them into a SpanBatch.

Both wire encodings fill the same columns through ``SpanColumns``, so what a span is kept or rejected for
is decided here once.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from storage.records import U8, Resource, Scope, SpanBatch, Strings

from .attributes import Row, RowAttributes

TRACE_ID_BYTES = 16
SPAN_ID_BYTES = 8
MAX_NANO = 2**63 - 1
NAME_BYTES = 4096
UNKNOWN_SERVICE = "unknown_service"

NAME_CUT = f"span name longer than {NAME_BYTES} bytes: cut"

_NO_TRACE = bytes(TRACE_ID_BYTES)
_NO_SPAN = bytes(SPAN_ID_BYTES)
_THRESHOLD_RANGE = 2**56
_THRESHOLD_DIGITS = 14


@dataclass(slots=True)
class SpanColumns:
    """The columns of one batch while it is being filled.

    ``rejects`` and ``warnings`` count by (index into the request's resources, reason).
    """

    trace_id: list[bytes] = field(default_factory=list)
    span_id: list[bytes] = field(default_factory=list)
    parent_span_id: list[bytes] = field(default_factory=list)
    name: list[str] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    status_code: list[int] = field(default_factory=list)
    status_message: list[str] = field(default_factory=list)
    trace_state: list[str] = field(default_factory=list)
    events: list[bytes] = field(default_factory=list)
    links: list[bytes] = field(default_factory=list)
    resource_index: list[int] = field(default_factory=list)
    scope_index: list[int] = field(default_factory=list)
    attributes: list[Row] = field(default_factory=list)
    odd: set[int] = field(default_factory=set)
    rejects: Counter[tuple[int, str]] = field(default_factory=Counter)
    warnings: Counter[tuple[int, str]] = field(default_factory=Counter)

    def close(self, resources: tuple[Resource, ...], scopes: tuple[Scope, ...]) -> SpanBatch:
        """The batch; these columns are not to be filled any further."""
        start, end = np.array(self.start, np.int64), np.array(self.end, np.int64)
        kind, status = np.array(self.kind, np.int64), np.array(self.status_code, np.int64)
        return SpanBatch(
            trace_id=_ids(self.trace_id, TRACE_ID_BYTES),
            span_id=_ids(self.span_id, SPAN_ID_BYTES),
            parent_span_id=self._parents(),
            name=Strings.of(self._bounded_names()),
            kind=np.where((kind >= 0) & (kind <= 5), kind, 0).astype(np.int32),
            start_unix_nano=start,
            end_unix_nano=end,
            status_code=np.where((status >= 0) & (status <= 2), status, 0).astype(np.int32),
            status_message=Strings.of(self.status_message),
            trace_state=Strings.of(self.trace_state),
            events=Strings.of(self.events),
            links=Strings.of(self.links),
            resource_index=np.array(self.resource_index, np.int32),
            scope_index=np.array(self.scope_index, np.int32),
            resources=resources,
            scopes=scopes,
            attributes=RowAttributes(self.attributes, frozenset(self.odd)),
            adjusted_count=self._adjusted_counts(),
            flagged=end < start,
        )

    def _parents(self) -> U8:
        if any(self.parent_span_id):
            return _ids([p or _NO_SPAN for p in self.parent_span_id], SPAN_ID_BYTES)
        return np.zeros((len(self.parent_span_id), SPAN_ID_BYTES), np.uint8)

    def _adjusted_counts(self) -> npt.NDArray[np.float64]:
        if any(self.trace_state):
            return np.array([adjusted_count(t) if t else math.nan for t in self.trace_state], float)
        return np.full(len(self.trace_state), math.nan)

    def _bounded_names(self) -> list[str]:
        names = self.name
        if max(map(len, names), default=0) * 4 <= NAME_BYTES:
            return names
        for index, name in enumerate(names):
            if len(name) * 4 > NAME_BYTES and len(name.encode()) > NAME_BYTES:
                names[index] = cut(name)
                self.warnings[self.resource_index[index], NAME_CUT] += 1
        return names


def cut(name: str) -> str:
    """``name`` cut to at most ``NAME_BYTES`` bytes of UTF-8, at a character."""
    return name.encode()[:NAME_BYTES].decode(errors="ignore")


def reject_reason(trace_id: bytes, span_id: bytes, parent: bytes, start: int, end: int) -> str | None:
    """Why a span cannot be kept, or None. Times are nanoseconds of any size."""
    if len(trace_id) != TRACE_ID_BYTES or trace_id == _NO_TRACE:
        return "trace_id is all zero" if trace_id == _NO_TRACE else "trace_id is not 16 bytes"
    if len(span_id) != SPAN_ID_BYTES or span_id == _NO_SPAN:
        return "span_id is all zero" if span_id == _NO_SPAN else "span_id is not 8 bytes"
    if parent and len(parent) != SPAN_ID_BYTES:
        return "parent_span_id is not 8 bytes"
    if not (0 <= start <= MAX_NANO and 0 <= end <= MAX_NANO):
        return "time outside the years 1970 to 2262"
    return None


def adjusted_count(trace_state: str) -> float:
    """How many spans this one stands for, by ``ot=th:<hex>``; NaN when absent or malformed.

    The threshold is right-padded to 56 bits T; the count is 2^56 / (2^56 - T).
    """
    for member in trace_state.split(","):
        key, _, value = member.strip().partition("=")
        if key != "ot":
            continue
        for part in value.split(";"):
            name, _, digits = part.partition(":")
            if name == "th":
                return _count_of_threshold(digits)
    return math.nan


def _count_of_threshold(digits: str) -> float:
    hexadecimal = digits and all(c in "0123456789abcdef" for c in digits)
    if not hexadecimal or len(digits) > _THRESHOLD_DIGITS:
        return math.nan
    threshold = int(digits.ljust(_THRESHOLD_DIGITS, "0"), 16)
    return _THRESHOLD_RANGE / (_THRESHOLD_RANGE - threshold)


def _ids(values: Sequence[bytes], width: int) -> U8:
    return np.frombuffer(b"".join(values), np.uint8).reshape(len(values), width)
