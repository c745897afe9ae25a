"""What the README and the five-minute start show does run."""

import re
from pathlib import Path

import pytest

from pesmo.cli.studyfile import read_study_file

ROOT = Path(__file__).parents[2]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/start.md"])
def test_the_python_of_a_page_runs_from_top_to_bottom(page: str, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = "\n".join(blocks(page, "python"))
    shown = code.replace("evaluations=30", "evaluations=11").replace(".show()", ".to_json()")
    assert shown != code
    names: dict[str, object] = {}
    exec(compile(shown, page, "exec"), names)
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "digits.db").exists()
    assert names["front"]


@pytest.mark.parametrize("page", ["README.md", "docs/study-file.md"])
def test_the_study_file_of_a_page_is_a_good_one(page: str, tmp_path) -> None:
    (tmp_path / "study.toml").write_text(blocks(page, "toml")[0], encoding="utf-8")
    assert read_study_file(tmp_path / "study.toml").evaluations == 60
