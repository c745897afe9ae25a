"""`study.plot`: the figures of one study, as plotly figures that show themselves in a notebook."""

from typing import TYPE_CHECKING, Any

from pesmo.errors import PesmoError
from pesmo.report import figures
from pesmo.study import Study

if TYPE_CHECKING:
    import plotly.graph_objects as go


class Gallery:
    """Each gives a plotly figure (the extra pesmo[plot]): `.show()` opens it, `.write_html(path)` keeps it.

    For PNG, SVG or PDF files by matplotlib: `pesmo.report.save("front", study, "front.pdf")`.
    """

    def __init__(self, study: Study) -> None:
        self._study = study

    def front(self) -> "go.Figure":
        """The recommended points: 2-D, 3-D, or parallel axes for more objectives."""
        return _plotly().Figure(figures.front(self._study))

    def pairs(self) -> "go.Figure":
        """The recommended points along each pair of objectives."""
        return _plotly().Figure(figures.pairs(self._study))

    def progress(self) -> "go.Figure":
        """Hypervolume over evaluations and over cost."""
        return _plotly().Figure(figures.progress(self._study))

    def evaluations(self) -> "go.Figure":
        """How often each experiment was run, and what each run was expected to teach."""
        return _plotly().Figure(figures.evaluations(self._study))

    def sensitivity(self) -> "go.Figure":
        """How much each input matters to each objective."""
        return _plotly().Figure(figures.sensitivity(self._study))

    def slices(self, input: str | None = None, at: dict[str, Any] | None = None) -> "go.Figure":
        """Prediction and acquisition along one input (or those that matter most) through the point `at`."""
        return _plotly().Figure(figures.slices(self._study, input, at))


def _plotly() -> Any:
    """The optional package, asked for before anything is computed."""
    try:
        import plotly.graph_objects as go
    except ImportError as error:
        raise PesmoError("figures by study.plot need plotly; install it with: pip install 'pesmo[plot]'") from error
    return go
