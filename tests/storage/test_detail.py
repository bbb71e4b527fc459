"""The detail blob: whole again, and under the names of the wire contract."""

from dataclasses import fields

from engine import semconv
from storage import detail
from storage.records import CandidateDetail


def test_a_detail_comes_back_as_it_went_in():
    """Every field survives, filled or empty."""
    whole = CandidateDetail(
        ("a", "é"), (0.5, 1e300), (0.1, 0.0), ("s",), (2.0,), ((0.25,), (1.0,)), ("c",), ("full",)
    )
    for value in (whole, CandidateDetail(), CandidateDetail(candidates=("a",))):
        assert detail.unpack(detail.pack(value)) == value
    assert detail.unpack(None) == CandidateDetail()


def test_numbers_json_cannot_hold_come_back_as_nan():
    """NaN and infinities do not spoil the rest."""
    found = detail.unpack(detail.pack(CandidateDetail(("a", "b"), (float("nan"), 1.0))))
    assert found.weights[0] != found.weights[0]
    assert found.weights[1] == 1.0


def test_every_field_has_its_attribute_of_the_wire_contract():
    """A field or a name forgotten on either side fails here."""
    assert set(detail.ATTRIBUTES.values()) == {f.name for f in fields(CandidateDetail)}
    assert set(detail.ATTRIBUTES) == {
        semconv.CANDIDATES,
        semconv.CANDIDATE_WEIGHTS,
        semconv.CANDIDATE_SCORES,
        semconv.SCORER_NAMES,
        semconv.SCORER_WEIGHTS,
        semconv.SCORER_SCORES,
        semconv.FILTERED,
        semconv.FILTER_REASONS,
    }
