"""A json.py or enum.py in the working directory was executed by every worker: `python -c` looks there first."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import SCRIPT, STUDY

NAMES = ("json", "enum", "pickle", "queue", "logging", "cloudpickle", "site", "pesmo")
SPY = "open(__file__ + '.executed', 'w').close()\n"
RUN = """
from pesmo import Float, Space, Study
from measure import both

study = Study(Space(x=Float(0, 1)), ["a", "b"], seed=0, method="random")
study.run({"evaluate": both}, evaluations=3, workers=2, progress=False)
assert [t.state for t in study.trials] == ["complete"] * 3, study.trials
"""
NOTEBOOK = f"""
import {", ".join(NAMES)}
import sys
sys.path[0] = ""  # as in a notebook: the working directory comes first, but Python itself has started elsewhere
"""
MEASURE = "import json\ndef both(inputs):\n    return {'a': json.loads(json.dumps(inputs))['x'], 'b': 0.0}\n"


@pytest.fixture
def shadows(tmp_path: Path) -> Path:
    """A folder where the name of every module that a worker needs is taken."""
    folder = tmp_path / "working directory"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(SPY, encoding="utf-8")
    return folder


def call(folder: Path, *command: object) -> None:
    """Run a command there: it works, and nothing that lies there was executed."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert sorted(path.name for path in folder.glob("*.executed")) == []
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("start", [[Path(sys.executable).with_name("pesmo")], [sys.executable, "-m", "pesmo"]])
def test_the_command_line(start: list, shadows: Path) -> None:
    (shadows / "both.py").write_text(SCRIPT, encoding="utf-8")
    study = STUDY.replace('"-S"', '"-I", "-S"')  # a program is its author's: ours is isolated too
    (shadows / "study.toml").write_text(study, encoding="utf-8")
    if "-m" in start:  # Python itself looks for pesmo in the working directory: nobody else can help that
        (shadows / "pesmo.py").unlink()
    call(shadows, *start, "run", "--evaluations", 3, "--workers", 2)


def test_a_script_elsewhere_and_its_functions(shadows: Path, tmp_path: Path) -> None:
    (tmp_path / "measure.py").write_text(MEASURE, encoding="utf-8")
    (tmp_path / "script.py").write_text(RUN, encoding="utf-8")
    call(shadows, sys.executable, tmp_path / "script.py")


def test_a_notebook_and_functions_of_the_working_directory(shadows: Path, tmp_path: Path) -> None:
    (shadows / "measure.py").write_text(MEASURE, encoding="utf-8")
    (tmp_path / "notebook.py").write_text(NOTEBOOK + RUN, encoding="utf-8")
    call(shadows, sys.executable, tmp_path / "notebook.py")
