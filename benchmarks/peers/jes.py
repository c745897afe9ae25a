"""BoTorch's joint entropy search (lower bound), as in its tutorial on information-theoretic acquisitions."""

from __future__ import annotations

import numpy as np
from botorch.acquisition.multi_objective.joint_entropy_search import (
    qLowerBoundMultiObjectiveJointEntropySearch,
)
from botorch.acquisition.multi_objective.utils import compute_sample_box_decomposition
from botorch.optim import optimize_acqf
from models import fitted_model, sampled_pareto_sets, tensors, unit_cube
from request import Request


def suggest(x: np.ndarray, y: np.ndarray, request: Request) -> np.ndarray:
    """The next point, from `draws` sample paths with `pareto_points` Pareto points each."""
    model = fitted_model(*tensors(x, y))
    sets, fronts = sampled_pareto_sets(model, x.shape[1], request.draws, request.pareto_points)
    acquisition = qLowerBoundMultiObjectiveJointEntropySearch(
        model=model,
        pareto_sets=sets,
        pareto_fronts=fronts,
        hypercell_bounds=compute_sample_box_decomposition(fronts),
        estimation_type="LB",
    )
    best, _ = optimize_acqf(acquisition, bounds=unit_cube(x.shape[1]), q=1, num_restarts=4, raw_samples=512)
    return best.numpy()
