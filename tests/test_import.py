"""`import pesmo` loads nothing heavy, and every public name is there when it is asked for."""

import subprocess
import sys

import pytest

import pesmo

HEAVY = ("numpy", "scipy", "moocore", "rich", "typer", "pydantic", "sqlalchemy", "plotly", "matplotlib")


@pytest.mark.parametrize("statement", ["import pesmo", "import pesmo.errors"])
def test_import_is_light(statement: str) -> None:
    code = f"{statement}; import sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_every_public_name_resolves_and_is_listed() -> None:
    for name in pesmo.__all__:
        assert getattr(pesmo, name) is not None
        assert name in dir(pesmo)


def test_an_unknown_name_is_an_attribute_error_that_lists_the_names() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Studie'.*Study"):
        pesmo.Studie  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]
