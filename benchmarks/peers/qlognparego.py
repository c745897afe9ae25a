"""BoTorch's qLogNParEGO: a random augmented Chebyshev scalarization and its noisy log expected improvement."""

from __future__ import annotations

import numpy as np
from botorch.acquisition.multi_objective.parego import qLogNParEGO
from botorch.optim import optimize_acqf
from models import fitted_model, tensors, unit_cube
from request import Request


def suggest(x: np.ndarray, y: np.ndarray, request: Request) -> np.ndarray:
    """The next point; the scalarization comes from torch's generator, which the server seeds."""
    train_x, train_y = tensors(x, y)
    acquisition = qLogNParEGO(model=fitted_model(train_x, train_y), X_baseline=train_x, prune_baseline=True)
    best, _ = optimize_acqf(acquisition, bounds=unit_cube(x.shape[1]), q=1, num_restarts=10, raw_samples=512)
    return best.numpy()
