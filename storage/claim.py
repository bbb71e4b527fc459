"""One collector for each store: a claim that lasts as long as its process, however that one ends.

Two collectors on one store would each watch the weights and each send every alert. The claim is a lock on
a file beside the store, not on the store itself: closing a second handle on a SQLite file gives up the
locks that SQLite holds on it.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from storage.database import Database
from storage.errors import StoreUnusableError

PATIENCE_S = 10.0
"""As long as an earlier collector may take to end in order."""

_ASK_EVERY_S = 0.1


@contextmanager
def claimed(database: Database, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Hold the store's claim inside the block, waiting up to ``patience_s`` for another process.

    Raises StoreUnusableError when another process keeps it, or when its file cannot be written.
    """
    path = database.path.with_name(database.path.name + "-claim")
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreUnusableError(f"the store {database.path} cannot be claimed: {error.strerror}") from error
    try:
        deadline = time.monotonic() + patience_s
        while not _locked(handle):
            if time.monotonic() >= deadline:
                raise StoreUnusableError(
                    f"another collector{_named(handle)} writes the store {database.path}; end it, or choose "
                    "another store with --data-dir"
                )
            time.sleep(_ASK_EVERY_S)
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _named(handle: int) -> str:
    """The process that holds the claim, as it wrote it down."""
    told = os.pread(handle, 20, 0)
    return f" (process {int(told)})" if told.isdigit() else ""
