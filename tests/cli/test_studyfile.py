"""Good study files mean what they say; bad ones are refused on one screen, with exit code 2 and no traceback."""

import json
import tomllib
from pathlib import Path

import pytest

import pesmo as package
from pesmo.cli.locate import key_lines
from pesmo.cli.studyfile import read_study_file
from pesmo.methods.registry import METHODS
from tests.cli.conftest import Pesmo

BAD = sorted((Path(__file__).parent / "bad").glob("*.toml"))


def test_there_are_enough_bad_files() -> None:
    assert len(BAD) >= 20


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_bad_file_is_refused(path: Path, pesmo: Pesmo, tmp_path: Path) -> None:
    expected = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# expect: ")
    copy = tmp_path / "study.toml"
    copy.write_bytes(path.read_bytes())
    result = pesmo("run", "study.toml", code=2)
    assert expected in result.stderr
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.output
    assert len(result.stderr.splitlines()) <= 12
    assert sorted(p.name for p in tmp_path.iterdir()) == ["study.toml"]  # nothing was begun


@pytest.mark.parametrize("content", [b"\xff\xfe[study]", b"SQLite format 3\0"])
def test_a_file_that_is_no_text_is_refused(content: bytes, pesmo: Pesmo, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_bytes(content)
    assert "study.toml" in pesmo("run", "study.toml", code=2).stderr


def test_a_missing_file_names_the_way_out(pesmo: Pesmo) -> None:
    assert "there is no file nowhere.toml; `pesmo init` writes one" in pesmo("run", "nowhere.toml", code=2).stderr
    assert "there is no study.toml in this folder" in pesmo("status", code=2).stderr
    assert "cannot read folder.toml: Is a directory" in _folder(pesmo)


def _folder(pesmo: Pesmo) -> str:
    Path("folder.toml").mkdir()
    return pesmo("status", "folder.toml", code=2).stderr


def test_everything_a_file_may_say_arrives(tmp_path: Path) -> None:
    path = tmp_path / "lab.toml"
    path.write_text(
        """
study = { name = "all of it", method = "pesmo", seed = 3, storage = "other.db", budget = 12.5 }
inputs.lr = { type = "float", low = 1e-4, high = 1, log = true }
inputs."n layers" = { type = "int", low = 1, high = 3 }
inputs.c.type = "choice"
inputs.c.choices = ["a", 1, 2.5, true]
[objectives.error]
goal = "maximize"
transform = "logit"
inputs = ["lr"]
noise = 0.1
unit = "%"
[objectives.time]
[experiments.train]
command = "./train '{n layers}' --lr={lr}"
reveals = ["error"]
cost = 30
timeout = 60
[experiments.clock]
reveals = ["time"]
""",
        encoding="utf-8",
    )
    file = read_study_file(path)
    assert (file.name, file.method, file.seed, file.budget) == ("all of it", "pesmo", 3, 12.5)
    assert file.storage == str(tmp_path / "other.db")
    assert file.space == package.Space(
        {
            "lr": package.Float(1e-4, 1.0, log=True),
            "n layers": package.Int(1, 3),
            "c": package.Choice("a", 1, 2.5, True),
        }
    )
    error = package.Objective("error", "maximize", ("lr",), "logit", 0.1, "%")
    assert file.objectives == (error, package.Objective("time"))
    assert file.experiments[0] == package.Experiment("train", ("error",), 30.0)
    assert file.programs["train"].command == ("./train", "{n layers}", "--lr={lr}")
    assert file.programs["train"].timeout == 60.0
    assert file.programs["train"].directory == str(tmp_path)
    assert list(file.programs) == ["train"]


def test_defaults_are_the_files_own_name_and_place(tmp_path: Path) -> None:
    path = tmp_path / "cookies.toml"
    path.write_text('inputs.x = {type = "float", low = 0, high = 1}\n[objectives.y]\n', encoding="utf-8")
    file = read_study_file(path)
    assert (file.name, file.storage, file.method) == ("cookies", str(tmp_path / "cookies.db"), "pesmo")
    assert [(e.name, e.reveals) for e in file.experiments] == [("evaluate", ("y",))]


def test_lines_are_found_in_odd_layouts() -> None:
    source = (
        'a.b = 1\n"q.r" = 2\ntext = """\n[fake]\nfake = 1\n"""\n[t]\n  k = [\n  1,\n]\n[ t . "u v" ]\nx = {y = 1}\n'
    )
    lines = key_lines(source, tomllib.loads(source))
    assert lines == {
        ("a",): 1,
        ("a", "b"): 1,
        ("q.r",): 2,
        ("text",): 3,
        ("t",): 7,
        ("t", "k"): 8,
        ("t", "u v"): 11,
        ("t", "u v", "x"): 12,
    }


def test_the_schema_knows_every_setting(pesmo: Pesmo) -> None:
    schema = json.loads(pesmo("schema").stdout)
    assert set(schema["properties"]) == {"study", "inputs", "objectives", "experiments"}
    assert schema["$defs"]["StudyTable"]["properties"]["method"]["enum"] == sorted(METHODS)
    assert schema["$defs"]["FloatTable"]["required"] == ["type", "low", "high"]
