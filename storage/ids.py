"""Ids and cursors in the form people and programs outside see."""

from base64 import urlsafe_b64decode, urlsafe_b64encode

TRACE_BYTES = 16
SPAN_BYTES = 8


def from_hex(text: str, size: int) -> bytes:
    """``size`` raw bytes of a hex id of any case. Raises ValueError."""
    if len(text) != 2 * size or not text.isascii() or not text.isalnum():
        raise ValueError(f"an id of {2 * size} hex digits is expected")
    return bytes.fromhex(text)


def of_trace(trace_id: bytes) -> tuple[bytes, bytes]:
    """First and last key a span of the trace can have."""
    return trace_id + bytes(SPAN_BYTES), trace_id + b"\xff" * SPAN_BYTES


def hex_pair(key: bytes) -> tuple[str, str]:
    """Trace id and span id of a span's key, in hex."""
    return key[:TRACE_BYTES].hex(), key[TRACE_BYTES:].hex()


def decision_id(decision_key: bytes | None, span_key: bytes) -> str:
    """The decision id that a decision key stands for; None stands for the span's own."""
    if decision_key is None:
        return "/".join(hex_pair(span_key))
    try:
        return decision_key.decode()
    except UnicodeDecodeError:
        return "/".join(hex_pair(decision_key))


def cursor_of(time_unix_nano: int, number: int) -> str:
    """An opaque place in a list ordered by time and number."""
    return urlsafe_b64encode(f"{time_unix_nano}.{number}".encode()).decode().rstrip("=")


def place_of(cursor: str) -> tuple[int, int]:
    """Time and number of a cursor. Raises ValueError for anything ``cursor_of`` did not make."""
    try:
        time, _, number = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().partition(".")
        place = int(time), int(number)
    except ValueError:
        raise ValueError("not a cursor of this list") from None
    if cursor_of(*place) != cursor:
        raise ValueError("not a cursor of this list")
    return place
