"""Following decisions: each once, also when ids are committed out of order."""

from storage.tail import Tail


def spans(rows):
    return [int(row.span_id, 16) for row in rows]


def test_only_what_comes_later_is_shown(kit, writer, database):
    """A tail begins at the newest decision, then shows each new one once."""
    writer.write([kit.batch_of([kit.Said(span=1, node="a")])])
    tail = Tail(database)
    assert tail.poll() == ()
    writer.write([kit.batch_of([kit.Said(span=2, node="a"), kit.Said(span=3), kit.Said(span=4, node="a")])])
    assert spans(tail.poll()) == [2, 4]
    assert tail.poll() == ()


def test_everything_is_shown_from_the_beginning_in_portions(kit, writer, database):
    """Cursor 0 stands for all that is kept; a limit cuts it into looks."""
    writer.write([kit.batch_of([kit.Said(span=i, node="a") for i in range(1, 8)])])
    tail = Tail(database, cursor=0)
    assert [spans(tail.poll(limit=3)) for _ in range(4)] == [[1, 2, 3], [4, 5, 6], [7], []]


def test_a_tail_goes_on_where_another_stood(kit, writer, database):
    """The cursor is all a restarted process needs."""
    writer.write([kit.batch_of([kit.Said(span=1, node="a")])])
    first = Tail(database, cursor=0)
    first.poll()
    writer.write([kit.batch_of([kit.Said(span=2, node="a")])])
    assert spans(Tail(database, cursor=first.cursor).poll()) == [2]


def test_an_id_committed_late_is_not_missed(kit, writer, database):
    """A smaller id that appears after a larger one is within the window and shown, once."""
    writer.write([kit.batch_of([kit.Said(span=i, node="a") for i in range(1, 4)])])
    with database.write() as connection:
        held = connection.exec_driver_sql("SELECT * FROM decision WHERE id = 2").one()
        connection.exec_driver_sql("DELETE FROM decision WHERE id = 2")
    tail = Tail(database, cursor=0)
    assert spans(tail.poll()) == [1, 3]
    with database.write() as connection:
        connection.exec_driver_sql(f"INSERT INTO decision VALUES ({', '.join('?' * len(held))})", tuple(held))
    assert spans(tail.poll()) == [2]
    assert tail.poll() == ()


def test_what_is_remembered_is_bounded(kit, writer, database):
    """A tail that runs for long keeps only its window."""
    tail = Tail(database, cursor=0, overlap=10)
    for start in range(1, 100, 20):
        writer.write([kit.batch_of([kit.Said(span=i, node="a") for i in range(start, start + 20)])])
        assert len(tail.poll()) == 20
    assert len(tail._shown) <= 10
