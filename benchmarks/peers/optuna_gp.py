"""Optuna's GPSampler with its defaults: a fresh study holding the data, then one ask."""

from __future__ import annotations

import numpy as np
import optuna
from request import Request

optuna.logging.set_verbosity(optuna.logging.WARNING)


def suggest(x: np.ndarray, y: np.ndarray, request: Request) -> np.ndarray:
    """The next point: it maximizes log EHVI."""
    return next_point(x, y, optuna.samplers.GPSampler(seed=request.seed))


def next_point(x: np.ndarray, y: np.ndarray, sampler: optuna.samplers.BaseSampler) -> np.ndarray:
    """What a sampler asks for in a fresh study that holds the data."""
    inputs = {f"x{i}": optuna.distributions.FloatDistribution(0.0, 1.0) for i in range(x.shape[1])}
    study = optuna.create_study(directions=["minimize"] * y.shape[1], sampler=sampler)
    study.add_trials(
        [
            optuna.trial.create_trial(
                params=dict(zip(inputs, map(float, point), strict=True)),
                distributions=dict(inputs),
                values=list(map(float, values)),
            )
            for point, values in zip(x, y, strict=True)
        ]
    )
    trial = study.ask(dict(inputs))
    return np.array([trial.params[name] for name in inputs])
