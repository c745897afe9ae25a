"""What the BoTorch peers share: model, unit cube, sampled Pareto sets. BoTorch maximizes: y is negated."""

from __future__ import annotations

import numpy as np
import torch
from botorch.acquisition.multi_objective.utils import random_search_optimizer, sample_optimal_points
from botorch.fit import fit_gpytorch_mll
from botorch.models.gp_regression import SingleTaskGP
from botorch.models.model_list_gp_regression import ModelListGP
from botorch.models.transforms.outcome import Standardize
from botorch.utils.multi_objective.hypervolume import infer_reference_point
from botorch.utils.multi_objective.pareto import is_non_dominated
from gpytorch.mlls.sum_marginal_log_likelihood import SumMarginalLogLikelihood
from request import Request
from torch import Tensor


def tensors(x: np.ndarray, y: np.ndarray) -> tuple[Tensor, Tensor]:
    """Inputs (n, d) and values to maximize (n, K), in double precision as BoTorch advises."""
    return torch.tensor(x, dtype=torch.double), torch.tensor(-y, dtype=torch.double)


def reference_point(y: Tensor, request: Request) -> Tensor:
    """What hypervolume is measured from, for values y (n, K) to maximize: as stated, or inferred as BoTorch does."""
    if request.reference is not None:
        return -torch.tensor(request.reference, dtype=torch.double)
    return infer_reference_point(y[is_non_dominated(y)])


def unit_cube(dim: int) -> Tensor:
    """Bounds (2, d)."""
    return torch.stack([torch.zeros(dim), torch.ones(dim)]).double()


def fitted_model(x: Tensor, y: Tensor) -> ModelListGP:
    """One fitted SingleTaskGP per objective, standardized, as in the multi-objective tutorial."""
    model = ModelListGP(
        *(SingleTaskGP(x, y[:, k : k + 1], outcome_transform=Standardize(m=1)) for k in range(y.shape[1]))
    )
    fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
    return model


def decoupled_model(x: np.ndarray, y: np.ndarray) -> ModelListGP:
    """The same where objectives were measured at points of their own: y is nan where one was not."""
    models = []
    for k in range(y.shape[1]):
        there = ~np.isnan(y[:, k])
        models.append(SingleTaskGP(*tensors(x[there], y[there, k : k + 1]), outcome_transform=Standardize(m=1)))
    model = ModelListGP(*models)
    fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
    return model


def sampled_pareto_sets(model: ModelListGP, dim: int, draws: int, points: int) -> tuple[Tensor, Tensor]:
    """Pareto sets (draws, points, d) and fronts (draws, points, K) of sample paths, by random search.

    BoTorch needs the same number of points in every set, and raises RuntimeError when its search finds fewer:
    for d = 3, K = 2 often 20 to 40 of 50. More tries hardly help (200 of them: 38, in 40 s and 9 GB), so its
    defaults stay, and the error is the result; the caller may ask again for fewer points, and say so.
    """
    return sample_optimal_points(
        model, unit_cube(dim), num_samples=draws, num_points=points, optimizer=random_search_optimizer
    )
