"""The figures for papers and slides: matplotlib (the extra pesmo[plot]), the same as those of the report."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pesmo.errors import PesmoError
from pesmo.report.axes import colours, log_scale, new_figure, plain, scale_objective, tidy, write
from pesmo.report.data import Slice, Snapshot
from pesmo.report.plot_fronts import plot_front, plot_pairs
from pesmo.report.style import HEAT, INK, MAIN, MUTED, PANELS, colour, heading, with_unit
from pesmo.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save(name: str, study: Study | Snapshot, path: str | Path) -> Path:
    """Write one of the figures to a file: PNG, SVG, PDF, as its ending says."""
    if name not in PLOTS:
        raise PesmoError(f"no figure is called {name!r}; there are {list(PLOTS)}")
    return write(PLOTS[name](study), path)


def front(study: Study | Snapshot) -> "Figure":
    s = Snapshot.of(study)
    return plot_front(s.front, s.tried)


def pairs(study: Study | Snapshot) -> "Figure":
    s = Snapshot.of(study)
    return plot_pairs(s.front, s.tried)


def progress(study: Study | Snapshot) -> "Figure":
    """Hypervolume over evaluations and over cost."""
    from matplotlib.ticker import PercentFormatter

    p = Snapshot.of(study).progress
    figure = new_figure(9.0, 3.6, heading("progress"))
    left = figure.add_subplot(1, 2, 1)
    right = figure.add_subplot(1, 2, 2, sharey=left)
    for axes, x, name in ((left, p.evaluations, "evaluations"), (right, p.cost, "cost spent")):
        axes.plot(x, p.predicted, color=MAIN, linewidth=1.8, marker="o", markersize=2.5, label="recommended front")
        if p.measured is not None:
            axes.plot(x, p.measured, color=MUTED, linestyle=":", label="measured points alone")
        axes.set_xlabel(name)
        axes.set_xlim(left=0)
        tidy(axes)
    left.set_ylabel("hypervolume, share of today's")
    left.set_ylim(bottom=0)
    left.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    left.legend(frameon=False, fontsize=9)
    return figure


def evaluations(study: Study | Snapshot) -> "Figure":
    """Runs of each experiment over the evaluations, and the gain each was expected to give."""
    s = Snapshot.of(study)
    figure = new_figure(9.0, 3.6, heading("evaluations"))
    left, right = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
    for i, experiment in enumerate(s.study.experiments):
        mine = np.array([t.experiment == experiment.name for t in s.finished], bool)
        runs = np.concatenate([[0], np.cumsum(mine)])
        left.plot(np.arange(runs.size), runs, color=colour(i), linewidth=1.8, label=plain(experiment.name))
        for good, marker in ((True, "o"), (False, "x")):
            asked = [
                (n, t.gain)
                for n, t in enumerate(s.finished, start=1)
                if t.experiment == experiment.name and t.gain is not None and (t.state == "complete") == good
            ]
            if asked:
                right.scatter(*zip(*asked, strict=True), color=colour(i), s=14, marker=marker)
    left.legend(frameon=False, fontsize=9)
    for axes, name in ((left, "runs so far"), (right, "expected gain in nats")):
        axes.set_xlabel("evaluations")
        axes.set_ylabel(name)
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        tidy(axes)
    return figure


def sensitivity(study: Study | Snapshot) -> "Figure":
    """Two heat maps, objectives by inputs: main effects, and length-scales."""
    s = Snapshot.of(study)
    found = s.sensitivity
    rows, columns = found.effect.shape
    figure = new_figure(max(7.0, 1.5 * columns + 2.5), 1.7 + 0.45 * rows, heading("sensitivity"))
    for position, (title, shares) in enumerate(zip(PANELS, (found.effect, found.relevance), strict=True), start=1):
        axes = figure.add_subplot(1, 2, position)
        axes.imshow(np.nan_to_num(shares), cmap=colours(HEAT), vmin=0, vmax=1, aspect="auto")
        axes.set_title(title, fontsize=10, color=INK)
        axes.set_xticks(range(columns), [plain(n) for n in found.inputs], rotation=20, ha="right")
        axes.set_yticks(range(rows), [plain(o.name) for o in s.objectives] if position == 1 else [""] * rows)
        for k, i in np.ndindex(rows, columns):
            if not np.isnan(shares[k, i]):
                ink = "white" if shares[k, i] > 0.7 else INK
                axes.text(i, k, f"{shares[k, i]:.0%}", ha="center", va="center", fontsize=9, color=ink)
        axes.set_xticks(np.arange(-0.5, columns), minor=True)
        axes.set_yticks(np.arange(-0.5, rows), minor=True)
        axes.grid(which="minor", color="white", linewidth=2)
        axes.tick_params(which="both", length=0)
        axes.spines[:].set_visible(False)
    return figure


def slices(study: Study | Snapshot, input: str | None = None, at: dict[str, Any] | None = None) -> "Figure":
    """Posterior and alpha along one input, or along those that matter most, through `at` or a recommended point."""
    s = Snapshot.of(study)
    _, found = s.slices(input, at)
    k = len(s.objectives)
    figure = new_figure(max(5.0, 2.1 * len(found) + 0.8), 1.5 * (k + 1) + 0.8, heading("slices"))
    grid = figure.subplots(k + 1, len(found), sharex="col", sharey="row", squeeze=False)
    for column, cut in enumerate(found):
        for row in range(k):
            _draw_slice(grid[row, column], cut, row)
            name = plain(s.objectives[row].name)
            style = {"color": colour(row), "linewidth": 1.5, "marker": "o" if cut.words else None, "markersize": 3}
            grid[k, column].plot(_shown(cut), cut.alpha[:, row], label=name, **style)
        grid[k, column].set_xlabel(plain(cut.name))
        if cut.log:
            log_scale(grid[k, column].xaxis, cut.values[0], cut.values[-1])
        if cut.words:
            grid[k, column].set_xlim(-0.5, len(cut.values) - 0.5)
    for row, objective in enumerate(s.objectives):
        grid[row, 0].set_ylabel(plain(with_unit(objective)))
        shown = [v[:, row] for c in found for v in (c.prediction.low, c.prediction.high, c.average)]
        scale_objective(grid[row, 0].yaxis, objective, *shown)
    grid[k, 0].set_ylabel("gain in nats")
    grid[k, 0].set_ylim(bottom=0)
    handles, names = grid[k, 0].get_legend_handles_labels()
    figure.legend(handles, names, frameon=False, fontsize=9, ncols=k, loc="outside lower center")
    for axes in grid.flat:
        tidy(axes)
    return figure


def _shown(cut: Slice) -> list[Any]:
    return [plain(str(v)) for v in cut.values] if cut.words else cut.values


def _draw_slice(axes: Any, cut: Slice, k: int) -> None:
    """One panel: prediction with a band (or bars, along options), the average, and where the point is."""
    x = _shown(cut)
    low, mean, high = cut.prediction.low[:, k], cut.prediction.mean[:, k], cut.prediction.high[:, k]
    if cut.words:
        axes.errorbar(x, mean, yerr=[mean - low, high - mean], fmt="o", color=colour(k), markersize=5)
        axes.scatter(x, cut.average[:, k], marker="_", s=120, color=MUTED)
    else:
        axes.fill_between(x, low, high, color=colour(k), alpha=0.22, linewidth=0)
        axes.plot(x, mean, color=colour(k), linewidth=1.8)
        axes.plot(x, cut.average[:, k], color=MUTED, linewidth=1.2, linestyle="--")
    here = {"color": "white", "markeredgecolor": INK, "markeredgewidth": 1.5, "zorder": 5}
    axes.plot([x[cut.nearest]], [mean[cut.nearest]], "o", **here)


PLOTS: dict[str, Callable[[Study | Snapshot], "Figure"]] = {
    "front": front,
    "pairs": pairs,
    "progress": progress,
    "evaluations": evaluations,
    "sensitivity": sensitivity,
    "slices": slices,
}
