"""Run by Alembic: the migrations on the connection, and in the transaction, of store/schema.py."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"], version_table="pesmo_version", transactional_ddl=True
)
context.run_migrations()
