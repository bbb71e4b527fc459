"""Opening a store: access by intent, and errors in the store's own words."""

import shutil
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import URL
from sqlalchemy.exc import OperationalError

from storage.database import Database
from storage.errors import SchemaOutdatedError, StoreUnavailableError, StoreUnusableError
from storage.records import DecisionQuery


def pragma(connection, name):
    return connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()


def test_a_store_is_opened_durable_and_shared(database):
    """Write-ahead log, full synchronisation, temporary data in memory, pages that can be given back."""
    with database.write() as connection:
        found = {
            name: pragma(connection, name)
            for name in ("journal_mode", "synchronous", "temp_store", "auto_vacuum")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "temp_store": 2, "auto_vacuum": 2}


def test_less_durable_commits_have_to_be_asked_for(database):
    """NORMAL is possible, anything else is refused."""
    other = Database(database.url, synchronous="normal")
    with other.write() as connection:
        assert pragma(connection, "synchronous") == 1
    other.dispose()
    with pytest.raises(ValueError, match="FULL or NORMAL"):
        Database(database.url, synchronous="OFF")


def test_a_reader_cannot_write(database):
    """Reading connections refuse to change anything."""
    with pytest.raises(StoreUnusableError, match="cannot be written"), database.read() as connection:
        connection.exec_driver_sql("DELETE FROM span")


def test_a_write_that_fails_changes_nothing(database):
    """An exception inside the block takes everything back."""

    def fail():
        with database.write() as connection:
            connection.exec_driver_sql("UPDATE counter SET value = 7")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT max(value) FROM counter").scalar_one() == 0


def test_a_reader_keeps_its_snapshot_while_another_writes(database):
    """What a read saw first it sees to its end."""
    with database.read() as reading:
        query = "SELECT max(value) FROM counter"
        assert reading.exec_driver_sql(query).scalar_one() == 0
        with database.write() as connection:
            connection.exec_driver_sql("UPDATE counter SET value = 7")
        assert reading.exec_driver_sql(query).scalar_one() == 0
    with database.read() as reading:
        assert reading.exec_driver_sql(query).scalar_one() == 7


def test_writers_of_one_process_take_turns(database):
    """Threads that add to a number at once lose no addition."""

    def add(_):
        with database.write() as connection:
            value = connection.exec_driver_sql("SELECT value FROM counter WHERE name = 'span'").scalar_one()
            connection.exec_driver_sql("UPDATE counter SET value = ? WHERE name = 'span'", (value + 1,))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(80)))
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT value FROM counter WHERE name = 'span'").scalar_one() == 80


def test_waiting_writers_are_served_in_their_order(database):
    """A thread that writes again and again cannot starve one that waits."""
    lock, order = database._lock, []
    lock.acquire()
    threads = []
    for number in range(4):
        queued = len(lock._waiting)
        thread = threading.Thread(target=lambda n=number: (lock.acquire(), order.append(n), lock.release()))
        thread.start()
        threads.append(thread)
        while len(lock._waiting) == queued:
            pass
    lock.release()
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3]


def test_a_store_locked_by_another_process_is_unavailable(database):
    """Beyond the busy time-out the caller is told to come back later."""
    other = sqlite3.connect(database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    hasty = Database(database.url, busy_timeout_s=0.01)
    with pytest.raises(StoreUnavailableError, match="cannot answer now"), hasty.write():
        pass
    other.execute("ROLLBACK")
    other.close()
    with hasty.write():
        pass
    hasty.dispose()


def test_a_full_disk_is_unavailable(database):
    """A database that may not grow answers as a full disk does, and keeps what it had."""

    def fill():
        with database.write() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 1")
            for i in range(200):
                connection.exec_driver_sql("INSERT INTO decision_detail VALUES (?, ?)", (i, b"x" * 4000))

    with pytest.raises(StoreUnavailableError, match="full"):
        fill()
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM decision_detail").scalar_one() == 0


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///:memory:", "nonsense", "postgresql://h/d", "mongo://h", ""]
)
def test_an_address_that_is_no_store_is_refused_at_once(url):
    """Only a file that several processes can open will do."""
    with pytest.raises(StoreUnusableError):
        Database(url)


def test_a_file_that_is_no_database_is_unusable(tmp_path):
    """Bytes that are no database are left alone and named."""
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, not pages " * 200)
    database = Database(f"sqlite:///{path}")
    for intent in (database.read, database.write):
        with pytest.raises(StoreUnusableError, match="is not a database"), intent() as connection:
            connection.exec_driver_sql("SELECT * FROM span")
    assert path.read_text().startswith("these are notes")


def test_a_missing_file_is_unusable_and_not_made(tmp_path):
    """Opening never makes an empty store by the way."""
    database = Database(f"sqlite:///{tmp_path / 'missing.db'}")
    for intent in (database.read, database.write):
        with pytest.raises(StoreUnusableError, match="cannot be opened"), intent():
            pass
    assert not list(tmp_path.iterdir())


def test_another_schema_is_named_with_the_command_that_helps(database):
    """A table that is missing later on is a matter of the schema, not a mystery."""
    with database.write() as connection:
        connection.exec_driver_sql("DROP TABLE outcome")
    with (
        pytest.raises(SchemaOutdatedError, match="weighbridge migrate --database"),
        database.read() as connection,
    ):
        connection.exec_driver_sql("SELECT * FROM outcome")


def test_a_mistake_in_this_program_stays_what_it_is(database):
    """Wrong SQL is not dressed up as trouble with the store."""
    with pytest.raises(OperationalError), database.read() as connection:
        connection.exec_driver_sql("SELEKT 1")


def test_a_database_can_be_used_again_after_it_was_disposed(database):
    """Disposing closes connections, it does not end the object."""
    database.dispose()
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar_one() == 1


def test_odd_characters_in_the_path_are_no_obstacle(tmp_path, empty_store):
    """Spaces, percent signs, question marks and hashes may be in a folder's name."""
    path = tmp_path / "a b%20?#.db"
    path.write_bytes(empty_store.read_bytes())
    database = Database(URL.create("sqlite", database=str(path)).render_as_string())
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM span").scalar_one() == 0
    database.dispose()


def test_nothing_is_committed_to_a_file_that_was_removed(database, writer, reader, kit):
    """An open file lives on without its name, and what is written there is lost without a word."""
    writer.write([kit.batch_of([kit.Said(1)])])
    assert reader.data_version() > 0
    database.path.unlink()
    with pytest.raises(StoreUnavailableError, match="removed or replaced"):
        writer.write([kit.batch_of([kit.Said(2)])])
    for _ in range(2):
        with pytest.raises(StoreUnusableError):
            writer.write([kit.batch_of([kit.Said(2)])])
        with pytest.raises(StoreUnusableError):
            reader.health()
        with pytest.raises(StoreUnusableError):
            reader.data_version()


def test_a_file_put_in_place_of_another_is_taken_up(database, writer, reader, kit, empty_store):
    """Such as one restored from a copy: no restart, and no name remembered from the file before."""
    writer.write([kit.batch_of([kit.Said(1, service="a", node="n")])])
    assert reader.data_version() > 0
    for file in database.path.parent.glob(f"{database.path.name}*"):
        file.unlink()
    shutil.copy(empty_store, database.path)
    assert reader.health().store.spans == 0
    again = kit.batch_of([kit.Said(2, service="a", node="n")])
    with pytest.raises(StoreUnavailableError):
        writer.write([again])
    version = reader.data_version()
    writer.write([again])
    assert reader.data_version() != version
    assert [(row.service, row.node) for row in reader.decisions(DecisionQuery()).items] == [("a", "n")]
