"""Every store a test is run over."""

import uuid
from collections.abc import Iterator

import pytest

from pesmo.store import open_study
from pesmo.store.contract import Store


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def place(request, tmp_path) -> str | None:
    """What `storage` may be: None, a file, a URL."""
    if request.param == "postgresql":
        return request.getfixturevalue("postgres").new_database()
    return None if request.param == "memory" else str(tmp_path / "store.db")


@pytest.fixture
def store(place) -> Iterator[Store]:
    opened = open_study(place, f"study {uuid.uuid4()}", {"format": 1})
    yield opened
    opened.close()
