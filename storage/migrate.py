"""Brings a store's schema up to date, and refuses to work on one that is not."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection

from storage.database import Database
from storage.errors import SchemaOutdatedError, StoreUnusableError

_PACKAGE = "migrations"


def head() -> str:
    """The newest schema version this program knows."""
    return str(ScriptDirectory.from_config(_config()).get_current_head())


def current(url: str) -> str | None:
    """The schema version of a store; None when it is missing or empty. Raises StorageError."""
    database = Database(url)
    try:
        return _version(database)
    finally:
        database.dispose()


def upgrade(url: str) -> str:
    """Make the store when it is missing and bring it to the newest schema; returns that version.

    One transaction holds the write lock for all steps, so two processes may call it at once. Raises
    StoreUnavailableError or StoreUnusableError, also for a store written by a newer program.
    """
    with _migrating(url) as config:
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise StoreUnusableError(
                f"the store {url} cannot be upgraded by this version: {error}"
            ) from error
    return head()


def downgrade(url: str, revision: str) -> None:
    """Take the schema back to ``revision`` ("base": no tables); data of newer columns is lost."""
    with _migrating(url) as config:
        command.downgrade(config, revision)


def require_current(database: Database) -> None:
    """Raise SchemaOutdatedError, naming the command that helps, unless the schema is the newest."""
    found, wanted = _version(database), head()
    if found == wanted:
        return
    help_ = f"run: weighbridge migrate --database {database.url}"
    if found is None:
        raise SchemaOutdatedError(f"there is no store at {database.url} yet; {help_}")
    if found not in _known():
        raise SchemaOutdatedError(
            f"the store at {database.url} has schema {found} of a newer version; this one knows {wanted}"
        )
    raise SchemaOutdatedError(
        f"the store at {database.url} has schema {found}, this version needs {wanted}; {help_}"
    )


def _known() -> set[str]:
    return {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}


def _version(database: Database) -> str | None:
    if not database.path.exists():
        return None
    with database.read() as connection:
        return MigrationContext.configure(connection).get_current_revision()


@contextmanager
def _migrating(url: str) -> Iterator[Config]:
    database = Database(url, create=True)
    try:
        with database.write() as connection:
            yield _config(connection)
    finally:
        database.dispose()


def _config(connection: Connection | None = None) -> Config:
    # Found by name, not imported: the store does not depend on its migrations, only their runner does.
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise StoreUnusableError("the migrations are not installed beside this program")
    config = Config()
    config.set_main_option("script_location", str(spec.submodule_search_locations[0]).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
