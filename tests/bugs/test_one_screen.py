"""Tracebacks with exit code 1 where one screen and a documented exit code were promised (issue 15, item 9)."""

import errno
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import pesmo as package
from pesmo import Choice, DefinitionError, Float, Int, ResultError, Space, SpaceError, StorageError, Study, TrialError
from pesmo.cli import complaints, looking, tables, trials
from pesmo.cli.locate import key_lines
from tests.cli.calling import call
from tests.cli.conftest import Pesmo

DIGITS = "9" * 5000

WRONG = [
    (["tell", DIGITS[:25], "a=1", "b=2"], "there is no trial '9999999999999999999999999'"),
    (["tell", DIGITS, "a=1", "b=2"], "there is no trial '9999"),
    (["fail", DIGITS[:19]], "there is no trial 9999999999999999999"),
    (["tell", "1", '{"a":' * 20_000], "it is nested too deeply"),
    (["tell", "1", "[" * 20_000], "is not NAME=VALUE"),
    (["tell", "1", '{"a": ' + "[" * 20_000], "it is nested too deeply"),
    (["tell", "1", f'{{"a": {DIGITS}, "b": 1}}'], "objective 'a' must be a finite number, not inf"),
    (["tell", "1", f"a={DIGITS}", "b=1"], "objective 'a' must be a finite number, not inf"),
    (["run", "--budget", "inf"], "'--budget': it must be a finite number > 0, not inf"),
    (["run", "--budget", "nan"], "'--budget': it must be a finite number > 0, not nan"),
    (["run", "--evaluations", DIGITS[:25]], "'--evaluations'"),
    (["ask", "--lease", "inf"], "'--lease': it must be a finite number > 0, not inf"),
    (["front", "--size", DIGITS[:25]], "'--size'"),
    (["front", "--size", "1001"], "'--size'"),  # 2,400 points took 8 s
    (["schema", DIGITS], "error: Got unexpected extra argument"),
    (["run", f"--{DIGITS}"], "error: No such option"),
    ([DIGITS], "error: No such command"),
    (["status", f"{'x' * 300}.db"], "File name too long; check who may use its folder"),
]


def test_wrong_words_are_refused_on_one_screen(pesmo: Pesmo, study_file: Path) -> None:
    pesmo("ask")
    for words, message in WRONG:
        result = pesmo(*words, code=2)
        assert message in result.stderr, words
        assert result.stderr.startswith("error: ")
        assert len(result.stderr) < 5000
    assert "standard input is not text in UTF-8" in call(["tell", "1", "-"], b"\xff").stderr


STUDY = "[inputs.x]\ntype = 'float'\nlow = 1\nhigh = 2\n[objectives.a]\n"
FILES = [
    ("x = " + "[" * 20_000, "has lists or tables nested too deeply"),
    ("x = " + "{a = " * 20_000, "has lists or tables nested too deeply"),
    (".".join(["a"] * 20_000) + " = 1", "line 1: a key of more than 32 parts"),
    ("x = 1\n[" + ".".join(['"a b"'] * 20_000) + "]", "line 2: a key of more than 32 parts"),
    (f"[study]\nseed = {DIGITS}\n{STUDY}", "line 2: a number of thousands of digits cannot be read"),
    (f"[study]\nseed = {DIGITS[:400]}\n{STUDY}", "line 2, study.seed: seed must be a whole number from 0 to 2**128"),
    (f"[study]\nevaluations = {DIGITS[:400]}\n{STUDY}", "line 2, study.evaluations: is too large"),
    (STUDY.replace("2", DIGITS[:400]), "line 4, inputs.x.high: must be a finite number"),
    (STUDY.replace("2", DIGITS[:400]).replace("float", "int"), "line 1, inputs.x: Int: high must be a finite number"),
    (STUDY + "[experiments.e]\ntimeout = 1e300", "line 7, experiments.e.timeout: is too large"),
    (STUDY + "\n" * 1_000_000, "cannot read study.toml: it is larger than 1 MB"),
]


@pytest.mark.parametrize(("text", "message"), FILES, ids=range(len(FILES)))
def test_a_file_that_python_cannot_read_is_refused_on_one_screen(text: str, message: str, pesmo: Pesmo) -> None:
    Path("study.toml").write_text(text, encoding="utf-8")
    said = pesmo("ask", code=2).stderr
    assert message in said
    assert len(said.splitlines()) <= 12
    assert len(said) < 2000


