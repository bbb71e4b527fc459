"""The schema: from nothing, there and back, and never by surprise."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect

import storage
from storage import tables
from storage.database import Database
from storage.errors import SchemaOutdatedError, StoreUnusableError
from storage.migrate import current, downgrade, head, require_current, upgrade


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'new.db'}"


def table_names(url):
    database = Database(url)
    with database.read() as connection:
        names = set(inspect(connection).get_table_names())
    database.dispose()
    return names - {"alembic_version"}


def test_a_missing_store_is_made(url):
    """From nothing to the newest schema, and once more without effect."""
    assert current(url) is None
    assert upgrade(url) == upgrade(url) == current(url) == head()
    assert table_names(url) == set(tables.metadata.tables)


def test_the_migrations_make_what_the_tables_say(url):
    """Alembic finds no difference between the migrated store and the tables."""
    upgrade(url)
    database = Database(url)
    with database.read() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        assert compare_metadata(context, tables.metadata) == []
    database.dispose()


def test_down_to_nothing_and_up_again(url):
    """Every step can be taken back, and the way up works again afterwards."""
    upgrade(url)
    downgrade(url, "base")
    assert current(url) is None
    assert table_names(url) == set()
    assert upgrade(url) == head()


def test_a_current_schema_is_accepted(database):
    """Nothing happens when nothing needs to."""
    require_current(database)


def test_a_missing_store_is_refused_with_the_command_that_helps(url):
    """A server on no store says how to make one, and makes none."""
    database = Database(url)
    with pytest.raises(SchemaOutdatedError) as caught:
        require_current(database)
    assert f"weighbridge migrate --database {url}" in str(caught.value)
    assert not database.path.exists()


def test_an_older_schema_is_refused_with_the_command_that_helps(url):
    """A server on an older store says which schema it found and which command helps."""
    upgrade(url)
    downgrade(url, "base")
    database = Database(url)
    with pytest.raises(SchemaOutdatedError, match="weighbridge migrate --database"):
        require_current(database)
    database.dispose()


def test_a_newer_schema_is_refused_and_left_alone(url):
    """A store of a newer version is neither used nor migrated."""
    upgrade(url)
    raw = sqlite3.connect(url.removeprefix("sqlite:///"))
    with raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
    raw.close()
    database = Database(url)
    with pytest.raises(SchemaOutdatedError, match="newer version"):
        require_current(database)
    with pytest.raises(StoreUnusableError, match="9999"):
        upgrade(url)
    database.dispose()


def test_a_folder_that_does_not_exist_is_told(tmp_path):
    """Migrating into a missing folder is one clear error."""
    with pytest.raises(StoreUnusableError, match="cannot be opened"):
        upgrade(f"sqlite:///{tmp_path / 'no' / 'where.db'}")


def test_a_file_that_is_no_database_is_told(tmp_path):
    """Migrating somebody's notes is refused and changes nothing."""
    path = tmp_path / "notes"
    path.write_text("notes " * 1000)
    with pytest.raises(StoreUnusableError, match="is not a database"):
        upgrade(f"sqlite:///{path}")
    assert path.read_text() == "notes " * 1000


def test_a_failed_migration_leaves_nothing(url, monkeypatch):
    """All steps are one transaction: an error in the middle leaves an empty store."""
    monkeypatch.setattr("alembic.op.bulk_insert", lambda *_: 1 / 0, raising=True)
    with pytest.raises(ZeroDivisionError):
        upgrade(url)
    monkeypatch.undo()
    assert table_names(url) == set()
    assert upgrade(url) == head()


def test_two_processes_may_migrate_at_once_from_any_folder(tmp_path, url):
    """Whoever comes second finds the work done; no alembic.ini and no particular folder is needed."""
    code = f"from storage.migrate import upgrade; print(upgrade({url!r}))"
    environment = os.environ | {"PYTHONPATH": str(Path(storage.__file__).parents[1])}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in started:
        out, err = process.communicate(timeout=100)
        assert (process.returncode, out.strip(), err) == (0, head(), "")
