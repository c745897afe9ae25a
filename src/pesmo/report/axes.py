"""What all matplotlib figures share: the optional package, scales, and names that are data, not formulas."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pesmo.errors import PesmoError
from pesmo.problem import Objective
from pesmo.report.style import GRID, INK, MUTED, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 200


def new_figure(width: float, height: float, title: str) -> "Figure":
    """An empty figure in inches, drawn without a display."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PesmoError("plots need matplotlib; install it with: pip install 'pesmo[plot]'") from error
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title, color=INK, fontsize=12)
    return figure


def write(figure: "Figure", path: str | Path) -> Path:
    """Save a figure; the ending says the format."""
    target = Path(path)
    known = sorted(figure.canvas.get_supported_filetypes())
    if target.suffix.lstrip(".").lower() not in known:
        raise PesmoError(f"cannot write a picture to {str(target)!r}: its ending must be one of {known}")
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=DPI)
    return target


def plain(text: str) -> str:
    """A text without formulas: matplotlib reads what is between two $ as one."""
    return text.replace("$", r"\$")


def tidy(axes: Any) -> None:
    """A light grid, no box."""
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=MUTED, labelcolor=INK, labelsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(MUTED)


def log_scale(axis: Any, low: float, high: float) -> None:
    """A logarithmic x or y axis for values from low to high, with plain numbers at few places."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_locator(LogLocator(subs=(1.0,) if high / max(low, 1e-300) > 30 else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(float(value), 3)))
    axis.set_minor_formatter(NullFormatter())


def scale_objective(axis: Any, objective: Objective, *values: np.ndarray) -> None:
    """Logarithmic where the objective is modelled so."""
    if objective.transform == "log":
        log_scale(axis, min(float(np.min(v)) for v in values), max(float(np.max(v)) for v in values))


def colours(names: tuple[str, ...]) -> Any:
    """A colour map from the first to the last of the colours."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("pesmo", list(names))
