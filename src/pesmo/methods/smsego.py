"""SMSego (Ponweiser et al., 2008): the gain in hypervolume of an optimistic estimate, m - c sd.

A point whose estimate the front epsilon-dominates gets a penalty instead, which grows with the distance inside the
dominated region: -(prod_k (1 + max(0, estimate_k - y_k)) - 1) for the front point y that gives the largest. Averaged
over the hyperparameter samples.

The original divides the front's extent by the number of front points and evaluations left for epsilon; a study need
not know its end, so the evaluations left count as LEFT.
"""

import numpy as np

from pesmo.methods.fronts import Known, known_fronts
from pesmo.methods.maximize import OfPoints, maximize
from pesmo.methods.model import fit
from pesmo.methods.protocol import Answer, State
from pesmo.pareto.boxes import hypervolume_gains
from pesmo.problem import Evidence

OPTIMISM = 1.0  # c
LEFT = 50


class Smsego:
    needs_design = True
    needs_complete = True
    most_objectives: int | None = None

    def suggest(self, evidence: Evidence, state: State | None, rng: np.random.Generator) -> Answer:
        model = fit(evidence, state, rng)
        fronts = known_fronts(model, evidence, rng)

        def at(unit: np.ndarray) -> np.ndarray:
            mean, sd = model.moments(unit)
            estimates = mean - OPTIMISM * sd
            return np.mean([gain_or_penalty(f, y) for f, y in zip(fronts, estimates, strict=True)], axis=0)

        acquisition = OfPoints(
            at=at,
            promising=np.concatenate([front.points for front in fronts]),
            usable=evidence.complete,
            logarithmic=False,
        )
        return Answer(maximize(acquisition, evidence, rng), model.state)


def epsilon(front: Known) -> np.ndarray:
    """(K,) by how much a front point may be worse than an estimate and still dominate it."""
    k = front.extent.size
    return front.extent / (front.values.shape[0] + (1.0 - 0.5**k) * LEFT)


def gain_or_penalty(front: Known, estimates: np.ndarray) -> np.ndarray:
    """(n,) for optimistic estimates (n, K): their hypervolume gain, or minus the penalty of the epsilon-dominated."""
    worse = estimates[:, None, :] - front.values  # (n, m, K)
    dominated = np.all(worse >= -epsilon(front), axis=2)
    depth = np.prod(1.0 + np.maximum(worse, 0.0), axis=2) - 1.0
    penalty = np.max(np.where(dominated, depth, 0.0), axis=1)
    gain = hypervolume_gains(front.lower, front.upper, estimates)
    return np.where(np.any(dominated, axis=1), -penalty, gain)
