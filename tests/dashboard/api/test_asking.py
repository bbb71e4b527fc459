"""Blocking questions beside the event loop: bounded in number and in time."""

import asyncio
import threading

import pytest

from dashboard.api.asking import Store
from dashboard.api.problems import BusyError


async def test_an_answer_and_an_error_come_through() -> None:
    """The store's own answer, and its own error."""
    store = Store()
    assert await store.ask(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await store.ask(divmod, 1, 0)


async def test_a_question_that_takes_too_long_is_busy_and_keeps_its_place() -> None:
    """A hanging store costs as many threads as there are places, and recovers by itself."""
    store, go = Store(concurrency=1, time_limit_s=0.1), threading.Event()
    with pytest.raises(BusyError, match=r"0\.1 s"):
        await store.ask(go.wait, 10)
    with pytest.raises(BusyError):
        await store.ask(int)
    go.set()
    async with asyncio.timeout(5):
        while True:
            try:
                assert await store.ask(int) == 0
                break
            except BusyError:
                continue


async def test_too_many_questions_are_refused_at_once() -> None:
    """Waiting has a bound."""
    store, go = Store(concurrency=1, waiting=2), threading.Event()
    asked = [asyncio.create_task(store.ask(go.wait, 10)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(BusyError, match="too many"):
        await store.ask(int)
    go.set()
    assert await asyncio.gather(*asked) == [True, True]


async def test_questions_run_beside_each_other_up_to_the_limit() -> None:
    """Two places, three questions: two at once, never three."""
    store, running, most = Store(concurrency=2), [0], [0]
    both, lock = threading.Barrier(2), threading.Lock()

    def question(meet: bool) -> None:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        if meet:
            both.wait(5)
        with lock:
            running[0] -= 1

    await asyncio.gather(store.ask(question, True), store.ask(question, True), store.ask(question, False))
    assert most[0] == 2
