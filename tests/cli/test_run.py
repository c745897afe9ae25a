"""pesmo init, run, worker, status, front: from a new file to the front, through failures and sudden ends."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pesmo.cli.opening import target
from tests.cli.conftest import Pesmo
from tests.postgres import Server
from tests.waiting import gone, until


def trials(pesmo: Pesmo, *words: object) -> list[dict]:
    return json.loads(pesmo("trials", "--json", *words).stdout)


@pytest.mark.parametrize("kind", ["--coupled", "--decoupled"])
def test_what_init_writes_runs_as_it_is(kind: str, pesmo: Pesmo) -> None:
    assert pesmo("init", kind).stdout == "wrote study.toml and beam.py; now: pesmo run study.toml\n"
    said = pesmo("run", "study.toml", "--evaluations", 7).stdout
    assert "7/7  trial 7 " in said
    assert "Recommended trade-offs" in said
    assert "More: pesmo front study.toml" in said
    assert {t["state"] for t in trials(pesmo)} == {"complete"}
    assert "study.toml exists already" in pesmo("init", code=2).stderr
    pesmo("init", "other.toml")  # beside the same beam.py
    Path("beam.py").write_text("mine", encoding="utf-8")
    assert "beam.py exists already and is left as it is" in pesmo("init", "third.toml", code=2).stderr
    assert Path("beam.py").read_text(encoding="utf-8") == "mine"


def test_run_goes_on_to_a_larger_limit(pesmo: Pesmo, study_file: Path) -> None:
    pesmo("run", "--evaluations", 2, "--quiet")
    assert len(trials(pesmo)) == 2
    pesmo("run", "-q")  # the file's own limit
    assert len(trials(pesmo)) == 8
    assert "Done already: 8 of 8. To go on, give a larger --evaluations." in pesmo("run").stdout
    pesmo("run", "study.toml", "--budget", 9.0, "--workers", 2)
    assert len(trials(pesmo)) == 9
    assert all(t["values"] == {"a": t["inputs"]["x"] ** 2, "b": (t["inputs"]["x"] - 1) ** 2} for t in trials(pesmo))
    status = json.loads(pesmo("status", "--json").stdout)
    assert (status["complete"], status["failed"], status["budget"], status["done"]) == (9, 0, 9.0, 9.0)
    assert 1 <= status["measured_front"] <= status["points"] == 9
    assert 0 < status["measured_hypervolume"] <= 1
    assert status["experiments"][0]["cost"] == 9.0
    ran = json.loads(pesmo("run", "--budget", 9.0, "--json").stdout)
    assert ran.pop("front") > 1
    assert 0 < ran.pop("hypervolume") <= 1
    assert ran == status
    shown = pesmo("status", "study.db").stdout
    assert "9 complete, 0 running, 0 failed; cost 9" in shown
    assert "9 of 9 cost" in shown


def test_front_as_table_csv_and_json(pesmo: Pesmo, study_file: Path) -> None:
    pesmo("run", "--evaluations", 6, "-q")
    assert "Recommended trade-offs (5 points)" in pesmo("front", "--size", 5).stdout
    lines = pesmo("front", "--size", 5, "--csv").stdout.splitlines()
    assert lines[0] == "x,kind,a,a sd,b,b sd,probability"
    points = json.loads(pesmo("front", "--size", 5, "--json").stdout)
    assert len(points) == len(lines) - 1 == 5
    assert set(points[0]) == {"inputs", "objectives", "sd", "probability"}
    assert "give --json or --csv, not both" in pesmo("front", "--json", "--csv", code=2).stderr
    assert "both" in pesmo("trials").stdout


def test_failures_fewer_in_a_row_than_allowed_never_end_a_run(pesmo: Pesmo, study_file: Path) -> None:
    text = study_file.read_text(encoding="utf-8")
    study_file.write_text(
        text.replace('"good", "fine"', '"bad", "bad "').replace("evaluations = 8", "evaluations = 14")
    )
    script = study_file.with_name("both.py")
    script.write_text("import sys; print('[bold]so[/bold] it [/goes]', file=sys.stderr); sys.exit(7)", encoding="utf-8")
    result = pesmo("run", "--max-failures", 15, code=1)
    assert "14/14  trial 14 both: failed: " in result.stdout
    assert "no front: not every objective has a value. The last failure, trial 14: " in result.stderr
    assert [t["state"] for t in trials(pesmo)] == ["failed"] * 14
    assert "exit code 7; its stderr ends with:\n[bold]so[/bold] it [/goes]" in trials(pesmo)[0]["message"]
    assert "[bold]so[/bold] it [/goes]" in pesmo("trials").stdout
    assert "[bold]so[/bold] it [/goes]" in pesmo("status").stdout
    assert "cannot recommend yet" in pesmo("front", code=2).stderr


def test_values_reach_the_program_as_data(pesmo: Pesmo, tmp_path: Path) -> None:
    nasty = ["$(rm -rf x)", "; ls", 'it\'s "quoted"', "two\nlines", "{x}", "[/red]"]
    (tmp_path / "x").mkdir()
    (tmp_path / "echo.py").write_text(
        "import json, os, sys\n"
        "seen = [sys.argv[1], os.environ['PESMO_C'], json.load(sys.stdin)['c']]\n"
        "open('seen.jsonl', 'a').write(json.dumps(seen) + '\\n')\n"
        "print(json.dumps({'a': len(sys.argv), 'b': 1.0}))\n",
        encoding="utf-8",
    )
    (tmp_path / "study.toml").write_text(
        "study = {evaluations = 6, method = 'sobol'}\n"
        f"inputs.c = {{type = 'choice', choices = {json.dumps(nasty)}}}\n"
        "[objectives.a]\n[objectives.b]\n[experiments.e]\ncommand = '{python} -S echo.py {c}'\n",
        encoding="utf-8",
    )
    pesmo("run", "-q")
    seen = [json.loads(line) for line in (tmp_path / "seen.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sorted(seen) == sorted([value] * 3 for value in nasty)
    assert [t["values"]["a"] for t in trials(pesmo)] == [2.0] * 6
    assert (tmp_path / "x").is_dir()
    pesmo("trials")
    pesmo("status")


def test_a_worker_takes_commands_and_limit_from_the_storage(pesmo: Pesmo, study_file: Path) -> None:
    pesmo("ask")
    said = pesmo("worker", "--storage", "study.db", "--study", "study", "--evaluations", 3, code=2).stderr
    assert "no command is known for the experiment 'both'" in said
    pesmo("tell", 1, "a=1", "b=1")
    pesmo("run", "--evaluations", 3, "-q")
    study_file.unlink()
    pesmo("worker", "--storage", "study.db", "--study", "study", "--evaluations", 5, "--workers", 2)
    assert len(trials(pesmo, "study.db")) == 5
    assert "Done already: 5 of 3" in pesmo("worker", "study.db").stdout
    assert "Done already: 5 of 3" in pesmo("run", "--storage", "study.db").stdout


def test_a_worker_elsewhere_needs_the_storage_and_the_programs_alone(
    pesmo: Pesmo, study_file: Path, postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.new_database()
    text = study_file.read_text(encoding="utf-8").replace("[study]", f'[study]\nname = "far away"\nstorage = "{url}"')
    study_file.write_text(text, encoding="utf-8")
    pesmo("run", "--evaluations", 2, "-q")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    study_file.with_name("both.py").rename(elsewhere / "both.py")
    study_file.unlink()
    monkeypatch.chdir(elsewhere)
    said = pesmo("worker", "--storage", url, "--study", "far away", "--evaluations", 5, "--workers", 2).stdout
    assert "5/5  trial" in said
    status = json.loads(pesmo("status", url, "--json").stdout)
    assert (status["name"], status["complete"], status["failed"]) == ("far away", 5, 0)
    assert sorted(path.name for path in elsewhere.iterdir()) == ["both.py"]


def test_a_password_is_not_repeated() -> None:
    said = target("postgresql://me:secret@host/base", None, "a study").said
    assert said == "'postgresql://me:***@host/base' --study 'a study'"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--evaluations", "3", "--budget", "4"], "give --evaluations or --budget, not both"),
        (["--budget", "-4"], "Invalid value for '--budget': it must be a finite number > 0, not -4"),
        (["--workers", "0"], "Invalid value for '--workers'"),
        (["study.toml", "other.toml"], "unexpected extra argument"),
    ],
)
def test_wrong_options_are_refused(words: list[str], message: str, pesmo: Pesmo, study_file: Path) -> None:
    assert message in pesmo("run", *words, code=2).stderr


GATE = """
import os, sys, time
open(f"{os.getpid()}.call", "w").close()
deadline = time.monotonic() + 240
while sum(name.endswith(".call") for name in os.listdir()) > 4 and not os.path.exists("go"):
    time.sleep(0.05)
    assert time.monotonic() < deadline
