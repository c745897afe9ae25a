"""The front for plotly.js: over trials for one objective, 2-D, 3-D, parallel axes for more, and every pair."""

from itertools import combinations

import numpy as np

from pesmo.report.canvas import (
    Canvas,
    Spec,
    axis,
    colour_axis,
    error,
    finish,
    limits,
    named,
    note,
    point_text,
    shades,
    words,
)
from pesmo.report.data import Snapshot, near, parallel_axes
from pesmo.report.style import (
    BAND,
    FAINT,
    INK,
    MAIN,
    MOST_PAIRED,
    MUTED,
    PALE,
    PROBABILITY,
    RAINBOW,
    RECOMMENDED,
    SEQUENTIAL,
    SOFT,
    heading,
    label,
    number,
    with_unit,
)
from pesmo.study import Study

NO_LINE = {"width": 0}


def front(study: Study | Snapshot) -> Spec:
    """The recommended points: values over trials for one objective, 2-D, 3-D, parallel axes for more."""
    s = Snapshot.of(study)
    draw = {1: _over_trials, 2: _plane, 3: _cube}.get(len(s.objectives), _parallel)
    return draw(s)


def pairs(study: Study | Snapshot) -> Spec:
    """Every pair of the first objectives, in two dimensions each."""
    s = Snapshot.of(study)
    if len(s.objectives) == 1:
        return front(s)
    chosen = list(combinations(range(min(len(s.objectives), MOST_PAIRED)), 2))
    columns = min(3, len(chosen))
    rows = -(-len(chosen) // columns)
    canvas = Canvas(rows, columns, wide=0.09, high=0.27 / rows)
    for position, (i, j) in enumerate(chosen):
        _add_pair(canvas, s, i, j, position // columns, position % columns)
    for empty in range(len(chosen), rows * columns):
        canvas.x[empty // columns][empty % columns]["visible"] = False
        canvas.y[empty // columns][empty % columns]["visible"] = False
    return canvas.finish(heading("pairs"), 100 + 330 * rows)


def _over_trials(s: Snapshot) -> Spec:
    """One objective: what was measured, trial by trial, and the best value expected."""
    (objective,) = s.objectives
    told = [t for t in s.trials if objective.name in t.values]
    values = [t.values[objective.name] for t in told]
    mean, sd = float(s.front.means[0, 0]), float(s.front.sds[0, 0])
    canvas = Canvas()
    across = {"xref": "x domain", "x0": 0, "x1": 1}
    canvas.layout["shapes"] = [
        {
            "type": "rect",
            **across,
            "y0": mean - sd,
            "y1": mean + sd,
            "fillcolor": MAIN,
            "opacity": 0.15,
            "line": NO_LINE,
        },
        {"type": "line", **across, "y0": mean, "y1": mean, "line": {"color": MAIN, "width": 2}},
    ]
    best = f"best expected: {number(mean)} ± {number(sd, 2)}"
    canvas.layout["annotations"] = [note(1, mean, best, xref="x domain", xanchor="right", yanchor="bottom")]
    canvas.add(
        "scatter",
        x=[t.id for t in told],
        y=values,
        mode="markers",
        name="measured",
        marker={"color": PALE, "size": 8, "line": {"color": MUTED, "width": 1}},
        text=[point_text(t.inputs) for t in told],
        hovertemplate="trial %{x}: %{y}<br>%{text}<extra></extra>",
    )
    canvas.x[0][0] |= named("trial")
    canvas.y[0][0] |= {**named(words(label(objective))), **axis(objective, np.array(values))}
    return canvas.finish(heading("front"), 440)


def _plane(s: Snapshot) -> Spec:
    canvas = Canvas()
    _add_pair(canvas, s, 0, 1, 0, 0)
    return canvas.finish(heading("front"), 540)


def _add_pair(canvas: Canvas, s: Snapshot, i: int, j: int, row: int, column: int) -> None:
    """Objective j against objective i: points tried behind, the front with error bars before them."""
    tried, found = s.tried, s.front
    first = row == column == 0
    whole = np.all(tried.measured[:, [i, j]], axis=1)
    for chosen, name, symbol in ((whole, "measured", "circle"), (~whole, "tried, partly predicted", "circle-open")):
        if np.any(chosen):
            canvas.add(
                "scatter",
                row,
                column,
                x=tried.values[chosen, i],
                y=tried.values[chosen, j],
                mode="markers",
                name=name,
                legendgroup=name,
                showlegend=first,
                marker={"color": PALE, "size": 6, "symbol": symbol},
                text=[point_text(tried.inputs[n]) for n in np.flatnonzero(chosen)],
                hovertemplate="%{text}<br>%{x:.4g}, %{y:.4g}<extra>" + name + "</extra>",
            )
    canvas.add(
        "scatter",
        row,
        column,
        x=found.means[:, i],
        y=found.means[:, j],
        mode="markers",
        legendgroup="front",
        showlegend=False,
        error_x=error(found.sds[:, i]),
        error_y=error(found.sds[:, j]),
        marker={**_sureness(s), "size": 10},
        text=_texts(s),
        hovertemplate="%{text}<extra></extra>",
    )
    if first:
        canvas.add("scatter", x=[None], y=[None], **_legend_mark())
        canvas.layout["coloraxis"] = _sure(300 if len(s.objectives) > 2 else 400)
    for k, settings in ((i, canvas.x[row][column]), (j, canvas.y[row][column])):
        settings.update({**named(words(label(s.objectives[k]))), **_near(s, k)})


def _near(s: Snapshot, k: int) -> Spec:
    """The scale and range of objective k's axis: around the front."""
    objective = s.objectives[k]
    span = near(objective, s.front.means[:, k], s.front.sds[:, k], s.tried.values[:, k])
    return {"range": limits(objective, span), **axis(objective, np.array(span))}


def _cube(s: Snapshot) -> Spec:
    tried, found = s.tried, s.front
    behind = {
        "mode": "markers",
        "name": "tried",
        "marker": {"color": MUTED, "size": 3},
        "text": [point_text(p) for p in tried.inputs],
        "hovertemplate": "%{text}<br>%{x:.4g}, %{y:.4g}, %{z:.4g}<extra>tried</extra>",
    }
    before = {
        "mode": "markers",
        "showlegend": False,
        "marker": {**_sureness(s), "size": 5},
        "text": _texts(s),
        "hovertemplate": "%{text}<extra></extra>",
    }
    scene: Spec = {"aspectmode": "cube"}
    scene["camera"] = {"eye": {"x": 1.5, "y": 1.5, "z": 0.8}, "center": {"x": 0, "y": 0, "z": -0.12}}
    for k, (name, objective) in enumerate(zip("xyz", s.objectives, strict=True)):
        behind[name], before[name] = tried.values[:, k], found.means[:, k]
        before[f"error_{name}"] = {"array": found.sds[:, k], "thickness": 2, "width": 0, "color": FAINT}
        title = {"text": label(objective)}  # drawn by WebGL, which knows no entities
        look = {"backgroundcolor": SOFT, "showbackground": True, "gridcolor": "#d5dce3", "gridwidth": 2}
        scene[f"{name}axis"] = {"title": title, **_near(s, k), **look, "zeroline": False, "ticks": ""}
    mark = {"x": [None], "y": [None], "z": [None], **_legend_mark()}
    traces = [{"type": "scatter3d", **trace} for trace in (behind, before, mark)]
    return finish(traces, {"scene": scene, "coloraxis": _sure(400)}, heading("front"), 640)


def _parallel(s: Snapshot) -> Spec:
    """One vertical axis per objective, the better end below; a line per recommended point, its sd as a bar.

    Each line is moved sideways a little, so that the bars stand beside each other; its colour is its place on the first
    objective, and the less sure it is to be Pareto-optimal, the fainter it is.
    """
    scaled, bars, ends = parallel_axes(s.front)
    count, k = scaled.shape
    first = s.front.means[:, 0]
    low, high = float(np.min(first)), float(np.max(first))
    colours = shades(RAINBOW, (first - low) / ((high - low) or 1.0))
    texts = _texts(s)
    canvas = Canvas()
    band = {"type": "rect", "y0": 0, "y1": 1, "fillcolor": BAND, "line": NO_LINE, "layer": "below"}
    for x, (best, worst) in enumerate(ends):
        canvas.layout["shapes"].append({**band, "x0": x - 0.1, "x1": x + 0.1})
        for y, text, anchor in ((-0.08, best, "top"), (1.08, worst, "bottom")):
            style = {"yanchor": anchor, "font": {"size": 12}, "bgcolor": "white", "opacity": 0.9}
            canvas.layout["annotations"].append(note(x, y, text, **style))
    for n, line in enumerate(scaled):
        canvas.add(
            "scatter",
            x=np.arange(k) + 0.16 * (n / max(1, count - 1) - 0.5),
            y=line,
            mode="lines+markers",
            showlegend=False,
            opacity=0.25 + 0.7 * float(s.front.probability[n]),
            line={"color": colours[n], "width": 1.5},
            marker={"color": colours[n], "size": 5},
            error_y={"array": bars[n], "color": colours[n], "thickness": 1, "width": 0},
            text=[texts[n]] * k,
            hovertemplate="%{text}<extra></extra>",
        )
    bar = {"color": [low], "coloraxis": "coloraxis", "opacity": 0}
    canvas.add("scatter", x=[0], y=[0], mode="markers", marker=bar, showlegend=False, hoverinfo="skip")  # has the bar
    canvas.layout["coloraxis"] = colour_axis(RAINBOW, words(with_unit(s.objectives[0])), low, high, "", 400)
    names = [words(label(o)).replace(" (", "<br>(") for o in s.objectives]
    bare = {"showgrid": False, "showline": False}
    canvas.x[0][0] |= {"tickvals": list(range(k)), "ticktext": names, "range": [-0.3, k - 0.7], **bare}
    canvas.y[0][0] |= {"showticklabels": False, "range": [-0.22, 1.22], **bare, **named("← better      worse →")}
    return canvas.finish(heading("front"), 540)


def _legend_mark() -> Spec:
    """An empty trace: marks coloured by probability have no colour of their own in a legend."""
    marker = {"color": MAIN, "size": 10, "line": {"color": INK, "width": 0}}
    return {"mode": "markers", "name": RECOMMENDED, "legendgroup": "front", "marker": marker}


def _sureness(s: Snapshot) -> Spec:
    """Marks coloured by the probability of being Pareto-optimal."""
    return {"color": s.front.probability, "coloraxis": "coloraxis", "line": {"color": "white", "width": 1}}


def _sure(size: int) -> Spec:
    return colour_axis(SEQUENTIAL, PROBABILITY, 0, 1, ".0%", size)


def _texts(s: Snapshot) -> list[str]:
    """What one reads when the mouse is over a recommended point."""
    texts = []
    for n, inputs in enumerate(s.front.inputs):
        pairs = zip(s.objectives, s.front.means[n].tolist(), s.front.sds[n].tolist(), strict=True)
        lines = [f"<b>{words(with_unit(o))}</b> = {number(mean)} ± {number(sd, 2)}" for o, mean, sd in pairs]
        texts.append("<br>".join([*lines, point_text(inputs), f"Pareto-optimal with {s.front.probability[n]:.0%}"]))
    return texts
