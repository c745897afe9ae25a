"""What people look at: tables, pictures, and the report. Drawing packages are imported when something is drawn."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pesmo.report.data import Snapshot
    from pesmo.study import Study

FIGURE_NAMES = ("front", "pairs", "progress", "evaluations", "sensitivity", "slices")


def save(name: str, study: "Study | Snapshot", path: str | Path) -> Path:
    """Write one of FIGURE_NAMES to a PNG, SVG or PDF file (needs pesmo[plot])."""
    from pesmo.report.plots import save

    return save(name, study, path)


def write_report(study: "Study", path: str | Path) -> Path:
    """Write the report of a study: one HTML file that needs nothing else."""
    from pesmo.report.page import write_report

    return write_report(study, path)
