"""ask, tell, fail, import, export: a study by hand, from file or storage, as text and as JSON."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Pesmo

pytestmark = pytest.mark.usefixtures("study_file")


def trials(pesmo: Pesmo) -> list[dict]:
    return json.loads(pesmo("trials", "--json").stdout)


def test_ask_says_what_to_do_and_tell_takes_it(pesmo: Pesmo) -> None:
    said = pesmo("ask", "study.toml").stdout
    assert "Trial 1: run 'both' (cost 1) at" in said
    assert "Then: pesmo tell study.toml 1 a=… b=…" in said
    assert pesmo("tell", "study.toml", 1, "a=1e-3", "b=-2").stdout == "trial 1 (both) is complete: a = 0.001, b = -2\n"
    assert "Trial 2" in pesmo("ask").stdout
    assert pesmo("fail", 2, "no", "flour").stdout == "trial 2 (both) is failed: no flour\n"
    assert [(t["state"], t["values"], t["message"]) for t in trials(pesmo)] == [
        ("complete", {"a": 0.001, "b": -2.0}, None),
        ("failed", {}, "no flour"),
    ]


def test_json_in_and_out(pesmo: Pesmo) -> None:
    first = json.loads(pesmo("ask", "--json").stdout)
    assert (first["id"], first["experiment"], first["reveals"], first["state"]) == (1, "both", ["a", "b"], "running")
    assert set(first["inputs"]) == {"x", "kind"}
    batch = json.loads(pesmo("ask", "-n", 2, "--json", "--storage", "study.db").stdout)
    assert [t["id"] for t in batch] == [2, 3]
    told = json.loads(pesmo("tell", 1, '{"a": 1, "b": 2}', "--json").stdout)
    assert (told["state"], told["values"]) == ("complete", {"a": 1.0, "b": 2.0})
    pesmo("tell", "study.db", 2, "-", stdin='{"a": 3, "b": 4, "cost": 7.5}')
    assert trials(pesmo)[1]["cost"] == 7.5
    assert json.loads(pesmo("fail", 3, "--json").stdout)["state"] == "failed"


def test_a_result_is_told_once(pesmo: Pesmo) -> None:
    pesmo("ask")
    pesmo("tell", 1, "a=1", "b=2")
    pesmo("tell", 1, "a=1", "b=2")
    assert "trial 1 was already told" in pesmo("tell", 1, "a=1", "b=3", code=2).stderr
    assert "cannot fail now" in pesmo("fail", 1, code=2).stderr


WRONG = [
    (["1", "a"], "'a' is not NAME=VALUE; write it as in: pesmo tell study.toml 1 error=0.02"),
    (["1", "a=x", "b=1"], "'a' must be a number, not 'x'"),
    (["1", "a=1", "a=1"], "'a' is given twice"),
    (["1", "a=1"], "missing objective 'b'; expected exactly ['a', 'b']"),
    (["1", "a=nan", "b=1"], "objective 'a' must be a finite number"),
    (["1", "{a: 1}"], "the result is not a JSON object"),
    (["1", "-"], "the result is not a JSON object"),
    (["9", "a=1", "b=2"], "there is no trial 9 in this study; it has 1 trials"),
    (["study.toml"], "after the study comes the trial's number, and it is missing"),
    (["study.toml", "first"], "after the study comes the trial's number, not 'first'"),
    (
        ["--storage", "study.db", "study.toml", "1", "a=1", "b=2"],
        "give 'study.toml' or --storage 'study.db', not both",
    ),
    (["--study", "other", "1", "a=1", "b=2"], "--study belongs to a storage; study.toml names its study itself"),
    (
        ["study.db", "--study", "other", "1", "a=1", "b=2"],
        "no study is called 'other'; it has the studies ['study']",
    ),
    (["nowhere.db", "1", "a=1", "b=2"], "there is no file"),
    (["nowhere", "1", "a=1", "b=2"], "there is no study file or database 'nowhere'"),
    (["mysql://host/x", "1", "a=1", "b=2"], "mysql"),
]


def test_a_wrong_tell_says_what_is_wrong(pesmo: Pesmo) -> None:
    pesmo("ask")
    for words, message in WRONG:
        assert message in pesmo("tell", *words, code=2).stderr
    assert trials(pesmo)[0]["state"] == "running"


def test_a_study_that_has_not_begun_says_how_to_begin(pesmo: Pesmo) -> None:
    for command in ("status", "trials", "front", "export"):
        assert (
            "the study of study.toml has not begun: begin with `pesmo run study.toml`" in pesmo(command, code=2).stderr
        )
    assert not Path("study.db").exists()


def test_a_changed_file_shows_the_difference(pesmo: Pesmo, study_file: Path) -> None:
    pesmo("ask")
    study_file.write_text(study_file.read_text(encoding="utf-8").replace("high = 2", "high = 3"), encoding="utf-8")
    assert "input 'x': high is 3.0, stored is 2.0" in pesmo("ask", code=2).stderr
    pesmo("trials")  # looking is still possible


# ----------------------------------------------------------------------------------------------- import and export


def test_import_takes_partial_rows_once(pesmo: Pesmo, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text(
        "\ufeffx,kind,who,a,b\n0.5,good,Ann,1,2\n0.5,good,Bob,1,2\n1,fine,Ann,,3\n1.5,fine,Ann,,\n", encoding="utf-8"
    )
    said = pesmo("import", data).stdout
    assert said == "added 3 of 4 rows; 1 have no objective; columns left out: who\n"
    assert [(t["inputs"], t["values"]) for t in trials(pesmo)] == [
        ({"x": 0.5, "kind": "good"}, {"a": 1.0, "b": 2.0}),
        ({"x": 0.5, "kind": "good"}, {"a": 1.0, "b": 2.0}),
        ({"x": 1.0, "kind": "fine"}, {"b": 3.0}),
    ]
    assert "added 0 of 4 rows; 3 were there already" in pesmo("import", "study.toml", data).stdout
    data.write_text(data.read_text(encoding="utf-8") + "0,good,Cid,5,6\n", encoding="utf-8")
    assert json.loads(pesmo("import", data, "--json").stdout)["added"] == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,a\n1,2\n", "has no column for the inputs ['kind']; it has ['x', 'a']"),
        ("x,kind\n1,good\n", "has no column for any objective of ['a', 'b']"),
        ("x,kind,a\n1,good,2\n7,good,2\n", "line 3: input 'x' = 7.0 lies outside [-1.0, 2.0]"),
        ("x,kind,a\n1,good,low\n", "line 2: 'a' must be a number, not 'low'. Nothing was added"),
        ("x,kind,a\n1,great,2\n", "line 2: input 'kind' = 'great' is not one of ['good', 'fine']"),
        ("x,kind,a\n1,good\n", "line 2: 2 cells, but the header has 3 columns"),
        ("x,x,kind,a\n", "the column 'x' appears twice"),
        ('x,kind,a\n1,"good,2\n', "line "),
        ("", "is empty; its first line must name the columns"),
    ],
)
def test_a_wrong_csv_adds_nothing(content: str, message: str, pesmo: Pesmo, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(content, encoding="utf-8")
    assert message in pesmo("import", "data.csv", code=2).stderr
    assert trials(pesmo) == []


def test_a_missing_csv_is_named(pesmo: Pesmo) -> None:
    assert "there is no file gone.csv" in pesmo("import", "gone.csv", code=2).stderr
    assert "which CSV file? Name it after the study" in pesmo("import", "study.toml", code=2).stderr
    assert "import takes a study and one CSV file" in pesmo("import", "study.toml", "a.csv", "b.csv", code=2).stderr


def test_what_is_exported_can_be_imported(pesmo: Pesmo, tmp_path: Path) -> None:
    pesmo("ask", "-n", 3)
    pesmo("tell", 1, "a=1", "b=2")
    pesmo("fail", 2, 'a "quoted"\nreason')
    exported = pesmo("export").stdout
    rows = list(csv.DictReader(io.StringIO(exported)))
    assert [row["trial.state"] for row in rows] == ["complete", "failed", "running"]
    assert rows[1]["trial.message"] == 'a "quoted"\nreason'
    assert (rows[0]["a"], rows[1]["a"]) == ("1.0", "")
    assert "3 trials" in pesmo("export", "-o", "out/all.csv").stdout
    assert Path("out/all.csv").read_text(encoding="utf-8") == exported == pesmo("trials", "--csv").stdout
    pesmo("export", "-o", "all.json")
    everything = json.loads(Path("all.json").read_text(encoding="utf-8"))
    assert (everything["name"], everything["method"], len(everything["trials"])) == ("study", "random", 3)
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    (fresh / "study.toml").write_bytes((tmp_path / "study.toml").read_bytes())
    assert pesmo("import", "fresh/study.toml", "out/all.csv").stdout == "added 1 of 3 rows; 2 have no objective\n"
    assert "export writes .csv or .json" in pesmo("export", "-o", "all.xls", code=2).stderr
    assert "cannot write" in pesmo("export", "-o", "all.json/x.csv", code=2).stderr
