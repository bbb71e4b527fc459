"""Admission: bounds by requests and bytes, given back exactly once."""

import pytest

from collector.errors import BusyError
from collector.stages.admit import Admission


def test_beyond_the_requests_a_sender_is_told_when_to_retry():
    """The refusal is counted and carries the hint."""
    admission = Admission(100, 1, 2.5)
    with admission.enter(), pytest.raises(BusyError) as refusal:
        admission.enter()
    assert (refusal.value.retry_after_s, admission.refused, admission.requests) == (2.5, 1, 0)


def test_beyond_the_bytes_a_request_is_refused_and_holds_nothing():
    """A request that does not fit gives back its place."""
    admission = Admission(100, 10, 1.0)
    first = admission.enter(60)
    with pytest.raises(BusyError):
        admission.enter(41)
    assert (admission.bytes, admission.requests) == (60, 1)
    with pytest.raises(BusyError):
        first.grow(41)
    first.grow(40)
    first.close()
    first.close()
    assert (admission.bytes, admission.requests) == (0, 0)


def test_a_moved_ticket_is_given_back_by_its_new_holder_alone():
    """The receiver's ``with`` ends before the work does."""
    admission = Admission(100, 10, 1.0)
    with admission.enter(10) as ticket:
        held = ticket.move()
    assert (admission.bytes, admission.requests) == (10, 1)
    held.close()
    assert (admission.bytes, admission.requests) == (0, 0)
