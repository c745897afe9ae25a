"""The canvas places panels, mixes colours and makes numbers as the plotly package would."""

from typing import Any

import numpy as np
import pytest
from plotly.colors import sample_colorscale, unlabel_rgb
from plotly.subplots import make_subplots

from pesmo.report.canvas import Canvas, finish, shades, words
from pesmo.report.style import RAINBOW


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 2), (4, 3)])
@pytest.mark.parametrize("share", [False, True])
def test_panels_lie_where_plotly_puts_them(rows: int, columns: int, share: bool) -> None:
    layout = Canvas(rows, columns, wide=0.05, high=0.1, share_x=share, share_y=share).finish("", 100)["layout"]
    expected: Any = make_subplots(
        rows, columns, shared_xaxes=share, shared_yaxes=share, horizontal_spacing=0.05, vertical_spacing=0.1
    ).layout
    for n in range(rows * columns):
        for name in (f"{a}axis{n + 1 if n else ''}" for a in "xy"):
            np.testing.assert_allclose(layout[name]["domain"], expected[name].domain, atol=1e-12)
            for setting in ("anchor", "matches", "showticklabels"):
                assert layout[name].get(setting) == expected[name][setting], (name, setting)


def test_traces_go_to_their_panels() -> None:
    canvas = Canvas(2, 2)
    canvas.add("scatter", x=[1], y=[2])
    canvas.add("scatter", 1, 0, x=[1], y=[2])
    assert [(t["xaxis"], t["yaxis"]) for t in canvas.finish("", 100)["data"]] == [("x", "y"), ("x3", "y3")]


def test_colours_are_mixed_as_plotly_mixes_them() -> None:
    shares = np.linspace(0, 1, 23)
    scale = [[i / (len(RAINBOW) - 1), colour] for i, colour in enumerate(RAINBOW)]
    expected = [unlabel_rgb(c) for c in sample_colorscale(scale, shares.tolist())]
    found = [[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in shades(RAINBOW, shares)]
    np.testing.assert_allclose(found, expected, atol=0.51)
    assert shades(RAINBOW, np.array([0.0, 1.0])) == [RAINBOW[0].lower(), RAINBOW[-1].lower()]


def test_what_json_does_not_know_becomes_what_it_does() -> None:
    data = [{"y": np.array([1.0, np.nan, np.inf]), "x": np.arange(2), "z": [np.float64(0.5), [None, -np.inf]]}]
    assert finish(data, {"on": np.True_}, "", 1)["data"] == [
        {"y": [1.0, None, None], "x": [0, 1], "z": [0.5, [None, None]]}
    ]


def test_texts_are_data() -> None:
    assert words("<b>&\"'%{x}") == "&lt;b&gt;&amp;\"'&#37;{x}"
