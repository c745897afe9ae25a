"""What `make` installs is written down to the last version, and allowed by pyproject.toml."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {"demo": "plot", "bench": "bench", "test": "test"}


def pinned(name: str) -> dict[str, list[str]]:
    """{package: versions} of one file; some have a version for old Pythons and one for new ones."""
    found: dict[str, list[str]] = {}
    for line in (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith(("#", " ")):
            requirement = Requirement(line.rstrip(" \\"))
            (version,) = requirement.specifier
            assert version.operator == "==", line
            found.setdefault(canonicalize_name(requirement.name), []).append(version.version)
    return found


def wanted(extra: str) -> list[Requirement]:
    """The package's own requirements with those of an extra, extras of pesmo itself taken apart."""
    found = [Requirement(line) for line in PROJECT["dependencies"]]
    waiting = [extra]
    while waiting:
        for line in PROJECT["optional-dependencies"][waiting.pop()]:
            requirement = Requirement(line)
            if requirement.name == "pesmo":
                waiting += requirement.extras
            else:
                found.append(requirement)
    return found


@pytest.mark.parametrize("name", EXTRAS)
def test_every_requirement_is_pinned_to_a_version_that_pyproject_allows(name):
    versions = pinned(name)
    for requirement in wanted(EXTRAS[name]):
        chosen = versions[canonicalize_name(requirement.name)]
        assert all(requirement.specifier.contains(version) for version in chosen), (requirement, chosen)


@pytest.mark.parametrize("name", ["demo", "bench"])
def test_the_sets_agree_on_versions(name):
    everything = pinned("test")
    assert {package: everything[package] for package in pinned(name)} == pinned(name)


@pytest.mark.parametrize("name", EXTRAS)
def test_every_version_has_a_hash_and_no_address_is_named(name):
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[a-z0-9])", "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text


def test_no_requirement_of_users_is_open_to_a_next_major_version():
    for requirement in wanted("plot"):
        assert any(specifier.operator == "<" for specifier in requirement.specifier), requirement