def test_lines_are_looked_up_once_not_once_per_problem(pesmo: Pesmo, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(complaints, "key_lines", lambda *given: calls.append(given) or key_lines(*given))
    Path("study.toml").write_text("[study]\n" + "".join(f"k{i} = 1\n" for i in range(300)), encoding="utf-8")
    assert "has 302 problems" in pesmo("ask", code=2).stderr
    assert len(calls) == 1


# -------------------------------------------------------------------------------------------- the same from Python


def test_a_range_whose_quotient_overflows_works() -> None:
    space = Space(x=Float(1e-200, 1e200, log=True), y=Float(5e-324, 1.7976931348623157e308, log=True))
    for low, high in ((1e-200, 1e200), (5e-324, 1.7976931348623157e308)):
        spec = Float(low, high, log=True)
        assert [spec.to_unit(low), spec.to_unit(high)] == [0.0, 1.0]
        assert [spec.from_unit(0.0), spec.from_unit(1.0)] == [low, high]
        for value in (1e-150, 0.3, 1.0, 7.5e120):
            assert spec.from_unit(spec.to_unit(value)) == pytest.approx(value, rel=1e-10)
        for unit in (0.1, 0.77, 0.99):
            tidy = spec.tidy(unit)
            assert tidy == pytest.approx(unit, abs=1e-9)
            assert spec.to_unit(spec.from_unit(tidy)) == tidy
    study = Study(space, ["a"], method="random", seed=0)
    trial = study.ask()
    study.tell(trial, {"a": 1.0})
    assert space.check(trial.inputs) == trial.inputs


def test_a_range_that_ends_at_the_largest_float_works() -> None:
    spec = Float(-1.0, 1.7976931348623157e308)
    assert spec.from_unit(1.0) == spec.high
    assert spec.tidy(1.0) == 1.0


HUGE = 10**5000
REFUSED = [
    (lambda: Int(1, 10**400), SpaceError, "Int: high must be a finite number"),
    (
        lambda: Int(1, HUGE),
        SpaceError,
        "not a value of type int that is too large to be shown",
    ),
    (lambda: Float(0, HUGE), SpaceError, "Float: high must be a finite number"),
    (lambda: Choice(1, HUGE), SpaceError, "Choice: an option must be a finite number"),
    (lambda: Int(1, 3).check(HUGE, "n"), SpaceError, "input 'n' must be a finite number"),
    (lambda: Choice(1, 2).check(HUGE, "n"), SpaceError, "is not one of"),
    (lambda: Study(Space(x=Float(0, 1)), ["a"], seed=HUGE), DefinitionError, "seed must be a whole number from 0"),
    (lambda: package.Objective("a", noise=HUGE), DefinitionError, "noise is a standard deviation"),
    (lambda: package.Experiment("e", ["a"], HUGE), DefinitionError, "cost must be a number > 0"),
]


@pytest.mark.parametrize(("make", "kind", "words"), REFUSED)
def test_numbers_of_any_length_are_refused_in_words(make, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words.replace("(", ".")):
        make()


@pytest.mark.parametrize("stored", [True, False])
def test_a_study_refuses_numbers_of_any_length_in_words(stored: bool, tmp_path: Path) -> None:
    study = Study(Space(x=Float(0, 1)), ["a"], method="random", storage=tmp_path / "a.db" if stored else None)
    trial = study.ask()
    for number in (2**31, 10**25, HUGE, -1):
        with pytest.raises(TrialError, match="there is no trial"):
            study.tell(number, {"a": 1.0})
    with pytest.raises(ResultError, match="must be a finite number"):
        study.tell(trial, {"a": HUGE})
    with pytest.raises(ResultError, match="cost must be a number >= 0"):
        study.tell(trial, {"a": 1.0}, cost=HUGE)
    assert study.trials[0].state == "running"


# ---------------------------------------------------------------------------------------------- what is in the study


def test_a_reason_that_is_no_text_can_be_shown_and_written(pesmo: Pesmo, study_file: Path) -> None:
    pesmo("ask", "-n", 2)
    pesmo("fail", 1, os.fsdecode(b"broken \xff bytes"))
    pesmo("tell", 2, "a=1", "b=2")
    for command in (["export"], ["trials", "--csv"], ["trials", "--json"]):
        assert "broken \\udcff bytes" in pesmo(*command).stdout
    for command in (["trials"], ["status"]):
        assert "broken " in pesmo(*command).stdout
    pesmo("export", "-o", "all.csv")
    pesmo("export", "-o", "all.json")
    pesmo("report")
    for name in ("all.csv", "all.json", "report.html"):
        assert "broken \\udcff bytes" in Path(name).read_text(encoding="utf-8")
    assert "1 of 2 rows" in pesmo("import", "all.csv").stdout


@pytest.mark.parametrize("version", ["!rubbish", "", "0000", "9" * 500, None])
def test_an_unknown_schema_version_is_refused(version: str | None, pesmo: Pesmo, study_file: Path) -> None:
    pesmo("ask")
    with sqlite3.connect("study.db") as connection:
        connection.execute("UPDATE pesmo_version SET version_num = ?", [version]) if version is not None else (
            connection.execute("DELETE FROM pesmo_version")
        )
    said = pesmo("trials", code=2).stderr
    assert ("which no pesmo has written" in said) if version is not None else ("storage " in said)


@pytest.mark.parametrize("text", ["rubbish", "[" * 20_000, "{}", "[]", "null", '{"format": 2}', '{"format": 1}'])
def test_a_damaged_definition_is_said(text: str, pesmo: Pesmo, study_file: Path) -> None:
    pesmo("ask")
    with sqlite3.connect("study.db") as connection:
        connection.execute("UPDATE pesmo_studies SET definition = ?", [text])
    assert "error: the " in pesmo("trials", code=2).stderr
    with pytest.raises(StorageError):
        Study.open("study.db")


def test_a_database_with_bytes_that_are_no_text_is_said(pesmo: Pesmo, study_file: Path) -> None:
    pesmo("ask")
    with sqlite3.connect("study.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    content = Path("study.db").read_bytes()
    Path("study.db").write_bytes(content.replace(b"indexpesmo_trials_state", b"indexpesm\x8d_trials_state"))
    Path("study.db-wal").unlink(missing_ok=True)
    assert "the file is damaged: restore it from a copy" in pesmo("trials", code=2).stderr


def test_a_study_that_is_listed_and_not_found_is_said(pesmo: Pesmo, study_file: Path) -> None:
    pesmo("ask")
    with sqlite3.connect("study.db") as connection:
        connection.execute("UPDATE pesmo_studies SET name = '\"other\"'")
    connection.close()
    assert "lists the study 'other' and does not find it" in pesmo("trials", "study.db", code=2).stderr


# -------------------------------------------------------------------------------------------------- where output goes


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_output_in_any_encoding_is_written(encoding: str, pesmo: Pesmo, study_file: Path) -> None:
    for words in (["ask"], ["status"], ["trials"], ["export"], ["--help"], ["run", "--budget", "inf"]):
        result = call(words, encoding=encoding)
        assert result.exit_code == (2 if "inf" in words else 0), result.output
    assert "tell study.toml 2 a=" in call(["ask"], encoding=encoding).stdout


PRINTING = [
    ["trials"], ["status"], ["trials", "--json"], ["trials", "--csv"], ["export"], ["ask"], ["ask", "--json"],
    ["ask", "-n", "2"], ["ask", "-n", "2", "--json"], ["--help"], ["schema"],
]  # fmt: skip


@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_output_that_cannot_be_written_is_said_and_reserves_nothing(
    words: list[str], pesmo: Pesmo, study_file: Path
) -> None:
    pesmo("ask")
    full = call(words, broken=errno.ENOSPC)
    assert (full.exit_code, full.stderr) == (
        2,
        "error: cannot write the output: No space left on device; free some space there, or write it elsewhere\n",
    )
    closed = call(words, broken=errno.EPIPE)
    assert (closed.exit_code, closed.stderr) == (141, "")
    running = [t.id for t in Study.open("study.db").trials if t.state == "running"]
    assert running == [1]


def test_the_next_ask_is_given_what_could_not_be_printed(pesmo: Pesmo, study_file: Path) -> None:
    call(["ask", "-n", "2"], broken=errno.EPIPE)
    unseen = [t.inputs for t in Study.open("study.db").trials]
    pesmo("ask", "-n", 2)
    assert [t.inputs for t in Study.open("study.db").trials if t.state == "running"] == unseen


@pytest.mark.parametrize(
    ("output", "code", "message"),
    [
        (">/dev/full", 2, "error: cannot write the output: No space left on device"),
        (">&-", 2, "error: cannot write the output: Bad file descriptor"),
        ("| :", 141, ""),
        (">/dev/full 2>/dev/full", 2, ""),
        (">&- 2>&- <&-", 2, ""),
    ],
)
def test_a_real_output_that_is_broken(output: str, code: int, message: str, tmp_path: Path, study_file: Path) -> None:
    command = f'"{sys.executable}" -m pesmo ask --json {output}; exit ${{PIPESTATUS[0]}}'
    ended = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stderr
    assert ended.stderr.startswith(message)
    assert len(ended.stderr.splitlines()) <= 1
    assert [t.state for t in Study.open(tmp_path / "study.db").trials] == ["abandoned"]


def test_files_on_a_full_device_are_said(pesmo: Pesmo, study_file: Path) -> None:
    pesmo("ask")
    Path("full.csv").symlink_to("/dev/full")
    Path("full.html").symlink_to("/dev/full")
    assert pesmo("export", "-o", "full.csv", code=2).stderr == "error: cannot write full.csv: No space left on device\n"
    assert "cannot write full.html: No space left" in pesmo("report", "-o", "full.html", code=2).stderr


def test_what_has_no_end_is_not_read_to_it(pesmo: Pesmo, study_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LARGEST", 1000)
    monkeypatch.setattr(trials, "LARGEST", 1000)
    Path("endless.toml").symlink_to("/dev/zero")
    pesmo("ask")
    assert "cannot read /dev/zero: it is larger than 0.001 MB" in pesmo("import", "/dev/zero", code=2).stderr
    assert "cannot read endless.toml: it is larger than 1 MB" in pesmo("ask", "endless.toml", code=2).stderr
    assert "cannot read standard input: it is larger" in pesmo("tell", 1, "-", code=2, stdin="{" * 1001).stderr


def test_an_unreadable_folder_is_said(pesmo: Pesmo, study_file: Path, tmp_path: Path) -> None:
    pesmo("ask")
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "study.toml").write_bytes(study_file.read_bytes())
    (closed / "study.db").write_bytes((tmp_path / "study.db").read_bytes())
    closed.chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)  # nobody: root may read everything
    try:
        ended = [call(["trials", f"closed/{name}"]) for name in ("study.toml", "study.db", "study", "import.csv")]
        ended.append(call(["import", "study.toml", "closed/data.csv"]))
    finally:
        os.seteuid(user)
        closed.chmod(0o700)
    assert [e.exit_code for e in ended] == [2] * 5
    assert all("Permission denied" in e.stderr for e in ended), [e.stderr for e in ended]


# --------------------------------------------------------------------------------------------- what nobody expected


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("\x1b[31mpostgresql://me:secret@host/x is odd")

    monkeypatch.setattr(looking, "show_trials", fail)


@pytest.mark.usefixtures("fault", "study_file")
def test_what_nobody_expected_is_one_screen_and_a_log(
    pesmo: Pesmo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ended = call(["trials"])
    [log] = tmp_path.glob("pesmo-error-*.log")
    assert ended.exit_code == 1
    assert ended.stderr.splitlines() == [
        "error: pesmo met what it did not expect: RuntimeError: \\x1b[31mpostgresql://me:***@host/x is odd",
        f"What was told before is safe. The details are in {log}; please report it with that file.",
    ]
    written = log.read_text(encoding="utf-8")
    assert "Traceback (most recent call last):" in written
    assert "in fail\n" in written
    assert f"pesmo {package.__version__}, Python " in written
    assert "secret" not in written + ended.output
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


@pytest.mark.usefixtures("fault", "study_file")
def test_a_log_that_cannot_be_written_is_said(pesmo: Pesmo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/dev/null/nowhere")
    ended = call(["trials"])
    assert ended.exit_code == 1
    assert "The details could not be kept (" in ended.stderr
    assert "set TMPDIR to a folder that can be written to" in ended.stderr


def test_ctrl_c_is_130_and_says_nothing(pesmo: Pesmo, study_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "show_trials", lambda *_: signal.raise_signal(signal.SIGINT))
    ended = call(["trials"])
    assert (ended.exit_code, ended.output.strip()) == (130, "")
