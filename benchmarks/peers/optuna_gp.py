"""Optuna's GPSampler with its defaults: a fresh study holding the data, then one ask."""

from __future__ import annotations

import numpy as np
import optuna

optuna.logging.set_verbosity(optuna.logging.WARNING)


def suggest(x: np.ndarray, y: np.ndarray, seed: int, draws: int, pareto_points: int) -> np.ndarray:
    """The next point; draws and pareto_points have no meaning here (it maximizes log EHVI)."""
    inputs = {f"x{i}": optuna.distributions.FloatDistribution(0.0, 1.0) for i in range(x.shape[1])}
    study = optuna.create_study(directions=["minimize"] * y.shape[1], sampler=optuna.samplers.GPSampler(seed=seed))
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
