"""Methods by name."""

from collections.abc import Sequence

from pesmo.errors import DefinitionError
from pesmo.methods.ehi import Ehi
from pesmo.methods.nsga2 import Nsga2
from pesmo.methods.pal import Pal
from pesmo.methods.parego import Parego
from pesmo.methods.pesmo import Pesmo
from pesmo.methods.protocol import Method
from pesmo.methods.random import Random, Sobol
from pesmo.methods.smsego import Smsego
from pesmo.methods.sur import Sur
from pesmo.problem import Experiment, Objective

METHODS: dict[str, Method] = {
    "pesmo": Pesmo(),
    "parego": Parego(),
    "smsego": Smsego(),
    "ehi": Ehi(),
    "sur": Sur(),
    "pal": Pal(),
    "nsga2": Nsga2(),
    "random": Random(),
    "sobol": Sobol(),
}


def method_for(name: str, objectives: Sequence[Objective], experiments: Sequence[Experiment]) -> Method:
    """The method called `name`, or an error that says why it does not fit and which methods do."""
    if name not in METHODS:
        raise DefinitionError(f"unknown method {name!r}; the methods are {sorted(METHODS)}")
    misfit = _misfit(METHODS[name], objectives, experiments)
    if misfit:
        fitting = sorted(n for n, method in METHODS.items() if not _misfit(method, objectives, experiments))
        raise DefinitionError(f"method {name!r} {misfit}; methods that fit this study: {fitting}")
    return METHODS[name]


def _misfit(method: Method, objectives: Sequence[Objective], experiments: Sequence[Experiment]) -> str | None:
    """Why a method cannot serve a study, or None."""
    if method.most_objectives is not None and len(objectives) > method.most_objectives:
        return f"serves at most {method.most_objectives} objectives, and this study has {len(objectives)}"
    if method.needs_complete and not any(len(e.reveals) == len(objectives) for e in experiments):
        return "needs every objective at a point, and no experiment of this study reveals them all"
    return None
