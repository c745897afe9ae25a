"""pymoo's NSGA-II, with its defaults, the starts as first population and as many offspring in each generation.

An evolution has a state; it is found again by replaying the run, which is the same each time: same seed, same values.
"""

from __future__ import annotations

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.evaluator import Evaluator
from pymoo.core.problem import Problem
from pymoo.core.termination import NoTermination
from pymoo.problems.static import StaticProblem
from request import Request


def suggest(x: np.ndarray, y: np.ndarray, request: Request) -> np.ndarray:
    """The next point of the current generation."""
    problem = Problem(n_var=x.shape[1], n_obj=y.shape[1], xl=0.0, xu=1.0)
    algorithm = NSGA2(pop_size=request.starts, sampling=x[: request.starts])
    algorithm.setup(problem, termination=NoTermination(), seed=request.run, verbose=False)
    done = 0
    while True:
        generation = algorithm.ask()
        points = np.asarray(generation.get("X"))
        if done + len(points) > len(x):
            return points[len(x) - done]
        Evaluator().eval(StaticProblem(problem, F=y[done : done + len(points)]), generation)
        algorithm.tell(infills=generation)
        done += len(points)
