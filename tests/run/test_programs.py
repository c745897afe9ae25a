"""Programs get their inputs as data and give back a result, or a failure that says why."""

import json
import os
import pickle
import signal
import sys
import threading
from pathlib import Path

import pytest

from pesmo.errors import ProgramError
from pesmo.run.programs import Program, fill, last_object, placeholders, program_of, variable
from tests.waiting import gone, until

NASTY = ["$(rm -rf x)", "; ls", "`id`", 'it\'s "quoted"', "two\nlines", "a\tb  c", "-rf", "*", "{lr}", "ünïcödé ✓", ""]
ECHO = """
import json, os, sys
print(json.dumps({"args": sys.argv[1:], "stdin": json.load(sys.stdin), "env": dict(os.environ)}))
"""


def python(code: str, *arguments: str, **settings) -> Program:
    return Program((sys.executable, "-S", "-c", code.replace("{", "{{").replace("}", "}}"), *arguments), **settings)


@pytest.mark.parametrize("value", NASTY)
def test_a_value_reaches_the_program_as_data_in_all_three_ways(value: str) -> None:
    got = python(ECHO, "--kind={kind}", "{kind}", "{lr}")({"kind": value, "lr": 0.5})
    assert got["args"] == [f"--kind={value}", value, "0.5"]
    assert got["stdin"] == {"kind": value, "lr": 0.5}
    assert (got["env"]["PESMO_KIND"], got["env"]["PESMO_LR"]) == (value, "0.5")


def test_numbers_keep_every_digit_and_booleans_are_lower_case() -> None:
    got = python(ECHO, "{x}", "{n}", "{flag}", experiment="train")({"x": 0.1 + 0.2, "n": 3, "flag": True})
    assert got["args"] == ["0.30000000000000004", "3", "true"]
    assert got["stdin"] == {"x": 0.1 + 0.2, "n": 3, "flag": True}
    assert got["env"]["PESMO_EXPERIMENT"] == "train"


def test_braces_and_names() -> None:
    assert fill('{{"lr": {lr}}}', {"lr": 1}) == '{"lr": 1}'
    assert fill("{learning rate}", {"learning rate": 2}) == "2"
    assert fill("{python}", {}) == sys.executable
    assert placeholders("{a}-{b}{{c}}") == ["a", "b"]
    assert variable("learning rate") == "PESMO_LEARNING_RATE"
    assert program_of(["{python}", "{x}"]) == sys.executable
    assert program_of(["./{solver}"]) is None
    with pytest.raises(ProgramError, match="single { in 'a{b'; write {{"):
        placeholders("a{b")
    with pytest.raises(ProgramError, match=r"\{lrr\} in '\{lrr\}' is no input; there are \['lr', 'python'\]"):
        fill("{lrr}", {"lr": 1})


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ('log {x} {"no": 1\n{"a": 1} {"a": 2}\nbye {', {"a": 2}),
        ('{\n  "a": {\n    "b": 1\n  }\n}\ndone', {"a": {"b": 1}}),
        ("[1, 2] 3 nothing", None),
        ("", None),
        ('{"a":' * 5000, None),
    ],
)
def test_the_last_object_is_found(output: str, expected: dict | None) -> None:
    assert last_object(output) == expected


