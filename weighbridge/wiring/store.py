"""The store, from the settings; the one thing that all processes share."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from storage.claim import claimed
from storage.database import Database
from storage.errors import StorageError
from storage.migrate import require_current, upgrade
from weighbridge.errors import UsageError
from weighbridge.settings import Settings


def prepare_store(settings: Settings) -> None:
    """Make the data folder and bring the project's own SQLite file up to date.

    A store given by address is only checked: whoever runs it decides when it is upgraded. Raises UsageError.
    """
    if not settings.owns_store:
        with open_store(settings):
            return
    _make_folder(settings)
    with sole_collector(Database(settings.database_url)), _as_usage_error():
        upgrade(settings.database_url)


def migrate_store(settings: Settings) -> str:
    """Bring the store's schema up to date; a line that says what it is now. Raises UsageError."""
    if settings.owns_store:
        _make_folder(settings)
    with _as_usage_error():
        version = upgrade(settings.database_url)
    return f"the store {settings.database_url} has schema {version}"


@contextmanager
def open_store(settings: Settings) -> Iterator[Database]:
    """The store, its schema checked; closed at the end. Raises UsageError when it cannot be used."""
    with _as_usage_error():
        database = Database(settings.database_url, synchronous=settings.storage.synchronous)
    try:
        with _as_usage_error():
            require_current(database)
        yield database
    finally:
        database.dispose()


@contextmanager
def sole_collector(database: Database) -> Iterator[None]:
    """Inside the block no other collector writes the store. Raises UsageError when one does already."""
    with ExitStack() as stack:
        with _as_usage_error():
            stack.enter_context(claimed(database))
        yield


def _make_folder(settings: Settings) -> None:
    try:
        settings.data_dir.expanduser().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(
            f"the data folder {settings.data_dir} cannot be made: {reason}; choose another with --data-dir"
        ) from None


@contextmanager
def _as_usage_error() -> Iterator[None]:
    try:
        yield
    except StorageError as error:
        raise UsageError(str(error)) from error
