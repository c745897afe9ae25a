"""`study.plot`: the figures of one study, as plotly figures that show themselves in a notebook."""

from typing import Any

import plotly.graph_objects as go

from pesmo.report import figures
from pesmo.study import Study


class Gallery:
    """Each gives a plotly figure: `.show()` opens it, `.write_html(path)` keeps it.

    For PNG, SVG or PDF files by matplotlib: `pesmo.report.save("front", study, "front.pdf")`.
    """

    def __init__(self, study: Study) -> None:
        self._study = study

    def front(self) -> go.Figure:
        """The recommended points: 2-D, 3-D, or parallel axes for more objectives."""
        return figures.front(self._study)

    def pairs(self) -> go.Figure:
        """The recommended points along each pair of objectives."""
        return figures.pairs(self._study)

    def progress(self) -> go.Figure:
        """Hypervolume over evaluations and over cost."""
        return figures.progress(self._study)

    def evaluations(self) -> go.Figure:
        """How often each experiment was run, and what each run was expected to teach."""
        return figures.evaluations(self._study)

    def sensitivity(self) -> go.Figure:
        """How much each input matters to each objective."""
        return figures.sensitivity(self._study)

    def slices(self, input: str | None = None, at: dict[str, Any] | None = None) -> go.Figure:
        """Prediction and acquisition along one input (or those that matter most) through the point `at`."""
        return figures.slices(self._study, input, at)
