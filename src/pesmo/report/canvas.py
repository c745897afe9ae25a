"""What all interactive figures share: a canvas of panels, the look, texts that are data, axes.

A figure is a plain dict of `data` and `layout`, as plotly.js reads it: the report draws it without any Python package.
"""

import math
from html import escape
from typing import Any

import numpy as np

from pesmo.problem import Objective
from pesmo.report.style import ERROR, FONT, GRID, INK, PALE, number

Spec = dict[str, Any]
AXIS = {"gridcolor": GRID, "linecolor": PALE, "ticks": "", "zeroline": False, "automargin": True}
LOOK: Spec = {
    "font": {"family": FONT, "size": 13, "color": INK},
    "paper_bgcolor": "white",
    "plot_bgcolor": "white",
    "margin": {"l": 70, "r": 20, "t": 80, "b": 50},
    "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "xanchor": "left"},
    "hovermode": "closest",
    "hoverlabel": {"bgcolor": "white", "font": {"family": FONT, "size": 12}, "align": "left"},
    "autotypenumbers": "strict",  # an option called "1" is a word
}


class Canvas:
    """Panels in rows and columns, counted from 0 at the top left, with `wide` and `high` of the canvas between them.

    `x[row][column]` and `y[row][column]` are the settings of a panel's axes, to be updated. Panels that share axes move
    together, and only the lowest and the leftmost have numbers.
    """

    def __init__(
        self, rows: int = 1, columns: int = 1, wide: float = 0, high: float = 0, share_x=False, share_y=False
    ) -> None:
        self.data: list[Spec] = []
        self.layout: Spec = {"shapes": [], "annotations": []}
        self._columns = columns
        width, height = (1 - wide * (columns - 1)) / columns, (1 - high * (rows - 1)) / rows
        self.x: list[list[Spec]] = [[] for _ in range(rows)]
        self.y: list[list[Spec]] = [[] for _ in range(rows)]
        for row, column in np.ndindex(rows, columns):
            left, top = column * (width + wide), 1 - row * (height + high)
            n, lowest, first = (self._number(*at) for at in ((row, column), (rows - 1, column), (row, 0)))
            x = {"anchor": f"y{n}", "domain": [left, min(1.0, left + width)], **AXIS}
            y = {"anchor": f"x{n}", "domain": [max(0.0, top - height), top], **AXIS}
            if share_x and n != lowest:
                x |= {"matches": f"x{lowest}", "showticklabels": False}
            if share_y and n != first:
                y |= {"matches": f"y{first}", "showticklabels": False}
            self.x[row].append(x)
            self.y[row].append(y)

    def add(self, kind: str, row: int = 0, column: int = 0, **trace: Any) -> None:
        """A trace in one of the panels."""
        n = self._number(row, column)
        self.data.append({"type": kind, "xaxis": f"x{n}", "yaxis": f"y{n}", **trace})

    def finish(self, heading: str, height: int) -> Spec:
        """The figure, with nothing in it that JSON does not know."""
        axes = {
            f"{name}axis{self._number(row, column)}": settings
            for name, grid in (("x", self.x), ("y", self.y))
            for row, line in enumerate(grid)
            for column, settings in enumerate(line)
        }
        return finish(self.data, {**axes, **self.layout}, heading, height)

    def _number(self, row: int, column: int) -> str:
        """What plotly.js has behind the names of a panel's axes: nothing for the first, then 2, 3, ..."""
        return str(row * self._columns + column + 1) if row or column else ""


def finish(data: list[Spec], layout: Spec, heading: str, height: int) -> Spec:
    """A figure in our look."""
    title = {"text": heading, "x": 0.01, "font": {"size": 18}}
    return {"data": _plain(data), "layout": _plain({**LOOK, "height": height, "title": title, **layout})}


def _plain(value: Any) -> Any:
    """Lists and Python's numbers instead of arrays and NumPy's; None, which leaves a gap, for NaN and infinities."""
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def named(text: str) -> Spec:
    """The title of an axis."""
    return {"title": {"text": text, "standoff": 8}}


def note(x: float, y: float, text: str, **settings: Any) -> Spec:
    """A text at a place, without an arrow."""
    return {"x": x, "y": y, "text": text, "showarrow": False, **settings}


def words(text: str) -> str:
    """A name or a value as data: plotly.js reads a little HTML in its texts, and %{...} in those of hovering."""
    return escape(text, quote=False).replace("%{", "&#37;{")  # quotes mean nothing there, and it knows no &quot;


def point_text(inputs: dict[str, Any]) -> str:
    """A point, one input a line."""
    return "<br>".join(f"{words(name)} = {words(number(value))}" for name, value in inputs.items())


def axis(objective: Objective, *values: np.ndarray) -> Spec:
    """The scale of an objective's axis that shows `values`: logarithmic where the objective is modelled so."""
    if objective.transform != "log":
        return {"type": "linear"}
    return log_axis(min(float(np.min(v)) for v in values), max(float(np.max(v)) for v in values))


def log_axis(low: float, high: float) -> Spec:
    """A logarithmic axis for values from low to high: powers of ten, with 2 and 5 between them where these are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if high / low <= 30 else (1,)
    every = max(1, (last - first) // 8)
    ticks = [float(f"{step}e{power}") for power in range(first, last + 1, every) for step in steps]
    return {"type": "log", "tickvals": ticks, "ticktext": [number(t) for t in ticks]}


def limits(objective: Objective, span: tuple[float, float]) -> list[float]:
    """The range of an axis as plotly wants it: exponents on a logarithmic one."""
    return [math.log10(v) for v in span] if objective.transform == "log" else list(span)


def error(sd: np.ndarray) -> Spec:
    return {"array": sd, "color": ERROR, "thickness": 1.2, "width": 0}


def shades(colours: tuple[str, ...], shares: np.ndarray) -> list[str]:
    """The colours at shares (n,) between 0 and 1 of the way from the first to the last of `colours`."""
    parts = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colours])
    places = np.linspace(0, 1, len(colours))
    mixed = np.stack([np.interp(shares, places, part) for part in parts.T], axis=-1)
    return ["#{:02x}{:02x}{:02x}".format(*rgb) for rgb in np.rint(mixed).astype(int).tolist()]


def colour_axis(colours: tuple[str, ...], title: str, low: float, high: float, form: str, size: int) -> Spec:
    """A colour scale with its bar, `size` pixels high."""
    scale = [[i / (len(colours) - 1), c] for i, c in enumerate(colours)]
    bar = {"title": {"text": title, "side": "right"}, "tickformat": form, "ticks": "", "thickness": 12}
    place = {"lenmode": "pixels", "len": size, "y": 1, "yanchor": "top", "outlinewidth": 0}
    return {"colorscale": scale, "cmin": low, "cmax": high, "colorbar": {**bar, **place}}
