"""`import pesmo` loads nothing heavy, and every public name is there when it is asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

import pesmo

HEAVY = ("numpy", "scipy", "moocore", "rich", "typer", "pydantic", "sqlalchemy", "plotly", "matplotlib")


@pytest.mark.parametrize("statement", ["import pesmo", "import pesmo.errors"])
def test_import_is_light(statement: str) -> None:
    code = f"{statement}; import sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


STUDY_WITHOUT_EXTRAS = """
import sys
sys.modules |= dict.fromkeys(("scipy", "plotly", "matplotlib"))  # an import of one, or of a part of it, raises
import pesmo
space = pesmo.Space(x=pesmo.Float(0, 1), n=pesmo.Int(1, 3))
for method in ("pesmo", "parego", "smsego", "ehi", "sur", "pal", "nsga2", "random", "sobol"):
    study = pesmo.Study(space, ["a", "b"], method=method, seed=0)
    for x in (0.1, 0.3, 0.5, 0.7, 0.9):
        study.add({"x": x, "n": 2}, {"a": x, "b": (x - 0.6) ** 2})
    for _ in range(2):
        trial = study.ask()
        x = trial.inputs["x"]
        study.tell(trial, {"a": x, "b": (x - 0.6) ** 2})
    assert all("fallback" not in (trial.note or "") for trial in study.trials), method
study.recommend()
pesmo.report.write_report(study, sys.argv[1])
print("done")
"""


def test_a_study_and_its_report_need_neither_scipy_nor_plotly_nor_matplotlib(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STUDY_WITHOUT_EXTRAS, str(tmp_path / "report.html")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.stdout.strip(), done.stderr) == ("done", "")


def test_every_public_name_resolves_and_is_listed() -> None:
    for name in pesmo.__all__:
        assert getattr(pesmo, name) is not None
        assert name in dir(pesmo)


def test_an_unknown_name_is_an_attribute_error_that_lists_the_names() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Studie'.*Study"):
        pesmo.Studie  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]
