"""The figures, interactive: plotly. `FIGURES[name](study)` gives one; each takes a study or a Snapshot of it."""

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pesmo.problem import Objective
from pesmo.report.canvas import axis, colour_axis, finish, log_axis
from pesmo.report.data import Slice, Snapshot
from pesmo.report.fronts import front, pairs
from pesmo.report.style import HEAT, INK, MAIN, MUTED, PANELS, colour, heading, number, with_unit
from pesmo.study import Study


def progress(study: Study | Snapshot) -> go.Figure:
    """Hypervolume over evaluations and over cost."""
    p = Snapshot.of(study).progress
    figure = make_subplots(1, 2, shared_yaxes=True, horizontal_spacing=0.04)
    curves = [(p.predicted, "recommended front", {"color": MAIN, "width": 2.5}, "lines+markers")]
    if p.measured is not None:
        curves.append((p.measured, "measured points alone", {"color": MUTED, "dash": "dot", "width": 2}, "lines"))
    for column, x in ((1, p.evaluations), (2, p.cost)):
        for y, name, line, mode in curves:
            figure.add_scatter(
                x=x,
                y=y,
                name=name,
                legendgroup=name,
                showlegend=column == 1,
                mode=mode,
                line=line,
                marker={"size": 5},
                hovertemplate="%{x}: %{y:.1%}<extra>" + name + "</extra>",
                row=1,
                col=column,
            )
    figure.update_yaxes(tickformat=".0%")
    figure.update_yaxes(title="hypervolume, share of today's", col=1)
    figure.update_xaxes(title="evaluations", rangemode="tozero", col=1)
    figure.update_xaxes(title="cost spent", rangemode="tozero", col=2)
    return finish(figure, heading("progress"), 420)


def evaluations(study: Study | Snapshot) -> go.Figure:
    """Runs of each experiment over the evaluations, and the gain each was expected to give."""
    s = Snapshot.of(study)
    figure = make_subplots(1, 2, horizontal_spacing=0.1)
    for i, experiment in enumerate(s.study.experiments):
        name = escape(experiment.name)
        mine = np.array([t.experiment == experiment.name for t in s.finished], bool)
        figure.add_scatter(
            x=np.arange(len(mine) + 1),
            y=np.concatenate([[0], np.cumsum(mine)]),
            name=name,
            legendgroup=name,
            mode="lines",
            line={"color": colour(i), "width": 2.5},
            hovertemplate=f"%{{y}} runs of {name} among the first %{{x}}<extra></extra>",
            row=1,
            col=1,
        )
        asked = [(n, t) for n, t in enumerate(s.finished, start=1) if t.experiment == experiment.name]
        asked = [(n, t) for n, t in asked if t.gain is not None]
        symbols = ["circle" if t.state == "complete" else "x" for _, t in asked]
        figure.add_scatter(
            x=[n for n, _ in asked],
            y=[t.gain for _, t in asked],
            name=name,
            legendgroup=name,
            showlegend=False,
            mode="markers",
            marker={"color": colour(i), "size": 7, "symbol": symbols, "opacity": 0.85},
            text=[f"trial {t.id}, {name}, cost {number(t.cost)}, {t.state}" for _, t in asked],
            hovertemplate="%{text}<br>expected %{y:.3f} nats<extra></extra>",
            row=1,
            col=2,
        )
    figure.update_xaxes(title="evaluations", rangemode="tozero")
    figure.update_yaxes(title="runs so far", rangemode="tozero", col=1)
    figure.update_yaxes(title="expected gain in nats", rangemode="tozero", col=2)
    return finish(figure, heading("evaluations"), 420)


def sensitivity(study: Study | Snapshot) -> go.Figure:
    """Two heat maps, objectives by inputs: main effects, and length-scales."""
    s = Snapshot.of(study)
    found = s.sensitivity
    figure = make_subplots(1, 2, shared_yaxes=True, horizontal_spacing=0.04, subplot_titles=PANELS)
    names, rows = [escape(n) for n in found.inputs], [escape(o.name) for o in s.objectives]
    for column, shares in ((1, found.effect), (2, found.relevance)):
        figure.add_heatmap(
            z=shares,
            x=names,
            y=rows,
            coloraxis="coloraxis",
            xgap=3,
            ygap=3,
            text=[["" if np.isnan(v) else f"{v:.0%}" for v in row] for row in shares],
            texttemplate="%{text}",
            hovertemplate="%{y} along %{x}: %{text}<extra></extra>",
            row=1,
            col=column,
        )
    figure.update_layout(coloraxis=colour_axis(HEAT, "share", 0, 1, ".0%", max(110, 46 * len(rows))))
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category", col=1)
    figure.update_yaxes(showgrid=False, type="category", col=2)
    figure.update_xaxes(showgrid=False, type="category")
    return finish(figure, heading("sensitivity"), 150 + max(110, 46 * len(rows)))


