"""BoTorch's predictive entropy search, as in its tutorial on information-theoretic acquisitions."""

from __future__ import annotations

import numpy as np
from botorch.acquisition.multi_objective.predictive_entropy_search import (
    qMultiObjectivePredictiveEntropySearch,
)
from botorch.optim import optimize_acqf
from models import fitted_model, sampled_pareto_sets, tensors, unit_cube
from request import Request


def suggest(x: np.ndarray, y: np.ndarray, request: Request) -> np.ndarray:
    """The next point, from `draws` sample paths with `pareto_points` Pareto points each.

    The gradient is by finite differences, as BoTorch advises: its automatic one is sometimes NaN.
    """
    model = fitted_model(*tensors(x, y))
    sets, _ = sampled_pareto_sets(model, x.shape[1], request.draws, request.pareto_points)
    acquisition = qMultiObjectivePredictiveEntropySearch(model=model, pareto_sets=sets)
    best, _ = optimize_acqf(
        acquisition,
        bounds=unit_cube(x.shape[1]),
        q=1,
        num_restarts=4,
        raw_samples=512,
        options={"with_grad": False},
    )
    return best.numpy()
