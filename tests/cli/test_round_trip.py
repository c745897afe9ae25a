"""What `pesmo export` writes, `pesmo import` reads back to the last bit, whatever things are called."""

import csv
import io
import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pesmo import Choice, Float, Int, Objective, Space, Study
from pesmo.cli.cells import headings, written
from pesmo.cli.tables import read_csv, trials_csv
from tests.cli.conftest import Pesmo

# Names and options that were once confused, beside any text at all.
NASTY = [
    *("1", "true", "True", '"1"', "'1", "=1+1", "'=1+1", "+1", "-1", "-1.5", "1e+30", "@x", "\ta", " a", "a ", "a"),
    *("a\r\nb", "a\rb", "a\nb", '"', "'", "''", "x,y", ";", "\ufeff", "\u2028", "\0", "é", "nan"),
    *("input.a", "objective.a", "trial.id"),
]
TEXTS = st.one_of(st.sampled_from(NASTY), st.text(max_size=6))
NAMES = TEXTS.filter(bool)
NUMBERS = st.one_of(st.integers(-(10**30), 10**30), st.floats(allow_nan=False, allow_infinity=False))
OTHERS = st.sampled_from(["", "\ud800", 1, -1, -1.5, 1e30, 2.5, True, False, 2**53 + 1])
OPTIONS = st.one_of(TEXTS, OTHERS, NUMBERS)
FUZZ = os.environ.get("PESMO_FUZZ")  # how many examples, new ones every time


def _int(low: int, more: int) -> Int:
    return Int(low, low + more)


INPUTS = st.one_of(
    st.builds(_int, st.integers(-(2**70), 2**70), st.integers(1, 10**6)),
    st.just(Float(-1.7e308 / 2, 1.7e308 / 2)),
    st.just(Float(1e-300, 1e300, log=True)),
    st.lists(OPTIONS, min_size=2, max_size=6, unique_by=lambda o: (isinstance(o, bool), o)).map(lambda o: Choice(*o)),
)
VALUES = st.floats(allow_nan=False, allow_infinity=False)


def value_of(data: st.DataObject, spec: Any) -> Any:
    if isinstance(spec, Choice):
        return data.draw(st.sampled_from(spec.options))
    if isinstance(spec, Int):
        return data.draw(st.integers(spec.low, spec.high))
    return data.draw(st.floats(spec.low, spec.high))


def exactly(value: Any) -> Any:
    """Something that tells 1, 1.0, true and "1" apart, and 0.0 and -0.0."""
    if isinstance(value, float):
        return ("float", value.hex())
    return (type(value).__name__, value)


def rows_of(study: Study) -> list[Any]:
    return [
        ({n: exactly(v) for n, v in t.inputs.items()}, {n: exactly(v) for n, v in t.values.items()})
        for t in study.trials
    ]


@settings(
    max_examples=int(FUZZ or 200),
    derandomize=FUZZ is None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.data())
def test_any_study_survives_the_round_trip(data: st.DataObject) -> None:
    space = Space(data.draw(st.dictionaries(NAMES, INPUTS, min_size=1, max_size=4)))
    same = st.sampled_from(list(space.names))  # an objective called as an input is
    names = data.draw(st.lists(st.one_of(NAMES, same), min_size=1, max_size=3, unique=True))
    study = Study(space, [Objective(name) for name in names], method="random", seed=0)
    for _ in range(data.draw(st.integers(1, 4))):
        values = data.draw(st.dictionaries(st.sampled_from(names), VALUES, min_size=1))
        study.add({n: value_of(data, spec) for n, spec in space.inputs.items()}, values)
    table = trials_csv(study)
    assert all(
        not cell.startswith(tuple("=+@\t\r")) for row in csv.reader(io.StringIO(table, newline="")) for cell in row
    )
    rows, ignored = read_csv(study, table.encode("utf-8", "backslashreplace").decode("utf-8-sig"))
    back = Study(space, study.objectives, method="random", seed=0)
    back.add_many(rows)
    assert rows_of(back) == rows_of(study)
    assert ignored == []


