"""The figures, interactive, for plotly.js. `FIGURES[name](study)` gives one; each takes a study or a Snapshot of it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pesmo.problem import Objective
from pesmo.report.canvas import Canvas, Spec, axis, colour_axis, log_axis, named, note, words
from pesmo.report.data import Slice, Snapshot
from pesmo.report.fronts import front, pairs
from pesmo.report.style import HEAT, INK, MAIN, MUTED, PANELS, colour, heading, number, with_unit
from pesmo.study import Study


def progress(study: Study | Snapshot) -> Spec:
    """Hypervolume over evaluations and over cost."""
    p = Snapshot.of(study).progress
    canvas = Canvas(1, 2, wide=0.04, share_y=True)
    curves = [(p.predicted, "recommended front", {"color": MAIN, "width": 2.5}, "lines+markers")]
    if p.measured is not None:
        curves.append((p.measured, "measured points alone", {"color": MUTED, "dash": "dot", "width": 2}, "lines"))
    for column, (x, title) in enumerate(((p.evaluations, "evaluations"), (p.cost, "cost spent"))):
        for y, name, line, mode in curves:
            canvas.add(
                "scatter",
                column=column,
                x=x,
                y=y,
                name=name,
                legendgroup=name,
                showlegend=column == 0,
                mode=mode,
                line=line,
                marker={"size": 5},
                hovertemplate="%{x}: %{y:.1%}<extra>" + name + "</extra>",
            )
        canvas.x[0][column] |= {"rangemode": "tozero", **named(title)}
        canvas.y[0][column] |= {"rangemode": "tozero", "tickformat": ".0%"}
    canvas.y[0][0] |= named("hypervolume, share of today's")
    return canvas.finish(heading("progress"), 420)


def evaluations(study: Study | Snapshot) -> Spec:
    """Runs of each experiment over the evaluations, and the gain each was expected to give."""
    s = Snapshot.of(study)
    canvas = Canvas(1, 2, wide=0.1)
    for i, experiment in enumerate(s.study.experiments):
        name = words(experiment.name)
        mine = np.array([t.experiment == experiment.name for t in s.finished], bool)
        canvas.add(
            "scatter",
            x=np.arange(len(mine) + 1),
            y=np.concatenate([[0], np.cumsum(mine)]),
            name=name,
            legendgroup=name,
            mode="lines",
            line={"color": colour(i), "width": 2.5},
            hovertemplate=f"%{{y}} runs of {name} among the first %{{x}}<extra></extra>",
        )
        asked = [(n, t) for n, t in enumerate(s.finished, start=1) if t.experiment == experiment.name]
        asked = [(n, t) for n, t in asked if t.gain is not None]
        symbols = ["circle" if t.state == "complete" else "x" for _, t in asked]
        canvas.add(
            "scatter",
            column=1,
            x=[n for n, _ in asked],
            y=[t.gain for _, t in asked],
            name=name,
            legendgroup=name,
            showlegend=False,
            mode="markers",
            marker={"color": colour(i), "size": 7, "symbol": symbols, "opacity": 0.85},
            text=[f"trial {t.id}, {name}, cost {number(t.cost)}, {t.state}" for _, t in asked],
            hovertemplate="%{text}<br>expected %{y:.3f} nats<extra></extra>",
        )
    for column, title in enumerate(("runs so far", "expected gain in nats")):
        canvas.x[0][column] |= {"rangemode": "tozero", **named("evaluations")}
        canvas.y[0][column] |= {"rangemode": "tozero", **named(title)}
    return canvas.finish(heading("evaluations"), 420)


def sensitivity(study: Study | Snapshot) -> Spec:
    """Two heat maps, objectives by inputs: main effects, and length-scales."""
    s = Snapshot.of(study)
    found = s.sensitivity
    canvas = Canvas(1, 2, wide=0.04, share_y=True)
    names, rows = [words(n) for n in found.inputs], [words(o.name) for o in s.objectives]
    for column, (title, shares) in enumerate(zip(PANELS, (found.effect, found.relevance), strict=True)):
        canvas.add(
            "heatmap",
            column=column,
            z=shares,
            x=names,
            y=rows,
            coloraxis="coloraxis",
            xgap=3,
            ygap=3,
            text=[["" if np.isnan(v) else f"{v:.0%}" for v in row] for row in shares],
            texttemplate="%{text}",
            hovertemplate="%{y} along %{x}: %{text}<extra></extra>",
        )
        canvas.x[0][column] |= {"showgrid": False, "type": "category"}
        canvas.y[0][column] |= {"showgrid": False, "type": "category"}
        place = {"xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom"}
        canvas.layout["annotations"].append(
            note(sum(canvas.x[0][column]["domain"]) / 2, 1.0, title, **place, font={"size": 16})
        )
    canvas.y[0][0]["autorange"] = "reversed"
    size = max(110, 46 * len(rows))
    canvas.layout["coloraxis"] = colour_axis(HEAT, "share", 0, 1, ".0%", size)
    return canvas.finish(heading("sensitivity"), 150 + size)


def slices(study: Study | Snapshot, input: str | None = None, at: dict[str, Any] | None = None) -> Spec:
    """Posterior and alpha along one input, or along those that matter most, through `at` or a recommended point."""
    s = Snapshot.of(study)
    _, found = s.slices(input, at)
    k = len(s.objectives)
    canvas = Canvas(k + 1, len(found), min(0.03, 0.3 / len(found)), 0.1 / (k + 1), share_x=True, share_y=True)
    for column, cut in enumerate(found):
        for row, objective in enumerate(s.objectives):
            _add_slice(canvas, cut, objective, row, column)
            canvas.add(
                "scatter",
                k,
                column,
                x=_shown(cut),
                y=cut.alpha[:, row],
                name=words(objective.name),
                legendgroup=f"objective {row}",
                showlegend=column == 0,
                mode="lines+markers" if cut.words else "lines",
                line={"color": colour(row), "width": 2},
                hovertemplate="%{x}: %{y:.3f} nats<extra>measuring " + words(objective.name) + "</extra>",
            )
        for line in canvas.x:
            line[column] |= _scale(cut)
        canvas.x[k][column] |= named(words(cut.name))
    for row, objective in enumerate(s.objectives):
        shown = [v[:, row] for c in found for v in (c.prediction.low, c.prediction.high, c.average)]
        for panel in canvas.y[row]:
            panel.update(axis(objective, *shown))
        canvas.y[row][0] |= named(words(with_unit(objective)))
    for panel in canvas.y[k]:
        panel["rangemode"] = "tozero"
    canvas.y[k][0] |= named("gain in nats")
    return canvas.finish(heading("slices"), 130 + 180 * (k + 1))


FIGURES: dict[str, Callable[[Study | Snapshot], Spec]] = {
    "front": front,
    "pairs": pairs,
    "progress": progress,
    "evaluations": evaluations,
    "sensitivity": sensitivity,
    "slices": slices,
}


def _shown(cut: Slice) -> list[Any]:
    return [words(str(v)) for v in cut.values] if cut.words else cut.values


def _scale(cut: Slice) -> Spec:
    """Of the axis along the input of a slice."""
    if cut.words:
        return {"type": "category"}
    return log_axis(cut.values[0], cut.values[-1]) if cut.log else {"type": "linear"}


def _add_slice(canvas: Canvas, cut: Slice, objective: Objective, row: int, column: int) -> None:
    """One panel: prediction with a band (or bars, along options), the average, and where the point is."""
    x = _shown(cut)
    low, mean, high = cut.prediction.low[:, row], cut.prediction.mean[:, row], cut.prediction.high[:, row]
    hover = "%{x}: %{y:.4g}<extra>" + words(objective.name) + "</extra>"
    group = {"legendgroup": f"objective {row}", "showlegend": False}

    def add(**trace: Any) -> None:
        canvas.add("scatter", row, column, **group, **trace)

    if cut.words:
        bars = {"type": "data", "symmetric": False, "array": high - mean, "arrayminus": mean - low}
        mark = {"color": colour(row), "size": 9}
        add(x=x, y=mean, error_y={**bars, "color": colour(row)}, mode="markers", marker=mark, hovertemplate=hover)
        dash = {"color": MUTED, "size": 14, "symbol": "line-ew-open"}
        add(x=x, y=cut.average[:, row], mode="markers", marker=dash, hovertemplate=hover)
    else:
        band = {"fill": "toself", "fillcolor": colour(row), "line": {"width": 0}, "opacity": 0.22, "hoverinfo": "skip"}
        add(x=[*x, *x[::-1]], y=[*high, *low[::-1]], mode="lines", **band)
        add(x=x, y=mean, mode="lines", line={"color": colour(row), "width": 2.5}, hovertemplate=hover)
        dash = {"color": MUTED, "width": 1.5, "dash": "dash"}
        add(x=x, y=cut.average[:, row], mode="lines", line=dash, hovertemplate=hover)
    here = {"color": "white", "size": 9, "line": {"color": INK, "width": 2}}
    add(x=[x[cut.nearest]], y=[mean[cut.nearest]], mode="markers", marker=here, hoverinfo="skip")
