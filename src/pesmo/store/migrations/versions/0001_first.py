"""The first schema: studies and their trials.

Written out, not taken from tables.py: a migration stays what it was when that file moves on.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "pesmo_studies",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("trials", sa.Integer, nullable=False),
        sa.Column("memory", sa.Text),
        sa.Column("settings", sa.Text),
    )
    op.create_table(
        "pesmo_trials",
        sa.Column("study", sa.Integer, sa.ForeignKey("pesmo_studies.id"), primary_key=True),
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("experiment", sa.Text, nullable=False),
        sa.Column("inputs", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("cost", sa.Double, nullable=False),
        sa.Column("gain", sa.Double),
        sa.Column("message", sa.Text),
        sa.Column("note", sa.Text),
        sa.Column("asked", sa.Double),
        sa.Column("finished", sa.Double),
        sa.Column("retry_of", sa.Integer),
        sa.Column("again", sa.Integer, nullable=False),
        sa.Column("lease", sa.Double),
        sa.Column("deadline", sa.Double),
        sa.Column("owner", sa.Text),
        sa.Column("token", sa.String(32), nullable=False),
    )
    op.create_index("pesmo_trials_revision", "pesmo_trials", ["study", "revision"])
    op.create_index("pesmo_trials_state", "pesmo_trials", ["study", "state"])
    op.create_index("pesmo_trials_token", "pesmo_trials", ["study", "token"])
