"""What several rooms' tests share."""

from collections.abc import Iterator

import pytest

from tests.postgres import Server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server. One per xdist worker: a test may restart it without disturbing others."""
    server = Server()
    yield server
    server.remove()
