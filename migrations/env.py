"""Runs migrations on the connection that ``storage.migrate`` hands over; there is no alembic.ini."""

from alembic import context

from storage.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite changes most columns only by copying the table.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
