"""EHI (Emmerich and Klinkenberg, 2008): the expected gain in hypervolume, exact for any number of objectives.

With independent objectives and disjoint boxes [l, u] of the undominated region,
    EHI(x) = sum over boxes of  prod_k  E[max(u_k - y_k, 0) - max(l_k - y_k, 0)],
each factor in closed form (improvement.py). Everything is kept as a logarithm, so that the acquisition has a slope
where there is next to nothing to gain (as LogEI: Ament et al., 2023). Averaged over the hyperparameter samples.
"""

import numpy as np

from pesmo.methods.fronts import Known, measured_fronts
from pesmo.methods.improvement import h, log_difference, log_h, log_mean_exp, log_sum_exp
from pesmo.methods.maximize import OfPoints, maximize
from pesmo.methods.model import fit
from pesmo.methods.protocol import Answer, State
from pesmo.problem import Evidence


class Ehi:
    needs_design = True
    needs_complete = True
    most_objectives: int | None = None

    def suggest(self, evidence: Evidence, state: State | None, rng: np.random.Generator) -> Answer:
        model = fit(evidence, state, rng)
        fronts = measured_fronts(model, evidence)

        def averaged(form):
            def at(unit: np.ndarray) -> np.ndarray:
                mean, sd = model.moments(unit)
                return log_mean_exp(np.stack([form(f, m, s) for f, m, s in zip(fronts, mean, sd, strict=True)]), axis=0)

            return at

        acquisition = OfPoints(
            at=averaged(log_expected_gain),
            rough=averaged(rough_log_expected_gain),
            promising=np.concatenate([front.points for front in fronts]),
            usable=evidence.complete,
            logarithmic=True,
        )
        return Answer(maximize(acquisition, evidence, rng), model.state)


def log_expected_gain(front: Known, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """(n,) log of the expected gain in hypervolume of values N(mean, sd^2), both (n, K)."""
    total = np.zeros((mean.shape[0], front.upper.shape[0]))
    for k in range(mean.shape[1]):
        edges, low, high = front.edges(k)
        at_edge = log_h((edges - mean[:, k, None]) / sd[:, k, None])
        total += log_difference(at_edge[:, high], at_edge[:, low]) + np.log(sd[:, k, None])
    return log_sum_exp(total, axis=1)


def rough_log_expected_gain(front: Known, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """The same without logarithms inside: many times faster, and -inf where the gain is below the smallest float."""
    product = np.ones((mean.shape[0], front.upper.shape[0]))
    for k in range(mean.shape[1]):
        edges, low, high = front.edges(k)
        z = (np.maximum(edges, -1e9) - mean[:, k, None]) / sd[:, k, None]
        gain = h(z) * sd[:, k, None]
        product *= gain[:, high] - gain[:, low]
    total = np.sum(product, axis=1)
    return np.where(total > 0.0, np.log(np.where(total > 0.0, total, 1.0)), -np.inf)
