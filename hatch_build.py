"""Puts plotly.js into the wheel: the report needs it, but not the Python package around it, which is 15 times its size.

It is taken from the package `plotly` that the build requires, with the text of its licence. Editable installs run this
too, so the files lie beside the report's own in a checkout; git ignores them.
"""

import shutil
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = {"plotly/package_data/plotly.min.js": "plotly.min.js", "licenses/LICENSE.txt": "plotly.LICENSE.txt"}


VERSION = "4.1.1"  # of plotly.js, as in the version of the package plotly that pyproject.toml names


class PlotlyHook(BuildHookInterface):
    """Runs before each wheel is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        for ending, name in FILES.items():
            (source,) = [f for f in distribution("plotly").files or [] if str(f).endswith(ending)]
            if name.endswith(".js") and f"plotly.js v{VERSION}\n" not in _start(Path(str(source.locate()))):
                raise ValueError(
                    f"{source} is not plotly.js {VERSION}: change VERSION, or the plotly of pyproject.toml"
                )
            target = f"src/pesmo/report/{name}"
            shutil.copyfile(source.locate(), Path(self.root, target))
            build_data["artifacts"].append(target)


def _start(path: Path) -> str:
    """The banner of a script."""
    with path.open(encoding="utf-8") as script:
        return script.read(200)
