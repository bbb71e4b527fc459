"""The sink: one thread, and no raw error of the store comes through."""

import threading

import pytest

from collector.errors import BusyError, InternalError
from collector.metrics import CollectorMetrics
from collector.sink import StoreSink
from storage.errors import SchemaOutdatedError, StoreUnavailableError, StoreUnusableError


@pytest.mark.parametrize(
    ("raised", "told", "available"),
    [
        (StoreUnavailableError("database is locked"), BusyError, False),
        (SchemaOutdatedError("old"), BusyError, False),
        (StoreUnusableError("read-only"), BusyError, False),
        (ZeroDivisionError(), InternalError, True),
    ],
)
async def test_errors_of_the_store_become_intake_errors(raised, told, available):
    """A store that cannot be written asks for a retry, lest senders throw their spans away."""

    def write(_batches):
        raise raised

    sink = StoreSink(write, CollectorMetrics(), 3.0)
    with pytest.raises(told):
        await sink.write([])
    assert sink.available is available
    sink.close()


async def test_a_store_that_answers_for_too_few_batches_is_an_internal_error():
    """A caller is never told success without a result of its own."""
    sink = StoreSink(lambda _batches: [None], CollectorMetrics(), 1.0)
    with pytest.raises(InternalError):
        await sink.write([])
    sink.close()


async def test_all_work_runs_on_one_thread_of_its_own():
    """Writes and flushes never overlap."""
    sink = StoreSink(lambda batches: [None] * len(batches), CollectorMetrics(), 1.0)
    names = {await sink.run(lambda: threading.current_thread().name) for _ in range(3)}
    assert len(names) == 1
    assert names != {threading.current_thread().name}
    sink.close()
