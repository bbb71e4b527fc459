"""Opens the store and hands out connections by intent: ``read()`` or ``write()``."""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from storage import sqlite
from storage.errors import StoreUnavailableError, StoreUnusableError


class _FairLock:
    """A lock that serves waiters in their order, so that retention's chunks cannot starve the intake."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._held = False

    def acquire(self) -> None:
        with self._guard:
            if not self._held:
                self._held = True
                return
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        turn.acquire()

    def release(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._held = False


class _NamedFile:
    """Tells when a path leads to another file than before, or to none.

    An open file lives on without its name: commits would go to where nobody will ever find them.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: tuple[int, int] | None = None
        self.times = 0

    def replaced(self) -> bool:
        """Whether the file of the last call is no longer there."""
        try:
            status = self._path.stat()
        except OSError:
            found = None
        else:
            found = (status.st_dev, status.st_ino)
        known, self._known = self._known, found
        if known in (None, found):
            return False
        self.times += 1
        return True


class Database:
    """One store, by its SQLAlchemy address; safe for threads, one per process.

    ``synchronous``: FULL (a commit survives a power loss) or NORMAL (it survives a crash of the process).
    ``busy_timeout_s``: seconds to wait for another process's write lock, above 0.
    ``create``: make the file when it is missing; only migrations want that.

    Nothing is opened before the first use. Raises StoreUnusableError for an address it cannot serve.
    """

    def __init__(
        self, url: str, *, synchronous: str = "FULL", busy_timeout_s: float = 5.0, create: bool = False
    ) -> None:
        mode = synchronous.upper()
        if mode not in sqlite.SYNCHRONOUS:
            raise ValueError(f"synchronous is FULL or NORMAL, not {synchronous!r}")
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise StoreUnusableError(
                f"not the address of a store: {url!r}; expected sqlite:///<path>"
            ) from None
        if parsed.get_backend_name() != "sqlite":
            raise StoreUnusableError(
                f"no store of the kind {parsed.get_backend_name()!r} is supported; expected sqlite:///<path>"
            )
        self.url = url
        self.path: Path = sqlite.path_of(parsed)
        self._lock = _FairLock()
        self._read_file, self._written_file = _NamedFile(self.path), _NamedFile(self.path)
        self._readers = sqlite.open_engine(
            self.path, synchronous=mode, busy_timeout_s=busy_timeout_s, writes=False, create=False
        )
        self._writer = sqlite.open_engine(
            self.path, synchronous=mode, busy_timeout_s=busy_timeout_s, writes=True, create=create
        )

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection on one consistent snapshot that cannot write.

        Raises StoreUnavailableError, StoreUnusableError or SchemaOutdatedError.
        """
        self.readers_file()
        with self._translated(), self._readers.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A connection in a transaction that holds the write lock; commits at the end, or nothing at all.

        Waits for its turn in this process, then for other processes up to the busy time-out. Raises
        StoreUnavailableError, StoreUnusableError or SchemaOutdatedError.
        """
        self._lock.acquire()
        try:
            self._check_written_file()
            with self._translated(), self._writer.begin() as connection:
                yield connection
        finally:
            self._lock.release()

    @contextmanager
    def exclusive(self) -> Iterator[Connection]:
        """The writing connection outside any transaction, for work on the files themselves."""
        self._lock.acquire()
        try:
            self._check_written_file()
            with self._translated(), self._writer.connect() as plain:
                yield plain.execution_options(isolation_level="AUTOCOMMIT")
        finally:
            self._lock.release()

    def watch(self) -> Connection:
        """A reading connection without a transaction, which the caller keeps and closes."""
        self.readers_file()
        with self._translated():
            return self._readers.connect().execution_options(isolation_level="AUTOCOMMIT")

    def file_bytes(self) -> int:
        """Bytes the store takes on disk, its log included."""
        return sqlite.file_bytes(self.path)

    def dispose(self) -> None:
        """Close every idle connection; the object stays usable."""
        self._readers.dispose()
        self._writer.dispose()

    def readers_file(self) -> int:
        """How often the file was removed or replaced under the readers; then they open it anew."""
        if self._read_file.replaced():
            self._readers.dispose()
        return self._read_file.times

    def _check_written_file(self) -> None:
        if self._written_file.replaced():
            self._writer.dispose()
            raise StoreUnavailableError(f"the store {self.path} was removed or replaced; opening it anew")

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn the driver's errors inside the block into the store's."""
        with self._translated():
            yield

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except PoolTimeoutError as error:
            raise StoreUnavailableError(f"all connections to the store {self.path} are in use") from error
        except sqlite.ERRORS as error:
            known = sqlite.translate(error, self.path)
            if known is None:
                raise
            raise known from error
