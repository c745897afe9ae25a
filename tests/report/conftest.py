"""Studies that several files look at, and none of them changes."""

import pytest

import pesmo
from pesmo.report.data import Snapshot
from tests.report.studies import laboratory


@pytest.fixture(scope="package")
def lab() -> pesmo.Study:
    return laboratory()


@pytest.fixture(scope="package")
def snapshot(lab: pesmo.Study) -> Snapshot:
    return Snapshot(lab)
