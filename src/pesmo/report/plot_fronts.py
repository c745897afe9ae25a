"""The front in matplotlib: 2-D with error bars, 3-D, parallel axes for more, and every pair."""

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from pesmo.front import Front
from pesmo.report.axes import colours, new_figure, plain, scale_objective, tidy
from pesmo.report.data import Tried, near, parallel_axes
from pesmo.report.style import (
    BAND,
    ERROR,
    INK,
    MAIN,
    MOST_PAIRED,
    MUTED,
    PALE,
    PROBABILITY,
    RAINBOW,
    RECOMMENDED,
    SEQUENTIAL,
    heading,
    label,
    with_unit,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_front(front: Front, tried: Tried | None = None) -> "Figure":
    """The recommended points, before the points tried where those are given."""
    k = len(front.objectives)
    if k == 1:
        return _one(front, tried)
    if k == 3:
        return _cube(front, tried)
    if k > 3:
        return _parallel(front)
    figure = new_figure(6.4, 4.6, heading("front"))
    marks = _pair(figure.add_subplot(), front, tried, 0, 1, legend=True)
    figure.colorbar(marks, label=PROBABILITY, aspect=40)
    return figure


def plot_pairs(front: Front, tried: Tried | None = None) -> "Figure":
    """Every pair of the first objectives."""
    if len(front.objectives) == 1:
        return plot_front(front, tried)
    chosen = list(combinations(range(min(len(front.objectives), MOST_PAIRED)), 2))
    columns = min(3, len(chosen))
    rows = -(-len(chosen) // columns)
    figure = new_figure(3.7 * columns + 0.8, 3.2 * rows + 0.4, heading("pairs"))
    grid = figure.subplots(rows, columns, squeeze=False)
    marks = [_pair(a, front, tried, i, j, legend=i + j == 1) for a, (i, j) in zip(grid.flat, chosen, strict=False)]
    for axes in grid.flat[len(chosen) :]:
        axes.set_visible(False)
    figure.colorbar(marks[0], ax=grid, label=PROBABILITY, aspect=40, shrink=max(0.35, 1.0 / rows), anchor=(0.0, 1.0))
    return figure


def _one(front: Front, tried: Tried | None) -> "Figure":
    """One objective: the best value expected, and what was measured."""
    (objective,) = front.objectives
    figure = new_figure(6.4, 3.6, heading("front"))
    axes = figure.add_subplot()
    mean, sd = float(front.means[0, 0]), float(front.sds[0, 0])
    axes.axhspan(mean - sd, mean + sd, color=MAIN, alpha=0.15, linewidth=0)
    axes.axhline(mean, color=MAIN, label="best expected ± one sd")
    if tried is not None:
        count = tried.values.shape[0]
        axes.scatter(np.arange(1, count + 1), tried.values[:, 0], s=18, color=PALE, edgecolor=MUTED, label="measured")
        scale_objective(axes.yaxis, objective, tried.values[:, 0])
    axes.set_xlabel("point")
    axes.set_ylabel(plain(label(objective)))
    axes.legend(frameon=False, fontsize=9)
    tidy(axes)
    return figure


def _pair(axes: Any, front: Front, tried: Tried | None, i: int, j: int, legend: bool) -> Any:
    """Objective j against objective i: points tried behind, the front with one sd each way before them."""
    if tried is not None:
        whole = np.all(tried.measured[:, [i, j]], axis=1)
        for chosen, name, face in ((whole, "measured", PALE), (~whole, "tried, partly predicted", "none")):
            if np.any(chosen):
                x, y = tried.values[chosen, i], tried.values[chosen, j]
                axes.scatter(x, y, s=12, facecolor=face, edgecolor=PALE, label=name)
    x, y, sx, sy = front.means[:, i], front.means[:, j], front.sds[:, i], front.sds[:, j]
    axes.errorbar(x, y, xerr=sx, yerr=sy, fmt="none", ecolor=ERROR, elinewidth=0.9, zorder=2)
    shades = {"c": front.probability, "cmap": colours(SEQUENTIAL), "vmin": 0, "vmax": 1}
    marks = axes.scatter(x, y, s=32, edgecolor="white", linewidth=0.7, zorder=3, **shades)
    axes.scatter([], [], s=32, color=MAIN, label=RECOMMENDED)
    for k, axis, limit in ((i, axes.xaxis, axes.set_xlim), (j, axes.yaxis, axes.set_ylim)):
        others = front.means[:, k] if tried is None else tried.values[:, k]
        span = near(front.objectives[k], front.means[:, k], front.sds[:, k], others)
        scale_objective(axis, front.objectives[k], np.array(span))
        limit(*span)
    axes.set_xlabel(plain(label(front.objectives[i])))
    axes.set_ylabel(plain(label(front.objectives[j])))
    if legend:
        axes.legend(frameon=False, fontsize=8)
    tidy(axes)
    return marks


def _cube(front: Front, tried: Tried | None) -> "Figure":
    figure = new_figure(7.0, 5.8, heading("front"))
    axes: Any = figure.add_subplot(projection="3d")
    shown = [_linear(front, k, front.means[:, k]) for k in range(3)]
    others = front.means if tried is None else tried.values
    spans = [near(o, front.means[:, k], front.sds[:, k], others[:, k]) for k, o in enumerate(front.objectives)]
    inside = np.all([(others[:, k] >= low) & (others[:, k] <= high) for k, (low, high) in enumerate(spans)], axis=0)
    if tried is not None:
        axes.scatter(*[_linear(front, k, others[inside, k]) for k in range(3)], s=6, color=MUTED, label="tried")
    for k in range(3):
        ends = [front.means[:, k] + sign * front.sds[:, k] for sign in (-1.0, 1.0)]
        if front.objectives[k].transform == "log":
            ends[0] = np.maximum(ends[0], 0.3 * front.means[:, k])
        for n in range(len(front)):
            line = [[shown[a][n]] * 2 if a != k else [float(_linear(front, k, e[n])) for e in ends] for a in range(3)]
            axes.plot(*line, color=ERROR, alpha=0.5, linewidth=0.9)
    shades = {"c": front.probability, "cmap": colours(SEQUENTIAL), "vmin": 0, "vmax": 1}
    marks = axes.scatter(*shown, s=30, edgecolor="white", linewidth=0.6, depthshade=False, **shades)
    for k, name in enumerate("xyz"):
        log = "log10 of " if front.objectives[k].transform == "log" else ""
        low, high = (float(_linear(front, k, np.array(end))) for end in spans[k])
        axes.set(**{f"{name}label": log + plain(label(front.objectives[k])), f"{name}lim": (low, high)})
        getattr(axes, f"{name}axis").pane.set_facecolor("white")
    axes.view_init(elev=22, azim=45)
    axes.set_box_aspect(None, zoom=0.85)  # room for the labels
    figure.colorbar(marks, label=PROBABILITY, shrink=0.65, pad=0.12, aspect=30)
    return figure


def _linear(front: Front, k: int, values: np.ndarray) -> np.ndarray:
    """matplotlib has no logarithmic axes in 3-D: the logarithm is drawn instead."""
    return np.log10(values) if front.objectives[k].transform == "log" else values


def _parallel(front: Front) -> "Figure":
    """One vertical axis per objective, the better end below; each line moved sideways a little for its bars."""
    scaled, bars, ends = parallel_axes(front)
    count, k = scaled.shape
    first = front.means[:, 0]
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    shade = ScalarMappable(Normalize(float(np.min(first)), float(np.max(first))), colours(RAINBOW))
    figure = new_figure(max(6.4, 1.9 * k), 4.6, heading("front"))
    axes = figure.add_subplot()
    for x, (best, worst) in enumerate(ends):
        axes.fill_between([x - 0.1, x + 0.1], 0.0, 1.0, color=BAND, linewidth=0)
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0}
        for y, text, side in ((-0.05, best, "top"), (1.05, worst, "bottom")):
            axes.text(x, y, text, ha="center", va=side, fontsize=9, color=INK, bbox=box, zorder=5)
    for n, line in enumerate(scaled):
        x = np.arange(k) + 0.16 * (n / max(1, count - 1) - 0.5)
        tone = {"color": shade.to_rgba(first[n]), "alpha": 0.25 + 0.7 * float(front.probability[n])}
        axes.errorbar(x, line, yerr=bars[n], linewidth=1.0, elinewidth=0.8, marker="o", markersize=2.5, **tone)
    axes.set_xticks(range(k), [plain(label(o)).replace(" (", "\n(") for o in front.objectives])
    axes.set_xlim(-0.3, k - 0.7)
    axes.set_ylim(-0.15, 1.15)
    axes.set_yticks([])
    axes.set_ylabel("← better      worse →")
    axes.tick_params(length=0, labelsize=9)
    axes.spines[:].set_visible(False)
    figure.colorbar(shade, ax=axes, label=plain(with_unit(front.objectives[0])), aspect=40)
    return figure
