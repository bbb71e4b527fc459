"""Which node has probably cached which prompt block: what the engine itself sent there."""

from collections import OrderedDict

import numpy as np

from .model import F64

BLOCK_TOKENS = 512
"""Prompt tokens a block hash stands for."""

_FEW = 8  # up to here a loop over the bits is quicker than unpacking them all


class PrefixIndex:
    """Block hash to the set of nodes it was sent to, least recently sent blocks leaving first.

    ``capacity`` bounds the number of blocks. A block's hash is expected to depend on the blocks before
    it, as prefix caches do, so a hit counts only when every block before it hits too.
    """

    def __init__(self, capacity: int = 65_536) -> None:
        self._capacity = capacity
        self._nodes: OrderedDict[int, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._nodes)

    def add(self, blocks: tuple[int, ...], node: int) -> None:
        """Remember that ``blocks`` went to the node with this index."""
        nodes, bit = self._nodes, 1 << node
        for block in blocks:
            nodes[block] = nodes.get(block, 0) | bit
            nodes.move_to_end(block)
        while len(nodes) > self._capacity:
            nodes.popitem(last=False)

    def hits(self, blocks: tuple[int, ...], nodes: int) -> F64:
        """How many leading blocks each of ``nodes`` nodes holds, shape (nodes,)."""
        found = np.zeros(nodes)
        left = (1 << nodes) - 1
        for depth, block in enumerate(blocks):
            holding = left & self._nodes.get(block, 0)
            _assign(found, left & ~holding, depth)
            left = holding
            if not left:
                return found
        _assign(found, left, len(blocks))
        return found

    def clear(self) -> None:
        """Forget everything (node indices have changed)."""
        self._nodes.clear()


def _assign(found: F64, bits: int, value: int) -> None:
    """Set ``value`` where ``bits`` has a bit."""
    if not value or not bits:
        return
    if bits.bit_count() <= _FEW:
        while bits:
            low = bits & -bits
            found[low.bit_length() - 1] = value
            bits ^= low
        return
    octets = np.frombuffer(bits.to_bytes((len(found) + 7) // 8, "little"), np.uint8)
    found[np.unpackbits(octets, count=len(found), bitorder="little").view(np.bool_)] = value
