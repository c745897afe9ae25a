"""What a program wrote to its stderr reached the terminal as it was: it could move the cursor, or hide what follows."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from pesmo import Choice, Experiment, Float, Objective, RunError, Space, Study
from pesmo.printable import excerpt, printable
from pesmo.report.tables import front_table, spending_table
from pesmo.run.progress import Bar
from tests.cli.conftest import Pesmo

NASTY = "\x1b[2J\x1b]0;title\x07 \r\b \x9b31m \u202edesrever\u2066 \x00 \x7f"
SHOWN = r"\x1b[2J\x1b]0;title\x07 \r\x08 \x9b31m \u202edesrever\u2066 \x00 \x7f"
LINES = SHOWN.replace(r"\r", "\n")  # an excerpt takes a carriage return for a line end, as in a program's progress bar
RAW = sorted(set(NASTY) - set(map(chr, range(32, 127))))


def clean(said: str) -> bool:
    return not [c for c in RAW if c in said]


def test_what_controls_a_terminal_is_shown_as_an_escape_and_text_is_left_alone() -> None:
    assert printable(NASTY) == SHOWN
    for text in ("plain", "two\nlines\tand a tab", "ünïcödé ✓ 漢字 עברית 👩‍🔬", "non-breaking\u00a0space", ""):
        assert printable(text) == text
    assert printable("a\r\nb\u2028c") == "a\nb\\u2028c"
    assert printable("caf\udce9") == "caf\\udce9"  # a byte that is no text: it could not even be encoded
    assert printable("caf\udce9").encode()


def test_an_excerpt_has_the_first_line_and_the_last_ones() -> None:
    assert excerpt("what\n1\n2\n3", 3) == "what\n1\n2\n3"
    assert excerpt("what\n1\n2\n3", 2) == "what\n…\n2\n3"
    assert excerpt("what\n1\n2", 0) == "what\n…"
    assert excerpt(" \n") == ""
    assert excerpt("a\x1b\nb\x07") == "a\\x1b\nb\\x07"


@pytest.fixture
def failed(pesmo: Pesmo, study_file: Path) -> Pesmo:
    """A study whose program says nasty things and fails."""
    program = f"import sys; sys.stderr.buffer.write({NASTY.encode()!r}); sys.exit(1)"
    study_file.with_name("both.py").write_text(program, encoding="utf-8")
    return pesmo


def test_every_command_shows_a_message_without_its_control_characters(failed: Pesmo) -> None:
    run = failed("run", "--max-failures", 3, code=1)
    assert "the last 3 trials failed" in run.stderr
    assert LINES in run.stderr
    assert r"\x1b[2J\x1b]0;title\x07" in run.stdout  # the line of each trial
    assert LINES in failed("run", "--evaluations", 4, code=1).stderr  # no front
    for words in (["status"], ["trials"], ["fail", 1, NASTY.replace("\x00", "")]):
        said = failed(*words, code=None)
        assert clean(said.output), words
        assert r"\x9b31m" in said.output, words
    assert clean(run.output)
    assert clean(failed("ask", NASTY.replace("\x00", ""), code=2).output)  # an error repeats what was given
    messages = [t["message"] for t in json.loads(failed("trials", "--json").stdout)]
    assert messages[0] == f"ProgramError: exit code 1; its stderr ends with:\n{NASTY.strip()}"  # kept as it was


def test_a_picture_on_a_terminal_has_no_control_characters_but_its_own(failed: Pesmo) -> None:
    from pesmo.cli.view import Limit, outcome_line, picture, summarize

    failed("run", "--max-failures", 1, code=1)
    study = Study.open("study.db")
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system=None, width=200)
    console.print(picture(summarize(study, Limit(), None), last=f"the storage said {NASTY}"))
    console.print(outcome_line(study.trials[0]))
    assert clean(out.getvalue())
    assert r"the storage said \x1b[2J" in out.getvalue()
    study.close()


def test_names_and_choices_in_tables_and_in_the_progress_bar() -> None:
    space = Space(x=Float(0, 1), kind=Choice(f"good{NASTY}", f"fine{NASTY}"))
    study = Study(
        space, [Objective(f"a{NASTY}")], [Experiment(f"measure{NASTY}", [f"a{NASTY}"])], seed=0, method="random"
    )
    for x in (0.1, 0.5, 0.9):
        study.add({"x": x, "kind": f"good{NASTY}"}, {f"a{NASTY}": x})
    study.tell(study.ask(), {f"a{NASTY}": 0.5})
    out = io.StringIO()
    console = Console(file=out, width=400)
    console.print(front_table(study.recommend()))
    console.print(spending_table(study))
    bar = Bar(3, None, True)
    bar.say(f"running measure{NASTY}")
    bar.last = f"failed {NASTY}\nmore"
    bar.show(1, 1.0)
    console.print(bar._progress.get_renderable())
    assert clean(out.getvalue())
    assert out.getvalue().count(r"\x1b[2J") >= 5


def test_the_error_that_ends_a_run_in_python_is_clean() -> None:
    study = Study(Space(x=Float(0, 1)), ["a"], seed=0, method="random")

    def fails(inputs: dict) -> float:
        raise ValueError(NASTY)

    with pytest.raises(RunError) as found:
        study.run({"evaluate": fails}, evaluations=5, max_failures=2, progress=False)
    assert clean(str(found.value))
    assert r"ValueError: \x1b[2J" in str(found.value)
    assert study.trials[0].message == f"ValueError: {NASTY}"
