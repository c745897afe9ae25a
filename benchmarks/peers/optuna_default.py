"""Optuna with the sampler it takes when a multi-objective study names none (version 5: TPE)."""

from __future__ import annotations

import numpy as np
import optuna
from optuna_gp import next_point
from request import Request


def suggest(x: np.ndarray, y: np.ndarray, request: Request) -> np.ndarray:
    """The next point."""
    sampler = type(optuna.create_study(directions=["minimize"] * y.shape[1]).sampler)
    return next_point(x, y, sampler(seed=request.seed))
