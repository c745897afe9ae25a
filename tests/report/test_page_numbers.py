"""The numbers and texts of the report's cards and tables, against the study that they are of."""

import html
import re

import pytest

import pesmo
from pesmo.report import page
from pesmo.report.data import Snapshot
from pesmo.report.style import caption, number

Table = list[list[str]]


def tables(text: str) -> list[Table]:
    """The texts of all cells, a list a row."""
    rows = [re.findall(r"<tr>(.*?)</tr>", t, re.S) for t in re.findall(r"<table>(.*?)</table>", text, re.S)]
    return [
        [[plain(c) for c in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S)] for row in table] for table in rows
    ]


def plain(cell: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", cell))


def exact(text: str) -> list[list[str]]:
    """What a table is sorted by, a list a row."""
    return [re.findall(r'data-value="([^"]*)"', row) for row in re.findall(r"<tr>(.*?)</tr>", text, re.S)][1:]


@pytest.fixture(scope="module")
def text(lab) -> str:
    """The report without its scripts."""
    return re.sub(r"<script.*?</script>", "", page.render(lab), flags=re.S)


def section(text: str, name: str) -> str:
    (found,) = re.findall(rf'<section id="{name}">(.*?)</section>', text, re.S)
    return found


def test_cards_count_points_evaluations_and_cost(lab, snapshot, text: str) -> None:
    ended = [t for t in lab.trials if t.state in ("complete", "failed") and t.note != "added"]
    pairs = re.findall(r"<div class=card><b>(.*?)</b><span>(.*?)</span></div>", text)
    assert pairs == [
        (number(len(snapshot.front)), "recommended points"),
        ("14", "evaluations"),
        (number(sum(t.cost for t in ended)), "cost spent"),
        ("1", "running"),
        ("1", "failed"),
        ("2", "added by hand"),
    ]
    assert sum(t.cost for t in ended) == pytest.approx(
        sum(1.0 + t.inputs["n"] if t.experiment == "break" else 5.5 if t.id == 9 else 4.0 for t in ended)
    )


def test_the_head_says_what_is_looked_for(text: str) -> None:
    assert "<h1>laboratory</h1>" in text
    assert "Minimize cost in €, maximize purity, maximize strength in N; method pesmo, seed 3." in html.unescape(text)


def test_recommended_points_have_mean_sd_and_probability(snapshot, text: str) -> None:
    part = section(text, "front")
    (table,) = tables(part)
    head, *rows = table
    assert head == ["x", "rate", "n", "c", "cost in €", "purity", "strength in N", "Pareto-optimal"]
    front = snapshot.front
    assert len(rows) == len(front)
    for n, (row, sorted_by) in enumerate(zip(rows, exact(part), strict=True)):
        point = front.to_dicts()[n]
        values = [f"{number(point['objectives'][o], 4)} ± {number(point['sd'][o], 2)}" for o in point["sd"]]
        assert row == [*[number(v) for v in point["inputs"].values()], *values, f"{point['probability']:.0%}"]
        floats = [float(v) for v in sorted_by]
        numeric = [point["inputs"][name] for name in ("x", "rate", "n")]
        assert floats[:-1] == [*numeric, *point["objectives"].values()]  # every digit: sorting is by these
        assert floats[-1] == pytest.approx(point["probability"], abs=6e-4)


def test_the_budget_by_experiment(lab, text: str) -> None:
    (table,) = tables(section(text, "evaluations"))
    head, *rows = table
    assert head == ["experiment", "reveals", "runs", "failed", "cost", "share"]
    ended = [t for t in lab.trials if t.state in ("complete", "failed") and t.note != "added"]
    total = sum(t.cost for t in ended)
    for row, experiment in zip(rows, lab.experiments, strict=True):
        mine = [t for t in ended if t.experiment == experiment.name]
        cost = sum(t.cost for t in mine)
        failed = sum(t.state == "failed" for t in mine)
        expected = [experiment.name, ", ".join(experiment.reveals), str(len(mine)), str(failed), number(cost)]
        assert row == [*expected, f"{cost / total:.0%}"]
    assert sum(int(row[3]) for row in rows) == 1


def test_the_problem_as_it_was_defined(text: str) -> None:
    inputs, objectives = tables(section(text, "problem"))
    assert inputs[1:] == [
        ["x", "float", "-1 to 3"],
        ["rate", "float, log scale", "0.001 to 1"],
        ["n", "int", "1 to 5"],
        ["c", "choice", "tin, iron, gold"],
    ]
    assert objectives == [
        ["objective", "unit", "goal", "transform", "depends on", "noise"],
        ["cost", "€", "minimize", "log", "all inputs", "learned"],
        ["purity", "", "maximize", "logit", "c, x", "learned"],
        ["strength", "N", "maximize", "", "all inputs", "2"],
    ]


def test_every_trial_with_its_values_cost_gain_and_message(lab, text: str) -> None:
    (table,) = tables(section(text, "trials"))
    head, *rows = table
    assert head[:3] == ["trial", "experiment", "state"]
    assert head[-3:] == ["cost", "gain", "note"]
    assert len(rows) == len(lab.trials) == 17
    for row, trial in zip(rows, lab.trials, strict=True):
        values = [number(trial.values[o.name]) if o.name in trial.values else "" for o in lab.objectives]
        gain = "" if trial.gain is None else number(trial.gain)
        inputs = [number(v) for v in trial.inputs.values()]
        ending = [number(trial.cost), gain, trial.message or trial.note or ""]
        assert row == [str(trial.id), trial.experiment, trial.state, *inputs, *values, *ending]
    assert rows[6][-1] == "the oven went out"
    assert sum(row[-2] != "" for row in rows) >= 2
    assert 'class="failed">failed' in text


def test_the_point_of_the_slices_is_said(snapshot, text: str) -> None:
    said = ", ".join(f"{name} = {number(value)}" for name, value in snapshot.compromise.items())
    assert f"The point: {said}." in html.unescape(section(text, "slices"))


def test_columns_of_numbers_are_marked_and_those_of_words_are_not(text: str) -> None:
    head = section(text, "front").split("</thead>")[0]
    marked = [plain(name) for name in re.findall(r"<th scope=\"col\" class=n>(.*?)</th>", head)]
    assert marked == ["x", "rate", "n", "cost in €", "purity", "strength in N", "Pareto-optimal"]


def test_pairs_are_in_the_report_from_three_objectives_on(text: str) -> None:
    assert "The trade-offs, two objectives at a time" in section(text, "front")
    study = pesmo.Study(pesmo.Space(x=pesmo.Float(0, 1)), ["a", "b"], seed=0)
    for x in (0.1, 0.9):
        study.add({"x": x}, {"a": x, "b": -x})
    assert "two objectives at a time" not in page._front(Snapshot(study))
    assert caption("front", 1) != caption("front", 2) == caption("front", 3) != caption("front", 4)
    assert caption("pairs", 4) == caption("pairs", 2)


def test_every_section_says_what_is_missing_before_there_is_a_value_of_everything() -> None:
    study = pesmo.Study(pesmo.Space(x=pesmo.Float(0, 1)), ["a", "b", "c"], seed=0)
    study.add({"x": 0.5}, {"a": 1.0})
    text = re.sub(r"<script.*?</script>", "", page.render(study), flags=re.S)
    for name in ("front", "progress", "sensitivity", "slices"):
        assert "&#x27;b&#x27; has no value" in section(text, name)
        assert "The point:" not in section(text, name)
    assert ">None<" not in text
    assert "<span>recommended points</span>" not in text
