"""pesmo: the best trade-offs between several expensive objectives, with the fewest evaluations.

Names are imported when they are first used: `import pesmo` and `pesmo --help` answer at once.
"""

from importlib import import_module

TYPE_CHECKING = False  # typing imports re and enum: for `python -m pesmo` those of the working directory
if TYPE_CHECKING:
    from pesmo import report, run, store
    from pesmo.errors import (
        DefinitionError,
        Finished,
        NumericalFailure,
        PesmoError,
        ProgramError,
        ResultError,
        RunError,
        SpaceError,
        StorageError,
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
    "Finished",
    "Float",
    "Front",
    "Int",
    "NumericalFailure",
    "Objective",
    "PesmoError",
    "ProgramError",
    "Result",
    "ResultError",
    "RunError",
    "Space",
    "SpaceError",
    "StorageError",
    "Study",
    "Trial",
    "TrialError",
    "minimize",
    "report",
    "run",
    "store",
]

_ROOMS = ("report", "run", "store")  # packages with public functions of their own: pesmo.report.save, ...
_HOME_OF = {
    "Choice": "pesmo.space",
    "DefinitionError": "pesmo.errors",
    "Experiment": "pesmo.problem",
    "Finished": "pesmo.errors",
    "Float": "pesmo.space",
    "Front": "pesmo.front",
    "Int": "pesmo.space",
    "NumericalFailure": "pesmo.errors",
    "Objective": "pesmo.problem",
    "PesmoError": "pesmo.errors",
    "ProgramError": "pesmo.errors",
    "Result": "pesmo.run.minimize",
    "ResultError": "pesmo.errors",
    "RunError": "pesmo.errors",
    "Space": "pesmo.space",
    "SpaceError": "pesmo.errors",
    "StorageError": "pesmo.errors",
    "Study": "pesmo.study",
    "Trial": "pesmo.problem",
    "TrialError": "pesmo.errors",
    "minimize": "pesmo.run.minimize",
}


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return import_module(f"pesmo.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'pesmo' has no attribute {name!r}; it has {', '.join(__all__)}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
