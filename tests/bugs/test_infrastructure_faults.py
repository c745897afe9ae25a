"""A program that vanished made 99 of 100 evaluations fail in four seconds, with exit code 0: the budget was burnt."""

import json
from pathlib import Path

import pytest

from pesmo import Choice, Float, RunError, Space, Study
from pesmo.errors import CannotStart, ProgramError
from pesmo.run.programs import Program
from tests.cli.conftest import Pesmo

SOLVER = """#!/bin/sh
echo called >> calls
[ "$(wc -l < calls)" -lt 3 ] || {break}
echo '{{"a": 1, "b": 2}}'
"""


@pytest.fixture
def solver(study_file: Path) -> Path:
    """The program of a study; what it does at its third call is filled in by a test."""
    text = study_file.read_text(encoding="utf-8").replace('["{python}", "-S", "both.py"]', '"./solver"')
    study_file.write_text(text, encoding="utf-8")
    path = study_file.with_name("solver")
    path.touch(mode=0o755)
    return path


def states(pesmo: Pesmo) -> list[str]:
    return [t["state"] for t in json.loads(pesmo("trials", "--json").stdout)]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("fault", "reason"),
    [("mv solver gone", "No such file or directory"), ("chmod -x solver", "Permission denied")],
)
def test_a_program_that_cannot_be_started_any_more_ends_the_run_and_burns_nothing(
    fault: str, reason: str, workers: int, pesmo: Pesmo, solver: Path
) -> None:
    solver.write_text(SOLVER.format(**{"break": fault}), encoding="utf-8")
    said = pesmo("run", "--evaluations", 100, "--workers", workers, code=1).stderr
    assert "error: cannot start './solver' in " in said
    assert reason in said
    found = states(pesmo)
    assert set(found) == {"complete", "abandoned"}
    assert len(found) <= 3 + 2 * workers
    fixed = '#!/bin/sh\necho \'{"a": 1, "b": 2}\'\n'
    solver.with_name("solver").write_text(fixed, encoding="utf-8")
    solver.chmod(0o755)
    pesmo("run", "--evaluations", 6, "--workers", workers)  # it goes on: what was given back is measured
    assert states(pesmo).count("complete") == 6
    assert "failed" not in states(pesmo)


def test_failures_in_a_row_end_the_run_with_what_the_program_said_last(pesmo: Pesmo, solver: Path) -> None:
    fault = "{ seq 40 >&2; echo 'no licence' >&2; exit 4; }"
    solver.write_text(SOLVER.format(**{"break": fault}), encoding="utf-8")
    said = pesmo("run", "--evaluations", 100, code=1).stderr
    assert "the last 10 trials failed, without a success between them" in said
    assert "exit code 4; its stderr ends with:" in said
    assert said.rstrip().endswith("40\nno licence")
    assert len(said.splitlines()) < 24  # one screen
    assert states(pesmo) == ["complete"] * 2 + ["failed"] * 10
    assert "the last 3 trials failed" in pesmo("run", "--evaluations", 100, "--max-failures", 3, code=1).stderr
    assert len(states(pesmo)) == 15
    assert "--max-failures" in pesmo("worker", "--max-failures", 0, code=2).stderr
    pesmo("run", "--evaluations", 20, "--max-failures", 21)  # there is a front, and nothing ends it before its limit
    assert len(states(pesmo)) == 20


def test_only_failures_in_a_row_count() -> None:
    study = Study(Space(x=Float(0, 1)), ["a"], seed=0, method="random")
    calls = []

    def every_third(inputs: dict) -> float:
        calls.append(inputs)
        if len(calls) % 3:
            raise ValueError("no")
        return inputs["x"]

    study.run({"evaluate": every_third}, evaluations=9, max_failures=3, progress=False)
    assert [t.state for t in study.trials] == ["failed", "failed", "complete"] * 3
    with pytest.raises(RunError, match="the last 2 trials failed"):
        study.run({"evaluate": every_third}, evaluations=20, max_failures=2, progress=False)
    assert len(study.trials) == 11


@pytest.mark.parametrize("workers", [1, 2])
def test_what_cannot_be_started_ends_a_run_in_python_too(workers: int) -> None:
    study = Study(Space(x=Float(0, 1)), ["a"], seed=0, method="random")
    with pytest.raises(RunError, match="cannot start './nothing here'.*Trial [12] is given back"):
        study.run({"evaluate": Program(("./nothing here",))}, evaluations=50, workers=workers, progress=False)
    assert {t.state for t in study.trials} == {"abandoned"}


def test_a_program_that_depends_on_the_point_fails_for_that_point_alone() -> None:
    space = Space(solver=Choice("true", "no such solver"))
    with pytest.raises(ProgramError, match="cannot start 'no such solver'") as found:
        Program(("{solver}",))({"solver": "no such solver"})
    assert not isinstance(found.value, CannotStart)
    study = Study(space, ["a"], seed=0, method="random")
    with pytest.raises(RunError, match="the last 4 trials failed"):
        study.run({"evaluate": Program(("{solver}",))}, evaluations=50, max_failures=4, progress=False)
    with pytest.raises(ProgramError) as found:
        Program(("echo", "{x}"))({"x": "long" * 1_000_000})
    assert not isinstance(found.value, CannotStart)
    assert "too long" in str(found.value)
