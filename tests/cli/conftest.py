"""The command line, called in this process, in a folder of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.calling import Ended, call

Pesmo = Callable[..., Ended]


@pytest.fixture
def pesmo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pesmo:
    """pesmo("run", "study.toml") -> exit code, stdout, stderr. A fault that nobody expected, or another code, fails."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")

    def pesmo(*words: object, code: int | None = 0, stdin: str = "") -> Ended:
        result = call([str(word) for word in words], stdin)
        assert "pesmo met what it did not expect" not in result.stderr, result.stderr
        assert code is None or result.exit_code == code, result.output
        return result

    return pesmo


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
