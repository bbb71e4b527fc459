"""The bounded queue of one viewer."""

from dashboard.live_viewer import Viewer


async def test_a_new_viewer_is_due_a_full_frame_first():
    """What was offered before it started is covered by the full frame, and not counted as dropped."""
    viewer = Viewer("p", None)
    assert viewer.offer(b"early")
    assert await viewer.take() is None
    assert viewer.offer(b"one")
    assert await viewer.take() == b"one"
    assert viewer.dropped == 0


async def test_a_slow_viewer_drops_to_a_full_frame():
    """The queue never grows beyond its limit, and everything lost is counted."""
    viewer = Viewer("p", None, limit=3)
    assert await viewer.take() is None
    taken = [viewer.offer(bytes([k])) for k in range(5)]
    assert taken == [True, True, True, False, False]
    assert viewer.dropped == 5
    assert await viewer.take() is None
    assert viewer.offer(b"next")
    assert await viewer.take() == b"next"


async def test_messages_keep_their_order():
    """Layout before frame, frame before frame."""
    viewer = Viewer("p", None)
    await viewer.take()
    for message in ("layout", b"full", b"delta"):
        viewer.offer(message)
    assert [await viewer.take() for _ in range(3)] == ["layout", b"full", b"delta"]


async def test_close_wakes_the_sender():
    """A hub that stops does not leave a connection waiting."""
    viewer = Viewer("p", None)
    await viewer.take()
    viewer.close()
    assert await viewer.take() is None
    assert viewer.closed
