"""What all plotly figures share: the look, texts that are data, axes."""

import math
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from pesmo.problem import Objective
from pesmo.report.style import ERROR, FONT, GRID, INK, PALE, number


def finish(figure: go.Figure, heading: str, height: int) -> go.Figure:
    """Fonts, margins and grid lines of every figure."""
    figure.update_layout(
        template="plotly_white",
        height=height,
        title={"text": heading, "x": 0.01, "font": {"size": 18}},
        font={"family": FONT, "size": 13, "color": INK},
        margin={"l": 70, "r": 20, "t": 80, "b": 50},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "xanchor": "left"},
        hoverlabel={"bgcolor": "white", "font": {"family": FONT, "size": 12}, "align": "left"},
    )
    figure.update_xaxes(gridcolor=GRID, linecolor=PALE, zeroline=False, automargin=True, title_standoff=8)
    figure.update_yaxes(gridcolor=GRID, linecolor=PALE, zeroline=False, automargin=True, title_standoff=8)
    return figure


def point_text(inputs: dict[str, Any]) -> str:
    """A point, one input a line. plotly reads a little HTML in its texts, so names and values are escaped."""
    return "<br>".join(f"{escape(name)} = {escape(number(value))}" for name, value in inputs.items())


def axis(objective: Objective, *values: np.ndarray) -> dict[str, Any]:
    """The scale of an objective's axis that shows `values`: logarithmic where the objective is modelled so."""
    if objective.transform != "log":
        return {"type": "linear"}
    return log_axis(min(float(np.min(v)) for v in values), max(float(np.max(v)) for v in values))


def log_axis(low: float, high: float) -> dict[str, Any]:
    """A logarithmic axis for values from low to high: powers of ten, with 2 and 5 between them where these are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if high / low <= 30 else (1,)
    every = max(1, (last - first) // 8)
    ticks = [float(f"{step}e{power}") for power in range(first, last + 1, every) for step in steps]
    return {"type": "log", "tickvals": ticks, "ticktext": [number(t) for t in ticks]}


def limits(objective: Objective, span: tuple[float, float]) -> list[float]:
    """The range of an axis as plotly wants it: exponents on a logarithmic one."""
    return [math.log10(v) for v in span] if objective.transform == "log" else list(span)


def error(sd: np.ndarray) -> dict[str, Any]:
    return {"array": sd, "color": ERROR, "thickness": 1.2, "width": 0}


def scale(colours: tuple[str, ...]) -> list[list[Any]]:
    """A colour scale from the first to the last of the colours."""
    return [[i / (len(colours) - 1), c] for i, c in enumerate(colours)]


def colour_axis(colours: tuple[str, ...], title: str, low: float, high: float, form: str, size: int) -> dict[str, Any]:
    """A colour scale with its bar, `size` pixels high."""
    bar = {"title": {"text": title, "side": "right"}, "tickformat": form, "thickness": 12, "outlinewidth": 0}
    place = {"lenmode": "pixels", "len": size, "y": 1, "yanchor": "top"}
    return {"colorscale": scale(colours), "cmin": low, "cmax": high, "colorbar": {**bar, **place}}
