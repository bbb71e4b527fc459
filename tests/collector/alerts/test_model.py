"""Fingerprints and cut texts."""

from collector.alerts.model import Alert, fingerprint_of, short


def test_a_fingerprint_depends_on_labels_alone() -> None:
    """Order and annotations do not matter; where one value ends does."""
    one = Alert("r", {"a": "1", "b": "2"}, {"summary": "x"}, 0.1, 5)
    assert one.fingerprint == Alert("r", {"b": "2", "a": "1"}, {}, 0.9, 7, 9).fingerprint
    assert fingerprint_of({"a": "bc"}) != fingerprint_of({"ab": "c"})
    assert len(one.fingerprint) == 16


def test_lone_surrogates_have_a_fingerprint() -> None:
    """Names come from senders."""
    assert len(fingerprint_of({"node": "\ud800"})) == 16


def test_long_texts_are_cut_with_an_ellipsis() -> None:
    """What was cut shows that it was."""
    assert short("abcdef", 4) == "abc…"
    assert short("abcd", 4) == "abcd"