def test_only_what_was_asked_for_and_the_cost_come_back() -> None:
    program = python('print(\'{"error": 0.02, "epochs": 12, "cost": 3.5}\')', reveals=("error",))
    assert program({}) == {"error": 0.02, "cost": 3.5}


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; print('oh no', file=sys.stderr); sys.exit(3)", "exit code 3; its stderr ends with:\noh no"),
        ("import os; os.kill(os.getpid(), 9)", "ended by SIGKILL; it wrote nothing to stderr"),
        (
            "print('hello')",
            "no JSON object on standard output; print one such as {\"error\": 0.5} at the end, not 'hello'",
        ),
        ("pass", "no JSON object"),
        ("print('{\"eror\": 1}')", "lacks ['error']; expected ['error']"),
        ("print('{\"error\": NaN}')", "'error' = NaN, which is not a finite number"),
        ('print(\'{"error": "low"}\')', "'error' = \"low\", which is not a finite number"),
        ("print('{\"error\": null}')", "'error' = null"),
        ("print('{\"error\": 1' + '0' * 400 + '}')", "not a finite number"),
    ],
)
def test_a_failure_says_why(code: str, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        python(code, reveals=("error",))({"x": 1.0})
    assert message in str(caught.value)


def test_only_the_tail_of_a_long_stderr_is_kept() -> None:
    with pytest.raises(ProgramError) as caught:
        python("import sys; print('x' * 10**6 + 'the end', file=sys.stderr); sys.exit(1)")({})
    assert str(caught.value).endswith("the end")
    assert len(str(caught.value)) < 3000


def test_a_result_after_much_output_is_found() -> None:
    assert python("print('y' * 3_000_000); print('{\"a\": 1}')", reveals=("a",))({}) == {"a": 1}


def test_a_program_that_cannot_start_is_a_failure(tmp_path: Path) -> None:
    plain = tmp_path / "plain.sh"
    plain.write_text("exit 0")
    for command in (("no-such-program",), (str(plain),)):
        with pytest.raises(ProgramError, match=f"cannot start '{command[0]}' in .*"):
            Program(command)({})
    with pytest.raises(ProgramError, match="null byte"):
        Program(("echo", "{c}"))({"c": "a\0b"})


def test_it_runs_in_its_directory(tmp_path: Path) -> None:
    program = python("import os, json; print(json.dumps({'here': os.getcwd()}))", directory=str(tmp_path))
    assert program({})["here"] == str(tmp_path.resolve())


FORKING = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
with open(sys.argv[1] + ".part", "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
os.rename(sys.argv[1] + ".part", sys.argv[1])
time.sleep(600)
"""


def test_a_time_out_ends_the_program_and_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    for timeout in (2.0, 20.0, 90.0):  # on a busy machine it may take long to get as far as writing the file
        with pytest.raises(ProgramError, match=f"ended after its time-out of {timeout:g} s"):
            python(FORKING, str(pids), timeout=timeout)({})
        if pids.exists():
            break
    for pid in pids.read_text().split():
        until(lambda pid=int(pid): gone(pid))


def test_an_interrupt_ends_the_program_and_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    def interrupt() -> None:
        until(pids.exists)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        python(FORKING, str(pids))({})
    for pid in pids.read_text().split():
        until(lambda pid=int(pid): gone(pid))


def test_what_a_program_leaves_in_its_group_ends_with_it_and_a_daemon_of_its_own_session_does_not() -> None:
    code = "import subprocess; print('{\"a\": %d}' % subprocess.Popen(['sleep', '600'], start_new_session=DAEMON).pid)"
    left, daemon = (python(code.replace("DAEMON", d), reveals=("a",))({})["a"] for d in ("False", "True"))
    assert gone(left)
    assert not gone(daemon)
    os.kill(daemon, signal.SIGKILL)


def test_a_daemon_outlives_the_end_of_the_next_program() -> None:
    code = "import subprocess; print('{\"a\": %d}' % subprocess.Popen(['sleep', '600'], start_new_session=True).pid)"
    daemon = python(code, reveals=("a",))({})["a"]
    with pytest.raises(ProgramError, match="time-out"):
        python("import time; time.sleep(600)", timeout=0.2)({})
    assert not gone(daemon)
    os.kill(daemon, signal.SIGKILL)


def test_a_guard_that_was_killed_is_replaced(tmp_path: Path) -> None:
    parent = python("import os; print('{\"a\": %d}' % os.getppid())", reveals=("a",))
    guard = parent({})["a"]
    assert parent({})["a"] == guard  # one runs many programs
    os.kill(guard, signal.SIGKILL)
    until(lambda: gone(guard))
    assert parent({})["a"] != guard


def test_a_program_travels_to_other_processes() -> None:
    program = Program(("{python}", "x.py"), ("error",), 5.0, "train", "/tmp")
    assert pickle.loads(pickle.dumps(program)) == program
    assert json.dumps(os.environ.get("PESMO_EXPERIMENT")) == "null"  # nothing leaks into our own environment


def test_a_result_may_lie_anywhere_in_the_last_megabyte_of_what_was_printed() -> None:
    said = "print('{\"a\": 1}' + '\\n' + 'z' * %d)"
    assert python(said % 900_000, reveals=("a",))({}) == {"a": 1}
    with pytest.raises(ProgramError, match="no JSON object on standard output"):
        python(said % 1_100_000, reveals=("a",))({})


def test_what_ended_a_program_is_named() -> None:
    for code, words in (("raise SystemExit(1)", "exit code 1;"), ("import os; os.abort()", "ended by SIGABRT;")):
        with pytest.raises(ProgramError, match=f"^{words} it wrote nothing to stderr"):
            python(code)({})


def test_numbers_of_any_size_are_results_as_long_as_they_are_finite() -> None:
    program = python('print(\'{"a": -1e308, "b": 123456789012345678, "c": 0}\')', reveals=("a", "b", "c"))
    assert program({}) == {"a": -1e308, "b": 123456789012345678, "c": 0}
    for value in ("true", "[1]", '{"x": 1}', "Infinity", "1e999"):
        with pytest.raises(ProgramError, match="'a' = .*, which is not a finite number"):
            python(f"print('{{\"a\": {value}}}')", reveals=("a",))({})


def test_everything_in_the_result_comes_back_where_nothing_particular_was_asked_for() -> None:
    assert python('print(\'{"b": "x", "cost": 2, "a": [1]}\')')({}) == {"b": "x", "cost": 2, "a": [1]}


def test_a_long_result_is_quoted_in_part() -> None:
    with pytest.raises(ProgramError, match="lacks") as caught:
        python("import json; print(json.dumps({'long': 'x' * 5000}))", reveals=("a",))({})
    assert "…" in str(caught.value)
    assert len(str(caught.value)) < 400
    with pytest.raises(ProgramError, match="no JSON object") as caught:
        python("print('y' * 5000)")({})
    assert len(str(caught.value)) < 400
