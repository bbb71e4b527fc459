"""Walks the wire bytes of many protobuf spans in step, one field after the other, by array operations.

The bytes are what the library writes: fields in the order of their numbers, each once, lengths as short
as they can be.
"""

import numpy as np
import numpy.typing as npt

from .columns import MAX_NANO

Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

FIXED = 8
"""Bytes of a fixed number."""

MORE = 0x80
"""The bit of a varint's byte that says another one follows."""

_ATTRIBUTE, _STATUS, _FLAGS = 0x4A, 0x7A, (0x85, 0x01)
_MOST_ATTRIBUTES = 128
_PADDING = bytes(32)  # so that looking ahead never leaves the bytes


class OddError(Exception):
    """These spans are for the library."""


class Walk:
    """The bytes of n spans and, in ``at``, how far each has been read."""

    def __init__(self, wires: list[bytes]) -> None:
        raw = b"".join([*wires, _PADDING])
        self.bytes = np.frombuffer(raw, np.uint8)
        self.stop = np.cumsum([len(wire) for wire in wires])
        self.at: Places = np.concatenate([np.zeros(1, np.int64), self.stop[:-1]])
        self._raw = raw
        self._masked = (self.bytes & 0x7F).tobytes().decode("ascii")

    def has(self, *tag: int) -> Mask:
        """Which spans go on with this tag."""
        found = self.at < self.stop
        for offset, byte in enumerate(tag):
            found &= self.bytes[self.at + offset] == byte
        return found

    def lengths(self, at: Places, written: Mask) -> tuple[Places, Places]:
        """The lengths at these places, and where what they measure begins; without meaning if not written."""
        at = np.where(written, at, len(self.bytes) - 2)
        low, high = self.bytes[at].astype(np.int64), self.bytes[at + 1].astype(np.int64)
        long = low >= MORE
        if not long.any():
            return low, at + 1
        if (high[long] >= MORE).any():
            raise OddError
        return np.where(long, (low & 0x7F) | (high << 7), low), at + 1 + long

    def table(self, at: Places, width: int) -> npt.NDArray[np.uint8]:
        """``width`` bytes from each of these places."""
        found: npt.NDArray[np.uint8] = self.bytes[at[:, None] + np.arange(width)]
        return found

    def texts(self, begin: Places, end: Places) -> list[str]:
        """The strings between these places."""
        masked, cuts = self._masked, list(zip(begin.tolist(), end.tolist(), strict=True))
        texts = [masked[a:b] for a, b in cuts]
        if not texts:
            return texts
        borders = np.stack([begin, end], axis=1).ravel()
        beyond_ascii = np.bitwise_or.reduceat(self.bytes, borders)[::2] >= MORE
        for index in np.flatnonzero(beyond_ascii).tolist():
            a, b = cuts[index]
            texts[index] = self._raw[a:b].decode()
        return texts

    def required(self, tag: int, size: int) -> npt.NDArray[np.uint8]:
        """Bytes fields that every span has and that are of one size, not all zero."""
        if not self.has(tag, size).all():
            raise OddError
        found = self.table(self.at + 2, size)
        if not found.any(axis=1).all():
            raise OddError
        self.at += 2 + size
        return found

    def optional(self, tag: int, size: int) -> npt.NDArray[np.uint8] | None:
        """The same where a span may lack the field, then zeros; None when all do."""
        present = self.has(tag)
        if not present.any():
            return None
        if not self.has(tag, size)[present].all():
            raise OddError
        found = np.where(present[:, None], self.table(self.at + 2, size), np.uint8(0))
        self.at += np.where(present, 2 + size, 0)
        return found

    def strings(self, tag: int) -> list[str]:
        """String fields, empty where absent."""
        present = self.has(tag)
        if not present.any():
            return [""] * len(self.at)
        lengths, begin = self.lengths(self.at + 1, present)
        end = np.where(present, begin + lengths, begin)
        texts = self.texts(begin, end)
        self.at = np.where(present, end, self.at)
        return texts

    def small(self, tag: int) -> list[int]:
        """Numbers below 128, 0 where absent."""
        present, values = self.has(tag), self.bytes[self.at + 1]
        if (values[present] >= MORE).any():
            raise OddError
        self.at += np.where(present, 2, 0)
        return list(np.where(present, values, 0).tolist())

    def times(self, tag: int) -> list[int]:
        """Fixed 64-bit numbers within the range of times, 0 where absent."""
        present = self.has(tag)
        values = np.where(present, self.table(self.at + 1, FIXED).view("<u8").ravel(), np.uint64(0))
        if (values > MAX_NANO).any():
            raise OddError
        self.at += np.where(present, 1 + FIXED, 0)
        return list(values.tolist())

    def attributes(self) -> tuple[Places, Places, Mask]:
        """Where the attributes begin and end, span after span, and which span has a k-th; (n, most)."""
        begins, ends, present = list[Places](), list[Places](), list[Mask]()
        while (more := self.has(_ATTRIBUTE)).any():
            if len(begins) >= _MOST_ATTRIBUTES:
                raise OddError
            lengths, begin = self.lengths(self.at + 1, more)
            begins.append(begin)
            ends.append(begin + lengths)
            present.append(more)
            self.at = np.where(more, begin + lengths, self.at)
        if not begins:
            none = np.zeros(0, np.int64)
            return none, none, np.zeros((len(self.at), 0), np.bool_)
        mask = np.stack(present, axis=1)
        return np.stack(begins, axis=1)[mask], np.stack(ends, axis=1)[mask], mask

    def unfinished(self) -> list[int]:
        """Spans of which more is left than an empty status and flags."""
        self.at += np.where(self.has(_STATUS, 0), 2, 0)
        self.at += np.where(self.has(*_FLAGS), len(_FLAGS) + 4, 0)
        return list(np.flatnonzero(self.at != self.stop).tolist())
