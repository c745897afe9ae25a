"""Dask and Ray, on a real cluster each, started by the test."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(("kind", "crash"), [("dask", "KilledWorker"), ("ray", "WorkerCrashed")])
def test_a_cluster_evaluates_and_its_crashes_are_failed_trials(kind: str, crash: str, tmp_path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.run.clusters", kind, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"},
    )
    assert done.returncode == 0, done.stderr
    trials = json.loads(done.stdout.splitlines()[-1])
    messages = [message for state, message in trials if state == "failed"]
    assert len(trials) == 8
    assert [state for state, _ in trials].count("complete") == 8 - len(messages)
    assert len(messages) <= 4  # with a Dask worker, tasks that wait on it fail too
    assert any(message == "ValueError: it diverged" for message in messages), messages
    assert any(crash in message for message in messages), messages