STUDY = """
study.method = "random"
[inputs.n]
type = "int"
low = 9007199254740993
high = 9007199254741993
[inputs.x]
type = "float"
low = -2
high = 2
[inputs.c]
type = "choice"
choices = [1, "1", true, "true", "=1+1", "'=1+1", "a\\r\\nb", "a\\nb", "a\\rb", " a ", "a", "", "-1.5", -1.5]
[objectives.x]
[objectives.y]
"""
CHOICES = [1, "1", True, "true", "=1+1", "'=1+1", "a\r\nb", "a\nb", "a\rb", " a ", "a", "", "-1.5", -1.5]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_export_and_import_through_files(mark: bytes, pesmo: Pesmo, tmp_path: Path) -> None:
    Path("study.toml").write_text(STUDY, encoding="utf-8")
    pesmo("ask")
    study = Study.open("study.db")
    for i, choice in enumerate(CHOICES):
        study.add({"n": 2**53 + 1 + i, "x": math.nextafter(0.1, i), "c": choice}, {"y": -0.1 * i, "x": 1e-320})
    pesmo("export", "-o", "all.csv")
    Path("all.csv").write_bytes(mark + Path("all.csv").read_bytes())
    text = Path("all.csv").read_bytes().decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0][-5:] == ["n", "input.x", "c", "objective.x", "y"]
    cells = ["1", '"1"', "true", '"true"', "'=1+1", "''=1+1", r'"a\r\nb"', r'"a\nb"', r'"a\rb"', '" a "', "a", '""']
    assert [row[-3] for row in rows[2:]] == [*cells, '"-1.5"', "-1.5"]
    Path("other.toml").write_text(STUDY, encoding="utf-8")
    assert pesmo("import", "other.toml", "all.csv").stdout == "added 14 of 15 rows; 1 have no objective\n"
    assert rows_of(Study.open("other.db")) == rows_of(study)[1:]
    assert pesmo("import", "other.toml", "all.csv").stdout.startswith("added 0 of 15 rows; 14 were there already")
    everything = json.loads(pesmo("trials", "--json").stdout)
    assert [exactly(t["inputs"]["c"]) for t in everything[1:]] == [exactly(c) for c in CHOICES]


def test_a_table_made_by_hand_needs_no_quotes(pesmo: Pesmo) -> None:
    Path("study.toml").write_text(STUDY, encoding="utf-8")
    first = 2**53 + 1
    Path("by hand.csv").write_bytes(
        b' c , input.x,n, y\r\n a, 1,%d ,1e3\r\n=1+1,1,%d,2\r\n\'=1+1,1,%d,3\r\n"-1.5",1,%d,4\r\n'
        % (first, first, first, first)
    )
    assert "added 4 of 4 rows" in pesmo("import", "by hand.csv").stdout
    study = Study.open("study.db")
    assert [t.inputs["c"] for t in study.trials] == ["a", "=1+1", "=1+1", -1.5]
    Path("by hand.csv").write_text("c,x,n,y\na,1,2,3\n", encoding="utf-8")
    assert (
        "no column for the inputs ['input.x']; it has ['c', 'x', 'n', 'y']"
        in pesmo("import", "by hand.csv", code=2).stderr
    )
    Path("by hand.csv").write_text("c, c,input.x,n,y\n", encoding="utf-8")
    assert "the column ' c' appears twice" in pesmo("import", "by hand.csv", code=2).stderr


def test_texts_of_a_trial_are_no_formulas(pesmo: Pesmo, study_file: Path) -> None:
    pesmo("ask")
    pesmo("fail", 1, "=HYPERLINK(1)")
    for words in (["export"], ["trials", "--csv"]):
        [row] = csv.DictReader(io.StringIO(pesmo(*words).stdout))
        assert row["trial.message"] == "'=HYPERLINK(1)"


def test_headings_name_the_kind_only_where_both_could_be_meant() -> None:
    assert headings(["x", "y", "input.z", "trial.id"], ["x", "a"]) == (
        ["input.x", "y", "input.input.z", "input.trial.id"],
        ["objective.x", "a"],
    )
    assert [written(t) for t in ("=1", "'", "-x", "1", "", "a")] == ["'=1", "''", "'-x", "1", "", "a"]


def test_a_long_cell_and_lone_line_ends_are_read(pesmo: Pesmo, study_file: Path) -> None:
    Path("data.csv").write_bytes(b"x,kind,a,who\r0.5,good,1," + b"w" * 200_000 + b"\r1.5,fine,2,\r")
    assert "added 2 of 2 rows" in pesmo("import", "data.csv").stdout
    Path("data.csv").write_bytes(b"x,kind,a\n0.5,go\xffod,1\n")
    assert "data.csv is not text in UTF-8 (byte 15)" in pesmo("import", "data.csv", code=2).stderr
