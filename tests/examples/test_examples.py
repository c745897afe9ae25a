"""The examples run, at small size."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name: str):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_beam(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    study = load("beam").main(budget=107.0)
    assert (tmp_path / "demo" / "front.png").exists()
    assert {t.experiment for t in study.trials} == {"weigh", "simulate"}


def test_cookie(tmp_path) -> None:
    study = load("cookie").main(budget=307.0, report=str(tmp_path / "cookie.html"))
    assert {t.experiment for t in study.trials} == {"count", "bake and taste"}
    assert "kcal/100 g" in (tmp_path / "cookie.html").read_text(encoding="utf-8")


def test_network() -> None:
    study = load("network").main(evaluations=12, report=None)
    assert len([t for t in study.trials if t.state == "complete"]) == 12


def test_lab_goes_on_from_its_file(tmp_path) -> None:
    lab = load("lab")
    lab.main(tmp_path / "lab.db", rounds=2, answer=lab.chemist)
    study = lab.main(tmp_path / "lab.db", rounds=1, answer=lambda trial: "x no time")
    assert [t.note for t in study.trials[:1]] == ["added"]
    assert len(study.trials) == 10
    assert [t.state for t in study.trials[-3:]] == ["failed"] * 3


def pesmo(*arguments: str, folder: Path) -> str:
    command = [sys.executable, "-m", "pesmo", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_truss_by_the_command_line(tmp_path) -> None:
    folder = tmp_path / "truss"
    shutil.copytree(EXAMPLES / "truss", folder, ignore=shutil.ignore_patterns("*.db*", "__pycache__"))
    pesmo("run", "--evaluations", "11", folder=folder)
    trials = json.loads(pesmo("trials", "--json", folder=folder))
    assert len(trials) == 11
    assert {t["state"] for t in trials} == {"complete"}
    pesmo("report", folder=folder)
    assert "roof truss" in (folder / "report.html").read_text(encoding="utf-8")
