"""What several rooms' tests share."""

import signal
from collections.abc import Iterator

import pytest

from tests.clock import Clock
from tests.postgres import Server

# A shell starts what it puts in the background with Ctrl-C ignored, and every child inherits that: tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server. One per xdist worker: a test may restart it without disturbing others."""
    server = Server()
    yield server
    server.remove()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Nothing that a test may have to sleep for."""
    return Clock(monkeypatch)