"""


def test_a_killed_run_loses_nothing(pesmo: Pesmo, study_file: Path, tmp_path: Path) -> None:
    script = study_file.with_name("both.py")
    script.write_text(GATE + script.read_text(encoding="utf-8"), encoding="utf-8")  # a few calls, then it waits
    command = [sys.executable, "-m", "pesmo", "run", "study.toml", "--workers", "2"]
    with (tmp_path / "log").open("w+") as log:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + 120
            while len(list(tmp_path.glob("*.call"))) < 5:
                assert time.monotonic() < deadline
                assert process.poll() is None, (tmp_path / "log").read_text()
                pesmo("status", "--json", code=None)  # watched meanwhile; exit code 2 until the run has begun
            watched = json.loads(pesmo("status", "--json").stdout)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(120)
    before = [t for t in trials(pesmo) if t["state"] == "complete"]
    assert 2 <= watched["complete"] <= len(before) <= 4
    (tmp_path / "go").touch()
    pesmo("run", "study.toml", "--workers", "2")
    after = {t["id"]: t for t in trials(pesmo)}
    assert all(after[t["id"]] == t for t in before)
    complete = [t for t in after.values() if t["state"] == "complete"]
    assert len(complete) == 8
    assert {t["state"] for t in after.values()} <= {"complete", "abandoned"}
    assert all(t["values"]["a"] == t["inputs"]["x"] ** 2 for t in complete)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_ends_its_programs_and_goes_on(
    number: signal.Signals, pesmo: Pesmo, study_file: Path, tmp_path: Path
) -> None:
    script = study_file.with_name("both.py")
    quick = script.read_text(encoding="utf-8")
    script.write_text("import os, time\nopen(f'{os.getpid()}.pid', 'w').close()\ntime.sleep(600)", encoding="utf-8")
    command = [sys.executable, "-m", "pesmo", "run", "study.toml", "--evaluations", "2"]
    with (tmp_path / "log").open("w+") as log:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log)
        until(lambda: process.poll() is not None or list(tmp_path.glob("*.pid")))
        assert process.poll() is None, (tmp_path / "log").read_text()
        process.send_signal(number)
        killed = number == signal.SIGKILL
        assert process.wait(120) == (-signal.SIGKILL if killed else 130)
    said = "Stopped: 0 of 2, nothing lost. The same command goes on." in (tmp_path / "log").read_text()
    assert said != killed
    until(lambda: all(gone(path.stem) for path in tmp_path.glob("*.pid")))
    script.write_text(quick, encoding="utf-8")
    pesmo("run", "--evaluations", 2)
    states = [t["state"] for t in trials(pesmo)]
    assert states.count("complete") == 2
    assert "failed" not in states
