"""pesmo: the best trade-offs between several expensive objectives, with the fewest evaluations."""

from pesmo.errors import (
    DefinitionError,
    NumericalFailure,
    PesmoError,
    ResultError,
    SpaceError,
    TrialError,
)
from pesmo.front import Front
from pesmo.problem import Experiment, Objective, Trial
from pesmo.run.minimize import Result, minimize
from pesmo.space import Choice, Float, Int, Space
from pesmo.study import Study

__version__ = "0.1.0"

__all__ = [
    "Choice",
    "DefinitionError",
    "Experiment",
    "Float",
    "Front",
    "Int",
    "NumericalFailure",
    "Objective",
    "PesmoError",
    "Result",
    "ResultError",
    "Space",
    "SpaceError",
    "Study",
    "Trial",
    "TrialError",
    "minimize",
]
