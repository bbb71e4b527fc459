"""What is particular to SQLite: opening it, its pragmas, its errors, its files. Nothing else names it.

WAL lets other processes read while one writes. ``synchronous=FULL`` syncs the log at every commit, so an
answered span survives a power loss; NORMAL syncs at checkpoints only. ``auto_vacuum=INCREMENTAL`` has to
be set before the first table exists and lets retention give pages back without rewriting the file.
"""

import sqlite3
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from storage.errors import SchemaOutdatedError, StorageError, StoreUnavailableError, StoreUnusableError

SYNCHRONOUS = ("FULL", "NORMAL")
CHECKPOINT_PAGES = 2_000
LOG_LIMIT_BYTES = 8 * 2**20
READER_CONNECTIONS = 40

_TRANSIENT = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
}
ERRORS = (DBAPIError, sqlite3.Error)
"""What ``translate`` takes: the driver's errors, wrapped by SQLAlchemy or not."""

_LASTING = {
    sqlite3.SQLITE_CANTOPEN: "cannot be opened",
    sqlite3.SQLITE_NOTADB: "is not a database",
    sqlite3.SQLITE_CORRUPT: "is damaged",
    sqlite3.SQLITE_READONLY: "cannot be written",
    sqlite3.SQLITE_PERM: "cannot be accessed",
    sqlite3.SQLITE_AUTH: "cannot be accessed",
}


def path_of(url: URL) -> Path:
    """The database file an address names. Raises StoreUnusableError when it names none."""
    if url.database in (None, "", ":memory:"):
        raise StoreUnusableError("the store needs a file that several processes can open: sqlite:///<path>")
    return Path(str(url.database)).expanduser().absolute()


def open_engine(path: Path, *, synchronous: str, busy_timeout_s: float, writes: bool, create: bool) -> Engine:
    """An engine on the file; with ``writes`` one connection whose transactions take the lock at once."""
    address = f"file:{quote(str(path))}?mode={'rwc' if create else 'rw'}"

    def connect() -> sqlite3.Connection:
        # The driver must not open transactions by itself: BEGIN is ours, so that intent decides its kind.
        raw = sqlite3.connect(
            address, uri=True, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False
        )
        try:
            _prepare(raw, synchronous, writes=writes)
        except BaseException:
            raw.close()
            raise
        return raw

    size = 1 if writes else READER_CONNECTIONS
    engine = create_engine(
        "sqlite://",
        creator=connect,
        poolclass=QueuePool,
        pool_size=size,
        max_overflow=0,
        pool_timeout=busy_timeout_s,
    )
    begin = "BEGIN IMMEDIATE" if writes else "BEGIN"

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if connection.get_execution_options().get("isolation_level") != "AUTOCOMMIT":
            connection.exec_driver_sql(begin)

    return engine


def _prepare(raw: sqlite3.Connection, synchronous: str, *, writes: bool) -> None:
    if writes:
        raw.execute("PRAGMA auto_vacuum = INCREMENTAL")
        raw.execute("PRAGMA journal_mode = WAL")
        raw.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        raw.execute(f"PRAGMA journal_size_limit = {LOG_LIMIT_BYTES}")
        raw.execute("PRAGMA secure_delete = OFF")  # deleted pages go back to the system anyway
        raw.execute("PRAGMA cache_size = -32768")
    else:
        raw.execute("PRAGMA query_only = ON")
        raw.execute("PRAGMA cache_size = -8192")
    raw.execute(f"PRAGMA synchronous = {synchronous}")
    raw.execute("PRAGMA temp_store = MEMORY")


def translate(error: DBAPIError | sqlite3.Error, path: Path) -> StorageError | None:
    """The store's error for a driver's error, or None for one that is a mistake in this program."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(cause, sqlite3.Error):
        return None
    code = getattr(cause, "sqlite_errorcode", None)
    if code is None:
        return None
    primary = code & 0xFF
    if primary in _TRANSIENT:
        return StoreUnavailableError(f"the store {path} cannot answer now: {cause}")
    if primary in _LASTING:
        return StoreUnusableError(f"the store {path} {_LASTING[primary]}: {cause}")
    if primary == sqlite3.SQLITE_ERROR and str(cause).startswith(("no such table", "no such column")):
        return SchemaOutdatedError(
            f"the store {path} has another schema ({cause}); run: weighbridge migrate --database sqlite:///{path}"
        )
    return None


def data_version(connection: Connection) -> int:
    """A number that changes on this connection whenever another one commits."""
    return int(connection.exec_driver_sql("PRAGMA data_version").scalar_one())


def file_bytes(path: Path) -> int:
    """Bytes on disk: the database, its log and the log's index."""
    total = 0
    for name in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        try:
            total += name.stat().st_size
        except FileNotFoundError:
            continue
    return total


def used_bytes(connection: Connection) -> int:
    """Bytes of the pages in use, free pages left out."""
    pages, free, size = (
        int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def free_pages(connection: Connection) -> int:
    """Pages that hold nothing and could be given back."""
    return int(connection.exec_driver_sql("PRAGMA freelist_count").scalar_one())


def fold_log(connection: Connection, wait_ms: int) -> None:
    """Copy the log into the database and empty it, unless a reader still needs it after ``wait_ms``.

    ``connection`` must not be in a transaction. Pages that readers do not need are copied in any case.
    """
    usual = int(connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one())
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {int(wait_ms)}")
    try:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {usual}")


def give_back(connection: Connection, pages: int) -> None:
    """Cut up to ``pages`` free pages off the end; ``connection`` must not be in a transaction."""
    # Each page is a step of a statement without columns; only a script is run to its end by the driver.
    raw = connection.connection.driver_connection
    if isinstance(raw, sqlite3.Connection):
        raw.executescript(f"PRAGMA incremental_vacuum({int(pages)})")
