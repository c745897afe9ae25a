"""Runs that stop and go on, over one process or two, and the page made of their rows: all on tiny runs."""

import csv
import statistics
from pathlib import Path
from typing import Any

import pytest

from experiments import classic
from experiments.__main__ import main
from experiments.page import DOCS, write_page
from experiments.results import RESULTS, Results

TINY = ["classic", "--settings", "branin-currin", "--methods", "random", "pesmo-decoupled", "--problems", "2"]


def rows_of(root: Path, method: str) -> list[dict[str, str]]:
    with (root / "classic" / "branin-currin" / f"{method}.csv").open(newline="") as file:
        return sorted(csv.DictReader(file), key=lambda row: (int(row["number"]), int(row["evaluation"])))


def without_clocks(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{k: v for k, v in row.items() if k not in ("seconds", "batch")} for row in rows]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two problems, two methods, 6 starts and 1 coupled evaluation, scored at 6 and 7."""
    root = tmp_path_factory.mktemp("results")
    assert main([*TINY, "--evaluations", "7", "--every", "7", "--results", str(root)]) == 0
    return root


def test_a_row_per_run_and_evaluation(tiny: Path) -> None:
    coupled, decoupled = rows_of(tiny, "random"), rows_of(tiny, "pesmo-decoupled")
    assert [(r["number"], r["evaluation"]) for r in coupled] == [(str(n), str(e + 1)) for n in (0, 1) for e in range(7)]
    assert len(decoupled) == 2 * (6 + 2)
    assert all((r["f1"] == "") != (r["f2"] == "") for r in decoupled if int(r["evaluation"]) > 6)
    assert [r["spent"] for r in decoupled[6:8]] == ["6.5", "7.0"]
    assert [(r["mark"], r["score"] != "") for r in coupled if r["mark"]] == [("6", True), ("7", True)] * 2
    starts = [[(r["x1"], r["x2"], r["f1"], r["f2"]) for r in rows if int(r["evaluation"]) <= 6]
              for rows in (coupled, decoupled)]  # fmt: skip
    assert starts[0] == starts[1]


def test_batches_say_when_and_on_what_but_not_where(tiny: Path) -> None:
    (batch,) = Results(tiny).batches().values()
    assert set(batch) == {"batch", "date", "machine", "commit", "command"}
    assert str(tiny) not in str(batch)
    assert batch["command"].startswith("python -m experiments classic")


def test_processes_give_the_rows_that_one_process_gives(tiny: Path, tmp_path: Path) -> None:
    words = [*TINY, "--evaluations", "7", "--every", "7", "--results", str(tmp_path), "--jobs", "2"]
    assert main(words) == 0
    for method in ("random", "pesmo-decoupled"):
        assert without_clocks(rows_of(tmp_path, method)) == without_clocks(rows_of(tiny, method))


def test_a_run_goes_on_from_its_last_whole_row(tiny: Path, tmp_path: Path) -> None:
    words = [*TINY[:4], "random", "--problems", "1", "--every", "0", "--results", str(tmp_path)]
    words[2:4] = ["branin-currin", "--methods"]
    assert main([*words, "--evaluations", "7"]) == 0
    path = tmp_path / "classic" / "branin-currin" / "random.csv"
    path.write_text(path.read_text()[:-9])  # a kill in the middle of a row
    assert len(rows_of(tmp_path, "random")) == 7
    assert main([*words, "--evaluations", "8"]) == 0
    again = rows_of(tmp_path, "random")
    assert [int(row["evaluation"]) for row in again] == list(range(1, 9))
    assert [row["f1"] for row in again[:6]] == [row["f1"] for row in rows_of(tiny, "random")[:6]]
    assert {row["batch"] for row in again} == {"1", "2"}
    assert main([*words, "--evaluations", "8"]) == 0
    assert rows_of(tmp_path, "random") == again  # nothing is left to do, and nothing is done


def test_runs_of_another_folder_are_taken_over_once(tiny: Path, tmp_path: Path) -> None:
    here = Results(tmp_path)
    assert here.new_batch("python -m experiments something") == 1
    assert main(["gather", str(tiny), "--results", str(tmp_path)]) == 0
    assert without_clocks(rows_of(tmp_path, "random")) == without_clocks(rows_of(tiny, "random"))
    assert {row["batch"] for row in rows_of(tmp_path, "random")} == {"2"}
    assert here.batches()[2]["command"] == Results(tiny).batches()[1]["command"]
    assert here.gather(Results(tiny)) == 0


def test_only_a_run_that_goes_on_from_ours_replaces_it(tiny: Path, tmp_path: Path) -> None:
    here = Results(tmp_path)
    here.gather(Results(tiny))
    path = tmp_path / "classic" / "branin-currin" / "random.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:4]) + "\n")
    assert here.gather(Results(tiny)) == 2  # the first run goes on, the second is missing
    path.write_text("\n".join(lines[:4]).replace("0.", "0.9") + "\n")
    assert here.gather(Results(tiny)) == 1  # the first one was done differently since


def test_what_cannot_run_is_left_out_aloud(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["classic", "--settings", "zdt1", "--methods", "nonesuch", "--results", str(tmp_path)]
    assert main(words) == 0
    assert "zdt1 nonesuch is left out: no method of this pesmo is called 'nonesuch'" in capsys.readouterr().err


def test_two_commands_do_not_write_at_once(tmp_path: Path) -> None:
    with Results(tmp_path).writing(), pytest.raises(RuntimeError, match="another command writes"):
        main([*TINY, "--results", str(tmp_path)])


def test_every_number_of_the_page_comes_from_the_rows(tiny: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(classic, "EVALUATIONS", 7)
    monkeypatch.setattr(classic, "NUMBERS", 2)
    page = write_page(Results(tiny), tmp_path).read_text()
    assert (tmp_path / "experiments" / "classic.png").stat().st_size > 1000
    for method in ("random", "pesmo-decoupled"):
        scores = [float(r["score"]) for r in rows_of(tiny, method) if r["mark"] == "7"]
        error = statistics.stdev(scores) / 2**0.5
        cell = f"{statistics.mean(scores):.2f} ± {error:.2f}".replace("-", "\u2212")
        line = next(line for line in page.splitlines() if line.startswith(f"| {method} |"))
        assert line.replace("**", "") == f"| {method} | {cell} (2) |"
    assert "branin-currin: Not complete: of 2 runs, pesmo 0" in page
    total = sum(len(rows_of(tiny, method)) for method in ("random", "pesmo-decoupled"))
    assert page.rstrip().endswith(f"| {total} |")


def test_the_page_in_the_docs_is_the_one_its_rows_give(tmp_path: Path) -> None:
    assert write_page(Results(RESULTS), tmp_path).read_text() == (DOCS / "experiments.md").read_text(), (
        "docs/experiments.md is out of date: run `python -m experiments report`"
    )
    for figure in (tmp_path / "experiments").glob("*.png"):
        assert (DOCS / "experiments" / figure.name).exists()
