"""The figures of the page, by matplotlib: curves of means with error bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.summary import Mean

COLORS = {
    "pesmo": "#d1495b", "pesmo-decoupled": "#8f1d2c", "parego": "#3a8f5c", "smsego": "#0b6fb8", "ehi": "#8a5fb0",
    "sur": "#e07b00", "pal": "#7a5230", "random": "#888888", "qlognehvi": "#0b6fb8", "qlognparego": "#3a8f5c",
    "jes": "#8a5fb0", "hvkg": "#e07b00", "optuna_default": "#b0a000", "optuna_gp": "#00a0a0", "pymoo_nsga2": "#444444",
    "f1": "#8f1d2c", "f2": "#e07b00", "f3": "#0b6fb8", "f4": "#3a8f5c", "error": "#8f1d2c", "time": "#0b6fb8",
    "nodes": "#0b6fb8",
}  # fmt: skip
Curve = Sequence[tuple[float, Mean]]  # (x, mean)


def draw_curves(
    path: Path, panels: Mapping[str, Mapping[str, Curve]], xlabel: str, ylabel: str, logx: bool = False
) -> None:
    """A panel for each title, with a curve for each method."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    figure, axes = plt.subplots(lines, columns, figsize=(4.2 * columns, 3.2 * lines), squeeze=False)
    figure.set_layout_engine("constrained")
    handles: dict[str, Any] = {}
    for axis, (title, curves) in zip(axes.flat, panels.items(), strict=False):
        for method, curve in curves.items():
            x, y = [at for at, _ in curve], [m.value for _, m in curve]
            error = [0.0 if m.n < 2 else m.error for _, m in curve]
            style = {"color": COLORS.get(method, "black"), "ls": "--" if method.endswith("decoupled") else "-"}
            handles[method] = axis.errorbar(x, y, error, capsize=2, lw=1.4, ms=3, marker="o", **style)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel(xlabel)
        axis.set_xscale("log" if logx else "linear")
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel(ylabel)
    for axis in list(axes.flat)[len(panels) :]:
        axis.set_axis_off()
    figure.legend(handles.values(), handles, loc="outside right upper", frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90, metadata={"Software": None})
    plt.close(figure)