def slices(study: Study | Snapshot, input: str | None = None, at: dict[str, Any] | None = None) -> go.Figure:
    """Posterior and alpha along one input, or along those that matter most, through `at` or a recommended point."""
    s = Snapshot.of(study)
    _, found = s.slices(input, at)
    k = len(s.objectives)
    wide, high = min(0.03, 0.3 / len(found)), 0.1 / (k + 1)
    figure = make_subplots(
        k + 1, len(found), shared_xaxes=True, shared_yaxes=True, horizontal_spacing=wide, vertical_spacing=high
    )
    for column, cut in enumerate(found, start=1):
        for row, objective in enumerate(s.objectives, start=1):
            _add_slice(figure, cut, objective, row, column)
            figure.add_scatter(
                x=_shown(cut),
                y=cut.alpha[:, row - 1],
                name=escape(objective.name),
                legendgroup=f"objective {row}",
                showlegend=column == 1,
                mode="lines+markers" if cut.words else "lines",
                line={"color": colour(row - 1), "width": 2},
                hovertemplate="%{x}: %{y:.3f} nats<extra>measuring " + escape(objective.name) + "</extra>",
                row=k + 1,
                col=column,
            )
        figure.update_xaxes(title=escape(cut.name), row=k + 1, col=column)
        if cut.words:
            figure.update_xaxes(type="category", col=column)
        if cut.log:
            figure.update_xaxes(**log_axis(cut.values[0], cut.values[-1]), col=column)
    for row, objective in enumerate(s.objectives, start=1):
        shown = [v[:, row - 1] for c in found for v in (c.prediction.low, c.prediction.high, c.average)]
        figure.update_yaxes(**axis(objective, *shown), row=row)
        figure.update_yaxes(title=escape(with_unit(objective)), row=row, col=1)
    figure.update_yaxes(rangemode="tozero", row=k + 1)
    figure.update_yaxes(title="gain in nats", row=k + 1, col=1)
    return finish(figure, heading("slices"), 130 + 180 * (k + 1))


FIGURES: dict[str, Callable[[Study | Snapshot], go.Figure]] = {
    "front": front,
    "pairs": pairs,
    "progress": progress,
    "evaluations": evaluations,
    "sensitivity": sensitivity,
    "slices": slices,
}


def _shown(cut: Slice) -> list[Any]:
    return [escape(str(v)) for v in cut.values] if cut.words else cut.values


def _add_slice(figure: go.Figure, cut: Slice, objective: Objective, row: int, column: int) -> None:
    """One panel: prediction with a band (or bars, along options), the average, and where the point is."""
    k, x = row - 1, _shown(cut)
    low, mean, high = cut.prediction.low[:, k], cut.prediction.mean[:, k], cut.prediction.high[:, k]
    hover = "%{x}: %{y:.4g}<extra>" + escape(objective.name) + "</extra>"
    shared: dict[str, Any] = {"legendgroup": f"objective {row}", "showlegend": False, "row": row, "col": column}
    if cut.words:
        bars = {"type": "data", "symmetric": False, "array": high - mean, "arrayminus": mean - low, "color": colour(k)}
        mark = {"color": colour(k), "size": 9}
        figure.add_scatter(x=x, y=mean, error_y=bars, mode="markers", marker=mark, hovertemplate=hover, **shared)
        dash = {"color": MUTED, "size": 14, "symbol": "line-ew-open"}
        figure.add_scatter(x=x, y=cut.average[:, k], mode="markers", marker=dash, hovertemplate=hover, **shared)
    else:
        band = {"fill": "toself", "fillcolor": colour(k), "line": {"width": 0}, "opacity": 0.22, "hoverinfo": "skip"}
        figure.add_scatter(x=[*x, *x[::-1]], y=[*high, *low[::-1]], mode="lines", **band, **shared)
        line = {"color": colour(k), "width": 2.5}
        figure.add_scatter(x=x, y=mean, mode="lines", line=line, hovertemplate=hover, **shared)
        dash = {"color": MUTED, "width": 1.5, "dash": "dash"}
        figure.add_scatter(x=x, y=cut.average[:, k], mode="lines", line=dash, hovertemplate=hover, **shared)
    here = {"color": "white", "size": 9, "line": {"color": INK, "width": 2}}
    y = mean[cut.nearest]
    figure.add_scatter(x=[x[cut.nearest]], y=[y], mode="markers", marker=here, hoverinfo="skip", **shared)
