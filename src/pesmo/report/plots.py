"""Pictures with matplotlib (the extra pesmo[plot])."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pesmo.errors import PesmoError
from pesmo.front import Front

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOUR, PALE, INK = "#0b6e99", "#9ecae1", "#333333"


def plot_front(front: Front, path: str | Path | None = None) -> "Figure":
    """The front: a line with error bars for one or two objectives, a grid of pairs for three, parallel axes beyond."""
    figure_class = _figure_class()
    k = len(front.objectives)
    if k <= 2:
        figure = figure_class(figsize=(6.4, 4.6), layout="constrained")
        _pair(figure.add_subplot(), front, 0, k - 1)
    elif k == 3:
        figure = figure_class(figsize=(12.0, 4.2), layout="constrained")
        for position, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
            _pair(figure.add_subplot(1, 3, position + 1), front, i, j)
    else:
        figure = figure_class(figsize=(max(6.4, 1.6 * k), 4.6), layout="constrained")
        _parallel(figure.add_subplot(), front)
    figure.suptitle(f"Recommended trade-offs ({len(front)} points)", color=INK)
    if path is not None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150)
    return figure


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PesmoError("plots need matplotlib; install it with: pip install 'pesmo[plot]'") from error
    return Figure


def _label(front: Front, k: int) -> str:
    objective = front.objectives[k]
    return f"{objective.name} ({objective.goal})"


def _pair(axes: Any, front: Front, i: int, j: int) -> None:
    """Objective j against objective i, one sd each way, colour by the probability of being Pareto-optimal."""
    x, y = front.means[:, i], front.means[:, j]
    axes.errorbar(x, y, xerr=front.sds[:, i], yerr=front.sds[:, j], fmt="none", ecolor=PALE, elinewidth=1, zorder=1)
    points = axes.scatter(x, y, c=front.probability, cmap="viridis", vmin=0, vmax=1, s=28, edgecolor="white", zorder=2)
    axes.set_xlabel(_label(front, i))
    axes.set_ylabel(_label(front, j))
    axes.grid(color="#eeeeee", zorder=0)
    axes.set_axisbelow(True)
    for objective, scale in ((front.objectives[i], axes.set_xscale), (front.objectives[j], axes.set_yscale)):
        if objective.transform == "log":
            scale("log")
    axes.figure.colorbar(points, ax=axes, label="probability of being Pareto-optimal")


def _parallel(axes: Any, front: Front) -> None:
    """One vertical axis per objective, scaled to the front's range; the better end is below."""
    k = len(front.objectives)
    sign = np.array([-1.0 if o.goal == "maximize" else 1.0 for o in front.objectives])
    values = front.means * sign
    low, high = values.min(axis=0), values.max(axis=0)
    scaled = (values - low) / np.where(high > low, high - low, 1.0)
    for row, probability in zip(scaled, front.probability, strict=True):
        axes.plot(range(k), row, color=COLOUR, alpha=0.15 + 0.75 * float(probability), linewidth=1.2)
    for x in range(k):
        axes.axvline(x, color=INK, linewidth=0.8)
        best, worst = front.means[np.argmin(scaled[:, x]), x], front.means[np.argmax(scaled[:, x]), x]
        axes.annotate(f"{best:.3g}", (x, -0.04), ha="center", va="top", fontsize=8)
        axes.annotate(f"{worst:.3g}", (x, 1.04), ha="center", va="bottom", fontsize=8)
    axes.set_xticks(range(k), [_label(front, i) for i in range(k)], rotation=15, ha="right")
    axes.set_ylim(-0.12, 1.12)
    axes.set_yticks([])
    axes.set_ylabel("better  ←    →  worse")
    for side in ("top", "right", "bottom", "left"):
        axes.spines[side].set_visible(False)
