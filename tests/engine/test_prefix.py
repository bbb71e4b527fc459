"""Which node holds which block."""

from engine.prefix import PrefixIndex


def test_hits_are_leading_blocks():
    """A block counts only when every block before it hits too."""
    index = PrefixIndex()
    index.add((1, 2, 3), 0)
    index.add((1, 2), 2)
    index.add((3,), 3)
    assert index.hits((1, 2, 3), 4).tolist() == [3, 0, 2, 0]
    assert index.hits((1, 2), 4).tolist() == [2, 0, 2, 0]
    assert index.hits((9, 1), 4).tolist() == [0, 0, 0, 0]
    assert index.hits((), 4).tolist() == [0, 0, 0, 0]


def test_the_least_recently_sent_block_leaves():
    """The number of blocks is bounded."""
    index = PrefixIndex(capacity=3)
    index.add((1, 2, 3), 0)
    index.add((1,), 0)
    index.add((4,), 1)
    assert len(index) == 3
    assert index.hits((1,), 2).tolist() == [1, 0]
    assert index.hits((2,), 2).tolist() == [0, 0]


def test_more_nodes_than_bits_in_a_word():
    """Nodes beyond the sixty-fourth are held as well."""
    index = PrefixIndex()
    index.add((1,), 199)
    assert index.hits((1,), 200)[199] == 1
    index.clear()
    assert index.hits((1,), 200).sum() == 0
