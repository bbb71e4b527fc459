"""Ids and cursors in the form people and programs outside see."""

from base64 import urlsafe_b64decode, urlsafe_b64encode

TRACE_BYTES = 16
SPAN_BYTES = 8


def from_hex(text: str, size: int) -> bytes:
    """``size`` raw bytes of a hex id of any case. Raises ValueError."""
    if len(text) != 2 * size or not text.isascii() or not text.isalnum():
        raise ValueError(f"an id of {2 * size} hex digits is expected")
    return bytes.fromhex(text)


def decision_id(key: bytes, trace_id: bytes, span_id: bytes) -> str:
    """The decision id that a decision key stands for."""
    if key == trace_id + span_id:
        return f"{trace_id.hex()}/{span_id.hex()}"
    try:
        return key.decode()
    except UnicodeDecodeError:
        return f"{key[:TRACE_BYTES].hex()}/{key[TRACE_BYTES:].hex()}"


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
