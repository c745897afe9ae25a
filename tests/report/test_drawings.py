"""What the figures draw is what was computed: of a front that is given, every mark, bar, axis and text, in both."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex

import pesmo
from pesmo import Front, Objective
from pesmo.report.canvas import log_axis, shades
from pesmo.report.data import Slice, Snapshot, Tried, near
from pesmo.report.figures import FIGURES
from pesmo.report.plots import PLOTS
from pesmo.report.progress import Progress
from pesmo.report.style import PALETTE, RAINBOW, label

OBJECTIVES = (
    Objective("time", transform="log", unit="s"),
    Objective("gain", "maximize"),
    Objective("weight", unit="kg"),
    Objective("purity", "maximize", transform="logit"),
)
MEANS = np.array([[1.5, 80.0, 3.0, 0.9], [20.0, 90.0, 1.0, 0.5], [300.0, 95.0, 2.0, 0.2]])
SDS = np.array([[0.5, 4.0, 0.3, 0.05], [19.0, 2.0, 0.2, 0.1], [20.0, 1.0, 0.1, 0.07]])
SURE = np.array([0.25, 1.0, 0.5])
INPUTS = tuple({"x": x, "c": c} for x, c in ((0.125, "up"), (0.5, "down"), (0.75, "up")))
TRIED = np.array([[2.0, 70.0, 4.0, 0.4], [30.0, 60.0, 2.5, 0.3], [500.0, 85.0, 5.0, 0.6], [700.0, 20.0, 3.5, 0.1]])
MEASURED = np.array([[1, 1, 1, 1], [1, 0, 1, 1], [0, 1, 1, 0], [1, 1, 0, 1]], bool)
TRIED_AT = [{"x": n / 4, "c": "down"} for n in range(4)]


def staged(k: int) -> Snapshot:
    """k objectives, whose front and points tried are those above."""
    space = pesmo.Space(x=pesmo.Float(0, 1), c=pesmo.Choice("up", "down"))
    s = Snapshot(pesmo.Study(space, OBJECTIVES[:k], seed=0))
    s.__dict__["front"] = Front(OBJECTIVES[:k], INPUTS, MEANS[:, :k], SDS[:, :k], SURE)
    s.__dict__["tried"] = Tried(TRIED_AT, TRIED[:, :k], MEASURED[:, :k])
    return s


def axis_range(k: int) -> tuple[float, float]:
    return near(OBJECTIVES[k], MEANS[:, k], SDS[:, k], TRIED[:, k])


def offsets(axes: Axes, name: str) -> list[list[float]]:
    """Where the marks of a scatter with this label are."""
    (found,) = [c for c in axes.collections if c.get_label() == name]
    return np.asarray(found.get_offsets()).tolist()


def segments(axes: Axes) -> list[list[list[float]]]:
    """The bars: each from one end to the other."""
    return [np.asarray(s).tolist() for c in axes.collections if isinstance(c, LineCollection) for s in c.get_segments()]


def bars(i: int, j: int) -> list[list[list[float]]]:
    rows = list(zip(MEANS.tolist(), SDS.tolist(), strict=True))
    across = [[[m[i] - s[i], m[j]], [m[i] + s[i], m[j]]] for m, s in rows]
    return across + [[[m[i], m[j] - s[j]], [m[i], m[j] + s[j]]] for m, s in rows]


def is_pair(traces: list[dict], i: int, j: int) -> None:
    """Objective j against i: whole measurements, partly predicted ones, and the front with its bars."""
    whole = MEASURED[:, i] & MEASURED[:, j]
    for name, rows in (("measured", whole), ("tried, partly predicted", ~whole)):
        (marks,) = [t for t in traces if t.get("name") == name]
        assert (marks["x"], marks["y"]) == (TRIED[rows, i].tolist(), TRIED[rows, j].tolist())
        assert marks["text"] == [f"x = {TRIED_AT[n]['x']:g}<br>c = down" for n in np.flatnonzero(rows)]
        assert marks["marker"]["symbol"] == ("circle" if name == "measured" else "circle-open")
    (front,) = [t for t in traces if "error_x" in t]
    assert (front["x"], front["y"]) == (MEANS[:, i].tolist(), MEANS[:, j].tolist())
    assert front["error_x"]["array"] == SDS[:, i].tolist()
    assert front["error_y"]["array"] == SDS[:, j].tolist()
    assert front["marker"]["color"] == SURE.tolist()


def is_axis(axis: dict, k: int) -> None:
    """Its scale, its range and its name."""
    low, high = axis_range(k)
    assert axis["title"]["text"] == label(OBJECTIVES[k])
    if k == 0:
        assert axis["type"] == "log"
        assert axis["range"] == pytest.approx([math.log10(low), math.log10(high)])
        assert [float(t) for t in axis["ticktext"]] == axis["tickvals"]
    else:
        assert axis["type"] == "linear"
        assert axis["range"] == pytest.approx([low, high])


def test_two_objectives_in_the_report() -> None:
    figure = FIGURES["front"](staged(2))
    is_pair(figure["data"], 0, 1)
    is_axis(figure["layout"]["xaxis"], 0)
    is_axis(figure["layout"]["yaxis"], 1)
    (front,) = [t for t in figure["data"] if "error_x" in t]
    assert front["text"][1] == (
        "<b>time in s</b> = 20 ± 19<br><b>gain</b> = 90 ± 2<br>x = 0.5<br>c = down<br>Pareto-optimal with 100%"
    )
    scale = figure["layout"]["coloraxis"]
    assert (scale["cmin"], scale["cmax"]) == (0, 1)
    assert scale["colorscale"][0][0] == 0
    assert scale["colorscale"][-1][0] == 1
    (legend,) = [t for t in figure["data"] if t["x"] == [None]]
    assert legend["name"] == "recommended ± one sd"


def test_two_objectives_in_matplotlib() -> None:
    axes = PLOTS["front"](staged(2)).axes[0]
    whole = MEASURED[:, 0] & MEASURED[:, 1]
    assert offsets(axes, "measured") == TRIED[whole, :2].tolist()
    assert offsets(axes, "tried, partly predicted") == TRIED[~whole, :2].tolist()
    (marks,) = [c for c in axes.collections if c.get_array() is not None]
    assert np.asarray(marks.get_offsets()).tolist() == MEANS[:, :2].tolist()
    assert np.asarray(marks.get_array()).tolist() == SURE.tolist()
    assert marks.get_clim() == (0, 1)
    np.testing.assert_allclose(segments(axes), bars(0, 1))
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    assert axes.get_xlim() == pytest.approx(axis_range(0))
    assert axes.get_ylim() == pytest.approx(axis_range(1))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time in s (minimize)", "gain (maximize)")
    legend = axes.get_legend()
    assert legend is not None
    assert [t.get_text() for t in legend.get_texts()][-1] == "recommended ± one sd"


def test_a_front_alone_has_axes_of_its_own() -> None:
    figure = staged(2).front.plot()
    axes = figure.axes[0]
    spans = [near(OBJECTIVES[k], MEANS[:, k], SDS[:, k], MEANS[:, k]) for k in range(2)]
    assert axes.get_xlim() == pytest.approx(spans[0])
    assert axes.get_ylim() == pytest.approx(spans[1])
    assert not [c for c in axes.collections if c.get_label() in ("measured", "tried, partly predicted")]


@pytest.mark.parametrize("k", [2, 3, 4])
def test_pairs_are_all_there_each_in_its_panel(k: int) -> None:
    figure = FIGURES["pairs"](staged(k))
    drawn = PLOTS["pairs"](staged(k))
    for n, (i, j) in enumerate(combinations(range(k), 2)):
        name = str(n + 1) if n else ""
        is_pair([t for t in figure["data"] if t["xaxis"] == f"x{name}"], i, j)
        is_axis(figure["layout"][f"xaxis{name}"], i)
        is_axis(figure["layout"][f"yaxis{name}"], j)
        axes = drawn.axes[n]
        assert (axes.get_xlabel(), axes.get_ylabel()) == (label(OBJECTIVES[i]), label(OBJECTIVES[j]))
        np.testing.assert_allclose(segments(axes), bars(i, j))
        assert (axes.get_legend() is not None) == (n == 0)
        assert all(
            t["showlegend"] == (n == 0) for t in figure["data"] if t["xaxis"] == f"x{name}" and "symbol" in t["marker"]
        )
    assert len(drawn.axes) == math.comb(k, 2) + 1  # and the bar of colours
    assert len({t["xaxis"] for t in figure["data"]}) == math.comb(k, 2)


def test_panels_without_a_pair_are_not_shown() -> None:
    five = tuple(Objective(f"f{k}") for k in range(5))
    s = Snapshot(pesmo.Study(pesmo.Space(x=pesmo.Float(0, 1)), five, seed=0))
    s.__dict__["front"] = Front(five, ({"x": 0.5},), np.ones((1, 5)), np.ones((1, 5)), np.ones(1))
    s.__dict__["tried"] = Tried([{"x": 0.5}], np.ones((1, 5)), np.ones((1, 5), bool))
    layout = FIGURES["pairs"](s)["layout"]
    hidden = [n for n in range(1, 13) if layout[f"xaxis{n if n > 1 else ''}"].get("visible") is False]
    assert hidden == [11, 12]
    assert all(layout[f"yaxis{n}"]["visible"] is False for n in hidden)
    drawn = PLOTS["pairs"](s)
    assert [axes.get_visible() for axes in drawn.axes[:12]] == [True] * 10 + [False] * 2


def test_three_objectives_in_the_report() -> None:
    figure = FIGURES["front"](staged(3))
    behind, before, legend = figure["data"]
    scene = figure["layout"]["scene"]
    for k, name in enumerate("xyz"):
        assert behind[name] == TRIED[:, k].tolist()
        assert before[name] == MEANS[:, k].tolist()
        assert before[f"error_{name}"]["array"] == SDS[:, k].tolist()
        is_axis(scene[f"{name}axis"], k)
    assert before["marker"]["color"] == SURE.tolist()
    assert behind["text"] == [f"x = {p['x']:g}<br>c = down" for p in TRIED_AT]
    assert "<b>weight in kg</b> = 3 ± 0.3" in before["text"][0]
    assert before["text"][0].endswith("Pareto-optimal with 25%")
    assert legend["x"] == legend["y"] == legend["z"] == [None]


def test_three_objectives_in_matplotlib() -> None:
    """A logarithmic axis is drawn as the logarithm; its bars end above zero."""
    axes: Any = PLOTS["front"](staged(3)).axes[0]

    def shown(values: np.ndarray) -> np.ndarray:
        return np.concatenate([np.log10(values[:, :1]), values[:, 1:3]], axis=1)

    spans = [axis_range(k) for k in range(3)]
    inside = np.all([(TRIED[:, k] >= low) & (TRIED[:, k] <= high) for k, (low, high) in enumerate(spans)], axis=0)
    assert 0 < inside.sum() < 4
    tried, front = axes.collections
    np.testing.assert_allclose(np.stack(tried._offsets3d, axis=-1), shown(TRIED)[inside])
    np.testing.assert_allclose(np.stack(front._offsets3d, axis=-1), shown(MEANS))
    assert np.asarray(front.get_array()).tolist() == SURE.tolist()
    lines = iter(axes.lines)
    for k in range(3):
        for n in range(3):
            low, high = MEANS[n, k] - SDS[n, k], MEANS[n, k] + SDS[n, k]
            if k == 0:
                low, high = np.log10(max(low, 0.3 * MEANS[n, k])), np.log10(high)
            x = np.array(next(lines).get_data_3d())
            np.testing.assert_allclose(x[k], [low, high])
            for other in {0, 1, 2} - {k}:
                np.testing.assert_allclose(x[other], shown(MEANS)[n, other])
    for k, name in enumerate("xyz"):
        low, high = (math.log10(e) if k == 0 else e for e in spans[k])
        assert getattr(axes, f"get_{name}lim")() == pytest.approx((low, high))
        assert getattr(axes, f"get_{name}label")() == ("log10 of " if k == 0 else "") + label(OBJECTIVES[k])


PLACES = [[0.0, 1.0, 1.0, 0.0], [18.5 / 298.5, 1 / 3, 0.0, 4 / 7], [1.0, 0.0, 0.5, 1.0]]
WIDTHS = [298.5, 15.0, 2.0, 0.7]
ENDS = [("1.5", "300"), ("95", "80"), ("1", "3"), ("0.9", "0.2")]


def test_parallel_axes_in_the_report() -> None:
    figure = FIGURES["front"](staged(4))
    lines = [t for t in figure["data"] if t["mode"] == "lines+markers"]
    tones = shades(RAINBOW, np.array([row[0] for row in PLACES]))
    for n, line in enumerate(lines):
        assert line["y"] == pytest.approx(PLACES[n])
        assert line["x"] == pytest.approx(np.arange(4) + (-0.08, 0.0, 0.08)[n])
        assert line["error_y"]["array"] == pytest.approx((SDS[n] / WIDTHS).tolist())
        assert line["opacity"] == pytest.approx(0.25 + 0.7 * SURE[n])
        assert line["line"]["color"] == line["marker"]["color"] == line["error_y"]["color"] == tones[n]
        assert line["text"][0].startswith(f"<b>time in s</b> = {MEANS[n, 0]:g} ±")
    assert len(lines) == 3
    texts = figure["layout"]["annotations"]
    for k, (best, worst) in enumerate(ENDS):
        below, above = (next(t["text"] for t in texts if t["x"] == k and (t["y"] < 0) == low) for low in (True, False))
        assert (below, above) == (best, worst)
    scale = figure["layout"]["coloraxis"]
    assert (scale["cmin"], scale["cmax"]) == (1.5, 300.0)
    assert scale["colorbar"]["title"]["text"] == "time in s"
    assert figure["layout"]["xaxis"]["ticktext"] == [label(o).replace(" (", "<br>(") for o in OBJECTIVES]
    assert figure["layout"]["xaxis"]["tickvals"] == [0, 1, 2, 3]
    assert [(b["x0"], b["x1"]) for b in figure["layout"]["shapes"]] == [(k - 0.1, k + 0.1) for k in range(4)]


def test_parallel_axes_in_matplotlib() -> None:
    axes = PLOTS["front"](staged(4)).axes[0]
    lines = [line for line in axes.lines if len(np.asarray(line.get_xdata())) == 4 and line.get_marker() == "o"]
    tones = shades(RAINBOW, np.array([row[0] for row in PLACES]))
    for n, line in enumerate(lines):
        np.testing.assert_allclose(np.asarray(line.get_ydata()), PLACES[n])
        np.testing.assert_allclose(np.asarray(line.get_xdata()), np.arange(4) + (-0.08, 0.0, 0.08)[n])
        assert line.get_alpha() == pytest.approx(0.25 + 0.7 * SURE[n])
        ours = [int(tones[n][i : i + 2], 16) for i in (1, 3, 5)]
        theirs = [int(to_hex(line.get_color())[i : i + 2], 16) for i in (1, 3, 5)]
        assert np.max(np.abs(np.subtract(ours, theirs))) <= 4  # matplotlib mixes in 256 steps
    assert len(lines) == 3
    found = [s for s in segments(axes) if len(s) == 2 and s[0][0] == s[1][0]]
    heights = [abs(top[1] - bottom[1]) / 2 for bottom, top in found]
    assert heights == pytest.approx((SDS / WIDTHS).ravel().tolist())
    for k, (best, worst) in enumerate(ENDS):
        texts = [t for t in axes.texts if t.get_position()[0] == k]
        below, above = sorted(texts, key=lambda t: t.get_position()[1])
        assert (below.get_text(), above.get_text()) == (best, worst)
    names = [t.get_text() for t in axes.get_xticklabels()]
    assert names == [label(o).replace(" (", "\n(") for o in OBJECTIVES]


def alone() -> Snapshot:
    """One objective, measured at trials 1 and 3."""
    experiments = [pesmo.Experiment("run", ["time"])]
    study = pesmo.Study(pesmo.Space(x=pesmo.Float(0, 1)), OBJECTIVES[:1], experiments, seed=0, method="sobol")
    first, second, third = study.ask(3)
    study.tell(first, {"time": 4.0})
    study.fail(second)
    study.tell(third, {"time": 40.0})
    s = Snapshot(study)
    s.__dict__["front"] = Front(OBJECTIVES[:1], ({"x": 0.5},), np.array([[3.0]]), np.array([[0.75]]), np.ones(1))
    s.__dict__["tried"] = Tried([first.inputs, third.inputs], np.array([[4.0], [40.0]]), np.ones((2, 1), bool))
    return s


@pytest.mark.parametrize("name", ["front", "pairs"])
def test_one_objective_over_its_trials(name: str) -> None:
    figure = FIGURES[name](alone())
    (marks,) = figure["data"]
    assert (marks["x"], marks["y"]) == ([1, 3], [4.0, 40.0])
    band, line = figure["layout"]["shapes"]
    assert (band["y0"], band["y1"], line["y0"], line["y1"]) == (2.25, 3.75, 3.0, 3.0)
    assert figure["layout"]["annotations"][0]["text"] == "best expected: 3 ± 0.75"
    assert figure["layout"]["annotations"][0]["y"] == 3.0
    assert figure["layout"]["yaxis"]["type"] == "log"
    axes = PLOTS[name](alone()).axes[0]
    assert offsets(axes, "measured") == [[1.0, 4.0], [2.0, 40.0]]
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == [3.0, 3.0]
    box = axes.patches[0].get_extents().transformed(axes.transData.inverted())
    assert (box.y0, box.y1) == pytest.approx((2.25, 3.75))
    assert axes.get_yscale() == "log"
    assert axes.get_ylabel() == "time in s (minimize)"


# ------------------------------------------------------------------------------------- what a study went through


def test_progress_is_drawn_over_evaluations_and_over_cost(snapshot) -> None:
    p = snapshot.progress
    figure = FIGURES["progress"](snapshot)
    drawn = PLOTS["progress"](snapshot)
    assert p.measured is None  # no trial reveals everything
    for column, x in enumerate((p.evaluations, p.cost)):
        (curve,) = [t for t in figure["data"] if t["xaxis"] == ("x2" if column else "x")]
        assert curve["x"] == x.tolist()
        assert curve["y"] == [None if np.isnan(v) else v for v in p.predicted]
        assert curve["showlegend"] == (column == 0)
        (line,) = drawn.axes[column].lines
        np.testing.assert_array_equal(np.asarray(line.get_xdata()), x)
        np.testing.assert_array_equal(np.asarray(line.get_ydata()), p.predicted)
        assert drawn.axes[column].get_xlim()[0] == drawn.axes[column].get_ylim()[0] == 0
    assert [figure["layout"][f"xaxis{n}"]["title"]["text"] for n in ("", "2")] == ["evaluations", "cost spent"]
    assert [a.get_xlabel() for a in drawn.axes] == ["evaluations", "cost spent"]


def test_progress_has_the_measured_points_where_there_are_any(snapshot) -> None:
    s = Snapshot(snapshot.study)
    p = Progress(np.arange(3), np.arange(3) * 2.0, np.array([np.nan, 0.5, 1.0]), np.array([0.1, 0.2, 0.3]))
    s.__dict__["progress"] = p
    names = {t["name"]: t["y"] for t in FIGURES["progress"](s)["data"]}
    assert names == {"recommended front": [None, 0.5, 1.0], "measured points alone": [0.1, 0.2, 0.3]}
    for axes in PLOTS["progress"](s).axes:
        ends = {line.get_label(): np.asarray(line.get_ydata())[-1] for line in axes.lines}
        assert ends == {"recommended front": 1.0, "measured points alone": 0.3}


def test_evaluations_are_counted_and_their_gains_shown(snapshot) -> None:
    figure = FIGURES["evaluations"](snapshot)
    drawn = PLOTS["evaluations"](snapshot)
    finished = snapshot.finished
    layout = figure["layout"]
    for n, axes, title in (("", drawn.axes[0], "runs so far"), ("2", drawn.axes[1], "expected gain in nats")):
        assert layout[f"xaxis{n}"]["title"]["text"] == axes.get_xlabel() == "evaluations"
        assert layout[f"yaxis{n}"]["title"]["text"] == axes.get_ylabel() == title
        assert layout[f"xaxis{n}"]["rangemode"] == layout[f"yaxis{n}"]["rangemode"] == "tozero"
        assert axes.get_xlim()[0] == axes.get_ylim()[0] == 0
    assert any(t.gain for t in finished)
    assert any(t.state == "failed" for t in finished)
    for i, name in enumerate(("melt", "break")):
        runs = [sum(t.experiment == name for t in finished[:n]) for n in range(len(finished) + 1)]
        counted, gains = [t for t in figure["data"] if t["name"] == name]
        assert (counted["x"], counted["y"]) == (list(range(len(finished) + 1)), runs)
        asked = [(n, t) for n, t in enumerate(finished, 1) if t.experiment == name and t.gain is not None]
        assert (gains["x"], gains["y"]) == ([n for n, _ in asked], [t.gain for _, t in asked])
        assert gains["marker"]["symbol"] == ["circle" if t.state == "complete" else "x" for _, t in asked]
        assert gains["text"] == [f"trial {t.id}, {name}, cost {t.cost:g}, {t.state}" for _, t in asked]
        assert (gains["xaxis"], counted["line"]["color"], gains["marker"]["color"]) == ("x2", PALETTE[i], PALETTE[i])
        line = drawn.axes[0].lines[i]
        assert (line.get_label(), np.asarray(line.get_ydata()).tolist()) == (name, runs)
        np.testing.assert_array_equal(np.asarray(line.get_xdata()), range(len(finished) + 1))
    points = sorted(tuple(p) for c in drawn.axes[1].collections for p in np.asarray(c.get_offsets()).tolist())
    assert points == [(n, t.gain) for n, t in enumerate(finished, 1) if t.gain is not None]


def test_a_failed_run_with_a_gain_is_a_cross() -> None:
    study = pesmo.Study(pesmo.Space(x=pesmo.Float(0, 1)), ["a"], seed=0)
    for x in (0.1, 0.3, 0.5, 0.7, 0.9):
        study.add({"x": x}, {"a": (x - 0.4) ** 2})
    one, other = study.ask(2)
    study.fail(other, "no")
    study.tell(one, {"a": 0.0})
    (_, gains) = FIGURES["evaluations"](study)["data"]
    assert gains["marker"]["symbol"] == ["x", "circle"]
    assert gains["y"] == [other.gain, one.gain]
    marks = {
        np.asarray(c.get_paths()[0].vertices).shape[0]: np.asarray(c.get_offsets()).tolist()
        for c in PLOTS["evaluations"](study).axes[1].collections
    }
    assert marks[max(marks)] == [[2.0, one.gain]]  # a circle has more corners than a cross
    assert marks[min(marks)] == [[1.0, other.gain]]


def test_sensitivity_is_a_table_of_shares(snapshot) -> None:
    found = snapshot.sensitivity
    maps, layout = (FIGURES["sensitivity"](snapshot)[part] for part in ("data", "layout"))
    assert all(layout[f"{a}axis{n}"]["type"] == "category" for a in "xy" for n in ("", "2"))  # a name "1" is a word
    assert layout["yaxis"]["autorange"] == "reversed"  # the first objective on top
    drawn = PLOTS["sensitivity"](snapshot)
    for n, shares in enumerate((found.effect, found.relevance)):
        texts = [["" if np.isnan(v) else f"{v:.0%}" for v in row] for row in shares.tolist()]
        assert maps[n]["z"] == [[None if np.isnan(v) else v for v in row] for row in shares.tolist()]
        assert maps[n]["text"] == texts
        assert (maps[n]["x"], maps[n]["y"]) == (found.inputs, ["cost", "purity", "strength"])
        axes = drawn.axes[n]
        np.testing.assert_array_equal(np.asarray(axes.images[0].get_array()), np.nan_to_num(shares))
        assert axes.images[0].get_clim() == (0, 1)
        shown = {t.get_position(): t.get_text() for t in axes.texts}
        assert shown == {(i, k): texts[k][i] for k in range(3) for i in range(4) if texts[k][i]}
        assert [t.get_text() for t in axes.get_xticklabels()] == found.inputs
    assert [t.get_text() for t in drawn.axes[0].get_yticklabels()] == ["cost", "purity", "strength"]


@pytest.fixture(scope="module")
def cuts(snapshot) -> list[Slice]:
    return snapshot.slices()[1]


def test_slices_are_drawn_a_column_an_input(snapshot, cuts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Snapshot, "slices", lambda *_: ({}, cuts))
    figure = FIGURES["slices"](snapshot)
    assert [c.name for c in cuts] == ["x", "rate", "n", "c"]
    for column, cut in enumerate(cuts):
        for row in range(4):
            number = row * 4 + column + 1
            traces = [t for t in figure["data"] if t["xaxis"] == f"x{number if number > 1 else ''}"]
            if row == 3:
                assert [t["x"] for t in traces] == [cut.values] * 3
                assert [t["y"] for t in traces] == cut.alpha.T.tolist()
                assert [t["name"] for t in traces] == ["cost", "purity", "strength"]
                assert all(t["showlegend"] == (column == 0) for t in traces)
                continue
            low, mean, high = (getattr(cut.prediction, part)[:, row] for part in ("low", "mean", "high"))
            *spread, average, here = traces
            if cut.words:
                (marks,) = spread
                assert marks["error_y"]["array"] == (high - mean).tolist()
                assert marks["error_y"]["arrayminus"] == (mean - low).tolist()
                assert marks["error_y"]["symmetric"] is False
            else:
                band, marks = spread
                assert band["x"] == [*cut.values, *cut.values[::-1]]
                assert band["y"] == [*high.tolist(), *low[::-1].tolist()]
            assert (marks["x"], marks["y"]) == (cut.values, mean.tolist())
            assert (average["x"], average["y"]) == (cut.values, cut.average[:, row].tolist())
            assert (here["x"], here["y"]) == ([cut.values[cut.nearest]], [mean[cut.nearest]])
        last = figure["layout"][f"xaxis{12 + column + 1}"]
        assert last["title"]["text"] == cut.name
        assert last["type"] == {"x": "linear", "rate": "log", "n": "linear", "c": "category"}[cut.name]
    for row, (name, kind) in enumerate((("cost in €", "log"), ("purity", "linear"), ("strength in N", "linear"))):
        panel = figure["layout"][f"yaxis{row * 4 + 1 if row else ''}"]
        assert (panel["title"]["text"], panel["type"]) == (name, kind)
    shown = [v[:, 0] for c in cuts for v in (c.prediction.low, c.prediction.high, c.average)]
    ticks = log_axis(min(v.min() for v in shown), max(v.max() for v in shown))["tickvals"]
    assert figure["layout"]["yaxis"]["tickvals"] == ticks


def test_slices_in_matplotlib(snapshot, cuts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Snapshot, "slices", lambda *_: ({}, cuts))
    grid = np.array(PLOTS["slices"](snapshot).axes).reshape(4, 4)
    for column, cut in enumerate(cuts):
        x = list(range(3)) if cut.words else cut.values
        for row in range(3):
            axes = grid[row, column]
            low, mean, high = (getattr(cut.prediction, part)[:, row] for part in ("low", "mean", "high"))
            curves = [line for line in axes.lines if len(np.asarray(line.get_xdata())) == len(x)]
            np.testing.assert_array_equal(np.asarray(curves[0].get_ydata()), mean)
            if cut.words:
                ends = [[[n, low[n]], [n, high[n]]] for n in range(3)]
                np.testing.assert_allclose(segments(axes), ends)
                dashes = np.asarray(axes.collections[-1].get_offsets())
                np.testing.assert_allclose(dashes, np.stack([x, cut.average[:, row]], axis=-1))
                assert axes.get_xlim() == (-0.5, 2.5)
            else:
                np.testing.assert_array_equal(np.asarray(curves[0].get_xdata()), x)
                np.testing.assert_array_equal(np.asarray(curves[1].get_ydata()), cut.average[:, row])
                corners = axes.collections[0].get_paths()[0].vertices
                for end in (low, high):
                    there = np.stack([x, end], axis=-1)
                    assert all(np.any(np.all(np.isclose(corners, p), axis=1)) for p in there)
            here = axes.lines[-1]
            assert np.asarray(here.get_ydata()).tolist() == [mean[cut.nearest]]
        gains = grid[3, column]
        assert [np.asarray(line.get_ydata()).tolist() for line in gains.lines] == cut.alpha.T.tolist()
        assert gains.get_ylim()[0] == 0
        assert gains.get_xlabel() == cut.name
        assert gains.get_xscale() == ("log" if cut.name == "rate" else "linear")
    assert [grid[row, 0].get_ylabel() for row in range(4)] == ["cost in €", "purity", "strength in N", "gain in nats"]
    assert [grid[row, 0].get_yscale() for row in range(3)] == ["log", "linear", "linear"]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1.0, 20.0, [1, 2, 5, 10, 20, 50, 100, 200, 500]),
        (3.0, 90.0, [1, 2, 5, 10, 20, 50, 100, 200, 500]),
        (3.0, 91.0, [1, 10, 100]),
        (0.02, 0.9, [0.01, 0.1, 1]),
        (1e-9, 1e9, [10.0**e for e in range(-9, 10, 2)]),
    ],
)
def test_a_logarithmic_axis_has_few_round_numbers(low: float, high: float, ticks: list[float]) -> None:
    axis = log_axis(low, high)
    assert axis["tickvals"] == pytest.approx(ticks)
    assert [float(t) for t in axis["ticktext"]] == pytest.approx(ticks)
