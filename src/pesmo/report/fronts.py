"""The front in plotly: over trials for one objective, 2-D, 3-D, parallel axes for more, and every pair."""

from html import escape
from itertools import combinations
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale
from plotly.subplots import make_subplots

from pesmo.report.canvas import axis, colour_axis, error, finish, limits, point_text, scale
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


def front(study: Study | Snapshot) -> go.Figure:
    """The recommended points: values over trials for one objective, 2-D, 3-D, parallel axes for more."""
    s = Snapshot.of(study)
    draw, height = {1: (_over_trials, 440), 2: (_plane, 540), 3: (_cube, 640)}.get(len(s.objectives), (_parallel, 540))
    return finish(draw(s), heading("front"), height)


def pairs(study: Study | Snapshot) -> go.Figure:
    """Every pair of the first objectives, in two dimensions each."""
    s = Snapshot.of(study)
    if len(s.objectives) == 1:
        return front(s)
    chosen = list(combinations(range(min(len(s.objectives), MOST_PAIRED)), 2))
    columns = min(3, len(chosen))
    rows = -(-len(chosen) // columns)
    figure = make_subplots(rows, columns, horizontal_spacing=0.09, vertical_spacing=0.27 / rows)
    for position, (i, j) in enumerate(chosen):
        _add_pair(figure, s, i, j, position // columns + 1, position % columns + 1)
    return finish(figure, heading("pairs"), 100 + 330 * rows)


def _over_trials(s: Snapshot) -> go.Figure:
    """One objective: what was measured, trial by trial, and the best value expected."""
    (objective,) = s.objectives
    told = [t for t in s.trials if objective.name in t.values]
    values = [t.values[objective.name] for t in told]
    mean, sd = float(s.front.means[0, 0]), float(s.front.sds[0, 0])
    figure = go.Figure()
    figure.add_hrect(y0=mean - sd, y1=mean + sd, fillcolor=MAIN, opacity=0.15, line_width=0)
    figure.add_hline(
        y=mean, line={"color": MAIN, "width": 2}, annotation_text=f"best expected: {number(mean)} ± {number(sd, 2)}"
    )
    figure.add_scatter(
        x=[t.id for t in told],
        y=values,
        mode="markers",
        name="measured",
        marker={"color": PALE, "size": 8, "line": {"color": MUTED, "width": 1}},
        text=[point_text(t.inputs) for t in told],
        hovertemplate="trial %{x}: %{y}<br>%{text}<extra></extra>",
    )
    figure.update_xaxes(title="trial")
    figure.update_yaxes(title=escape(label(objective)), **axis(objective, np.array(values)))
    return figure


def _plane(s: Snapshot) -> go.Figure:
    figure = make_subplots(1, 1)
    _add_pair(figure, s, 0, 1, 1, 1)
    return figure


def _add_pair(figure: go.Figure, s: Snapshot, i: int, j: int, row: int, column: int) -> None:
    """Objective j against objective i: points tried behind, the front with error bars before them."""
    tried, found = s.tried, s.front
    place: dict[str, Any] = {"row": row, "col": column}
    first = row == column == 1
    whole = np.all(tried.measured[:, [i, j]], axis=1)
    for chosen, name, symbol in ((whole, "measured", "circle"), (~whole, "tried, partly predicted", "circle-open")):
        if np.any(chosen):
            figure.add_scatter(
                x=tried.values[chosen, i],
                y=tried.values[chosen, j],
                mode="markers",
                name=name,
                legendgroup=name,
                showlegend=first,
                marker={"color": PALE, "size": 6, "symbol": symbol},
                text=[point_text(tried.inputs[n]) for n in np.flatnonzero(chosen)],
                hovertemplate="%{text}<br>%{x:.4g}, %{y:.4g}<extra>" + name + "</extra>",
                **place,
            )
    figure.add_scatter(
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
        **place,
    )
    if first:
        figure.add_scatter(x=[None], y=[None], **_legend_mark(), **place)
        figure.update_layout(coloraxis=_sure(300 if len(s.objectives) > 2 else 400))
    for k, update in ((i, figure.update_xaxes), (j, figure.update_yaxes)):
        objective = s.objectives[k]
        span = near(objective, found.means[:, k], found.sds[:, k], tried.values[:, k])
        update(
            title=escape(label(objective)), range=limits(objective, span), **axis(objective, np.array(span)), **place
        )


def _cube(s: Snapshot) -> go.Figure:
    tried, found = s.tried, s.front
    figure = go.Figure()
    figure.add_scatter3d(
        x=tried.values[:, 0],
        y=tried.values[:, 1],
        z=tried.values[:, 2],
        mode="markers",
        name="tried",
        marker={"color": MUTED, "size": 3},
        text=[point_text(p) for p in tried.inputs],
        hovertemplate="%{text}<br>%{x:.4g}, %{y:.4g}, %{z:.4g}<extra>tried</extra>",
    )
    bars = {
        f"error_{a}": {"array": found.sds[:, k], "thickness": 2, "width": 0, "color": FAINT}
        for k, a in enumerate("xyz")
    }
    figure.add_scatter3d(
        x=found.means[:, 0],
        y=found.means[:, 1],
        z=found.means[:, 2],
        mode="markers",
        showlegend=False,
        marker={**_sureness(s), "size": 5},
        text=_texts(s),
        hovertemplate="%{text}<extra></extra>",
        **bars,
    )
    figure.add_scatter3d(x=[None], y=[None], z=[None], **_legend_mark())
    axes = {}
    for k, (name, objective) in enumerate(zip("xyz", s.objectives, strict=True)):
        span = near(objective, found.means[:, k], found.sds[:, k], tried.values[:, k])
        axes[f"{name}axis"] = {
            "title": {"text": label(objective)},  # drawn by WebGL, which knows no entities
            "range": limits(objective, span),
            **axis(objective, np.array(span)),
            "backgroundcolor": SOFT,
            "gridcolor": "#d5dce3",
            "showbackground": True,
            "zeroline": False,
        }
    camera = {"eye": {"x": 1.5, "y": 1.5, "z": 0.8}, "center": {"x": 0, "y": 0, "z": -0.12}}
    figure.update_layout(scene={**axes, "camera": camera, "aspectmode": "cube"}, coloraxis=_sure(400))
    return figure


def _parallel(s: Snapshot) -> go.Figure:
    """One vertical axis per objective, the better end below; a line per recommended point, its sd as a bar.

    Each line is moved sideways a little, so that the bars stand beside each other; its colour is its place on the first
    objective, and the less sure it is to be Pareto-optimal, the fainter it is.
    """
    scaled, bars, ends = parallel_axes(s.front)
    count, k = scaled.shape
    first = s.front.means[:, 0]
    low, high = float(np.min(first)), float(np.max(first))
    shades = sample_colorscale(scale(RAINBOW), ((first - low) / ((high - low) or 1.0)).tolist())
    texts = _texts(s)
    figure = go.Figure()
    for x, (best, worst) in enumerate(ends):
        band = {"fillcolor": BAND, "line_width": 0, "layer": "below"}
        figure.add_shape(type="rect", x0=x - 0.1, x1=x + 0.1, y0=0, y1=1, **band)
        for y, text, anchor in ((-0.08, best, "top"), (1.08, worst, "bottom")):
            style = {"showarrow": False, "yanchor": anchor, "font": {"size": 12}, "bgcolor": "white", "opacity": 0.9}
            figure.add_annotation(x=x, y=y, text=text, **style)
    for n, line in enumerate(scaled):
        figure.add_scatter(
            x=np.arange(k) + 0.16 * (n / max(1, count - 1) - 0.5),
            y=line,
            mode="lines+markers",
            showlegend=False,
            opacity=0.25 + 0.7 * float(s.front.probability[n]),
            line={"color": shades[n], "width": 1.5},
            marker={"color": shades[n], "size": 5},
            error_y={"array": bars[n], "color": shades[n], "thickness": 1, "width": 0},
            text=[texts[n]] * k,
            hovertemplate="%{text}<extra></extra>",
        )
    bar = {"color": [low], "coloraxis": "coloraxis", "opacity": 0}
    figure.add_scatter(x=[0], y=[0], mode="markers", marker=bar, showlegend=False, hoverinfo="skip")  # carries the bar
    figure.update_layout(coloraxis=colour_axis(RAINBOW, escape(with_unit(s.objectives[0])), low, high, "", 400))
    names = [escape(label(o)).replace(" (", "<br>(") for o in s.objectives]
    figure.update_xaxes(tickvals=list(range(k)), ticktext=names, showgrid=False, range=[-0.3, k - 0.7], showline=False)
    figure.update_yaxes(
        showticklabels=False, showgrid=False, range=[-0.22, 1.22], showline=False, title="← better      worse →"
    )
    return figure


def _legend_mark() -> dict[str, Any]:
    """An empty trace: marks coloured by probability have no colour of their own in a legend."""
    marker = {"color": MAIN, "size": 10, "line": {"color": INK, "width": 0}}
    return {"mode": "markers", "name": RECOMMENDED, "legendgroup": "front", "marker": marker}


def _sureness(s: Snapshot) -> dict[str, Any]:
    """Marks coloured by the probability of being Pareto-optimal."""
    return {"color": s.front.probability, "coloraxis": "coloraxis", "line": {"color": "white", "width": 1}}


def _sure(size: int) -> dict[str, Any]:
    return colour_axis(SEQUENTIAL, PROBABILITY, 0, 1, ".0%", size)


def _texts(s: Snapshot) -> list[str]:
    """What one reads when the mouse is over a recommended point."""
    texts = []
    for n, inputs in enumerate(s.front.inputs):
        pairs = zip(s.objectives, s.front.means[n].tolist(), s.front.sds[n].tolist(), strict=True)
        lines = [f"<b>{escape(with_unit(o))}</b> = {number(mean)} ± {number(sd, 2)}" for o, mean, sd in pairs]
        texts.append("<br>".join([*lines, point_text(inputs), f"Pareto-optimal with {s.front.probability[n]:.0%}"]))
    return texts
