"""The report had a button that sends its data to a cloud, and whatever plotly.js the build happened to find."""

import re
import tomllib
from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).parents[2]


def asset(name: str) -> str:
    return (files("pesmo.report") / name).read_text(encoding="utf-8")


def test_the_plotly_js_of_the_report_is_the_one_that_the_build_names() -> None:
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    assert any(re.fullmatch(r"plotly==\d+\.\d+\.\d+", one) for one in requires)  # one version, no range
    (named,) = re.findall(r'^VERSION = "(.+)"', (ROOT / "hatch_build.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert asset("plotly.min.js")[:200].splitlines()[1] == f"* plotly.js v{named}"


def test_no_button_sends_the_data_anywhere() -> None:
    assert "showSendToCloud" in asset("plotly.min.js")  # plotly.js still has such a setting, and so a button
    (config,) = re.findall(r"const config = (\{.+?\});", asset("page.js"), re.DOTALL)
    assert "showSendToCloud: false" in config
