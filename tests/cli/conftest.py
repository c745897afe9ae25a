"""The command line, called in this process, in a folder of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pesmo.cli.app import app

Pesmo = Callable[..., Result]


@pytest.fixture
def pesmo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pesmo:
    """pesmo("run", "study.toml") -> exit code, stdout and stderr. A traceback, or another code, fails the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")

    def call(*words: object, code: int | None = 0, stdin: str | None = None) -> Result:
        result = CliRunner().invoke(app, [str(word) for word in words], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert code is None or result.exit_code == code, result.output
        return result

    return call


SCRIPT = """
import json, sys
inputs = json.load(sys.stdin)
print(json.dumps({"a": inputs["x"] ** 2, "b": (inputs["x"] - 1) ** 2}))
"""

STUDY = """
[study]
evaluations = 8
seed = 1
method = "random"

[inputs.x]
type = "float"
low = -1
high = 2

[inputs.kind]
type = "choice"
choices = ["good", "fine"]

[objectives.a]
[objectives.b]

[experiments.both]
command = ["{python}", "-S", "both.py"]
"""


@pytest.fixture
def study_file(tmp_path: Path) -> Path:
    """A study of two objectives that one small program measures."""
    (tmp_path / "both.py").write_text(SCRIPT, encoding="utf-8")
    path = tmp_path / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path
