"""BoTorch's hypervolume knowledge gradient, decoupled, as in its tutorial: one objective at a time, by its cost.

The tutorial's settings: 8 fantasies, 10 Pareto points, 1 restart from 512 samples, batches of 5, 200 iterations.
"""

from __future__ import annotations

import numpy as np
import torch
from botorch.acquisition.cost_aware import InverseCostWeightedUtility
from botorch.acquisition.multi_objective.hypervolume_knowledge_gradient import (
    _get_hv_value_function,
    qHypervolumeKnowledgeGradient,
)
from botorch.models.cost import FixedCostModel
from botorch.optim import optimize_acqf
from models import decoupled_model, reference_point, unit_cube
from request import Request

FANTASIES, PARETO, RESTARTS, SAMPLES = 8, 10, 1, 512


def suggest(x: np.ndarray, y: np.ndarray, request: Request) -> tuple[np.ndarray, int]:
    """The next point and the objective to measure there. y is nan where an objective was not measured."""
    model, objectives = decoupled_model(x, y), y.shape[1]
    complete = torch.tensor(-y[~np.isnan(y).any(axis=1)])
    reference = reference_point(complete, request)
    bounds = unit_cube(x.shape[1])
    value = _get_hv_value_function(model=model, ref_point=reference, use_posterior_mean=True)
    options = {"batch_limit": 5, "maxiter": 200}
    _, current = optimize_acqf(
        value, bounds=bounds, q=PARETO, num_restarts=RESTARTS, raw_samples=SAMPLES, options=dict(options)
    )
    acquisition = qHypervolumeKnowledgeGradient(
        model=model,
        ref_point=reference,
        num_fantasies=FANTASIES,
        num_pareto=PARETO,
        current_value=current.detach(),
        cost_aware_utility=InverseCostWeightedUtility(FixedCostModel(torch.tensor(request.costs, dtype=torch.double))),
    )
    found = []
    for k in range(objectives):
        mask = torch.zeros(1, objectives, dtype=torch.bool)
        mask[0, k] = True
        acquisition.X_evaluation_mask = mask
        point, gain = optimize_acqf(
            acquisition, bounds=bounds, q=1, num_restarts=RESTARTS, raw_samples=SAMPLES, options=dict(options)
        )
        found.append((float(gain), point.detach().numpy(), k))
    _, point, k = max(found, key=lambda entry: entry[0])
    return point, k
