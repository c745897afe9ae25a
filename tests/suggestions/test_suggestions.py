"""Suggestions are those recorded: a commit that changes them changes recorded.json, and says so."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.suggestions.studies import CASES, PLAIN

ROOT = Path(__file__).parents[2]
RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text(encoding="utf-8"))
CLOSE = 1e-9


@pytest.fixture(scope="module")
def now() -> dict[str, Any]:
    """What this code suggests, in a process whose arithmetic is the same on all processors."""
    command = [sys.executable, "-m", "tests.suggestions.studies"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **PLAIN}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= CLOSE * max(1.0, abs(one))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return type(one) is type(other) and one == other


@pytest.mark.parametrize("name", CASES)
def test_the_first_trials_and_the_answer_are_those_recorded(now, name):
    for number, (trial, recorded) in enumerate(zip(now[name]["trials"], RECORDED[name]["trials"], strict=True), 1):
        assert same(trial, recorded), f"trial {number} of {name!r}: {trial}, recorded {recorded}"
    assert same(now[name], RECORDED[name])


def test_every_recorded_study_is_still_made():
    assert list(RECORDED) == list(CASES)
