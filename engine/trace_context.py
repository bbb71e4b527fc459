"""W3C trace context in and out: traceparent, and the sampling fields of tracestate.

Formats: https://www.w3.org/TR/trace-context/ and OpenTelemetry's "TraceState: Probability Sampling".
A rejection threshold T (56 bits) keeps a trace when its randomness is at least T; the text form ``th``
drops trailing zeros.
"""

import re
from dataclasses import dataclass

SAMPLED = 0x01
RANDOMNESS_BITS = 56
MAX_THRESHOLD = 1 << RANDOMNESS_BITS

_PARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?", re.DOTALL)
_HEX = re.compile(r"[0-9a-f]{1,14}")
_RANDOM = re.compile(r"[0-9a-f]{14}")


@dataclass(frozen=True, slots=True)
class TraceContext:
    """The caller's place in a trace: ids as integers, whether it is sampled, its trace state."""

    trace_id: int
    span_id: int
    sampled: bool = True
    trace_state: str = ""


def parse_traceparent(header: str, trace_state: str = "") -> TraceContext | None:
    """Read a ``traceparent`` header; None when it is not valid, so that a new trace starts.

    A version above 00 is read by its first four fields; version ff and all-zero ids are invalid.
    """
    match = _PARENT.fullmatch(header)
    if match is None:
        return None
    version, trace, span, flags = match.groups()
    if version == "ff" or (version == "00" and len(header) != len("00--00") + 32 + 16 + 1):
        return None
    trace_id, span_id = int(trace, 16), int(span, 16)
    if not trace_id or not span_id:
        return None
    return TraceContext(trace_id, span_id, bool(int(flags, 16) & SAMPLED), trace_state)


def format_traceparent(trace_id: int, span_id: int, *, sampled: bool) -> str:
    """Write a version 00 ``traceparent`` header."""
    return f"00-{trace_id:032x}-{span_id:016x}-{SAMPLED if sampled else 0:02x}"


def threshold_of_rate(rate: float) -> int:
    """Rejection threshold of a sampling rate in [0, 1]; rate 0 gives 2^56, which keeps nothing."""
    return MAX_THRESHOLD - round(rate * MAX_THRESHOLD)


def format_threshold(threshold: int) -> str:
    """``th`` text of a threshold below 2^56."""
    return f"{threshold:014x}".rstrip("0") or "0"


def sampling_fields(trace_state: str) -> tuple[int | None, int | None]:
    """Threshold and explicit randomness (``th``, ``rv``) that a trace state carries, None where absent."""
    threshold = randomness = None
    for member in trace_state.split(","):
        key, _, value = member.strip().partition("=")
        if key != "ot":
            continue
        for field in value.split(";"):
            name, _, text = field.partition(":")
            if name == "th" and _HEX.fullmatch(text):
                threshold = int(text.ljust(14, "0"), 16)
            elif name == "rv" and _RANDOM.fullmatch(text):
                randomness = int(text, 16)
    return threshold, randomness


def with_threshold(trace_state: str, threshold: int) -> str:
    """The trace state with ``ot=th`` set, its other entries kept and ``ot`` moved to the front."""
    fields, others = [f"th:{format_threshold(threshold)}"], []
    for member in trace_state.split(","):
        key, _, value = member.strip().partition("=")
        if key == "ot":
            fields += [field for field in value.split(";") if field and not field.startswith("th:")]
        elif key and value:
            others.append(f"{key}={value}")
    return ",".join(["ot=" + ";".join(fields), *others])
