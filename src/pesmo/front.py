"""The recommendation: the Pareto set of the posterior means, with what is known of each of its points."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pesmo.problem import Objective

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Front:
    """Recommended points, ordered by the first objective.

    means        (n, K) predicted values, in the objectives' own units
    sds          (n, K) half the width of the 68 % interval around them
    probability  (n,) that no other known point (recommended, measured, or of a space-filling set) dominates the point
    note         what was left out to get it in time, None where nothing was
    """

    objectives: tuple[Objective, ...]
    inputs: tuple[dict[str, Any], ...]
    means: np.ndarray
    sds: np.ndarray
    probability: np.ndarray
    note: str | None = None

    def __len__(self) -> int:
        return len(self.inputs)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Per point: {"inputs": {...}, "objectives": {name: mean}, "sd": {name: ...}, "probability": ...}."""
        names = [objective.name for objective in self.objectives]
        return [
            {
                "inputs": dict(point),
                "objectives": dict(zip(names, mean.tolist(), strict=True)),
                "sd": dict(zip(names, sd.tolist(), strict=True)),
                "probability": float(probability),
            }
            for point, mean, sd, probability in zip(self.inputs, self.means, self.sds, self.probability, strict=True)
        ]

    def plot(self, path: str | Path | None = None) -> "Figure":
        """The front as a matplotlib figure, written to `path` if one is given (needs pesmo[plot])."""
        from pesmo.report.axes import write
        from pesmo.report.plot_fronts import plot_front

        figure = plot_front(self)
        if path is not None:
            write(figure, path)
        return figure
