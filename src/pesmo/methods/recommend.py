"""The recommendation every method shares: the Pareto set of the posterior means, averaged over the samples."""

import numpy as np

from pesmo.arrays import cholesky
from pesmo.front import Front
from pesmo.gp.posterior import joint, mean_and_variance
from pesmo.methods.apart import differences, worth_telling_apart
from pesmo.methods.design import candidates
from pesmo.methods.model import Model
from pesmo.pareto.dominance import nondominated, ranks
from pesmo.pareto.solve import Front as Found
from pesmo.pareto.solve import Functions, Search, pareto_sets
from pesmo.pareto.subset import representatives
from pesmo.problem import Evidence

GRID = 2048
WITNESSES = 256  # space-filling points, and as many measured ones at most, that may dominate a recommended one
DRAWS = 24  # joint draws per hyperparameter sample for the probability


def recommend(model: Model, evidence: Evidence, size: int, rng: np.random.Generator) -> Front:
    """At most `size` points worth telling apart: their means, uncertainty and probability of being Pareto-optimal."""
    model, space = model.without_pending(), model.space
    most = max(size, 100)
    search = Search(points=most, archive=most, descents=most, steps=20, rounds=40, children=128)
    unit = _distinct(evidence, mean_front(model, evidence.measured_points, search, rng).points)
    unit = unit[_chosen(model, unit, size)]

    centre, half = [], []
    for objective, surrogate, x in zip(evidence.objectives, model.surrogates, model.features(unit), strict=True):
        mean, variance = mean_and_variance(surrogate.posterior, x)
        average = np.mean(mean, axis=0)
        sd = np.sqrt(np.mean(variance, axis=0) + np.var(mean, axis=0))  # law of total variance
        low, middle, high = (
            objective.from_model(surrogate.scaling.restore(average + t * sd)) for t in (-1.0, 0.0, 1.0)
        )
        centre.append(middle)
        half.append(np.abs(0.5 * high - 0.5 * low))  # huge values have no difference
    return Front(
        objectives=evidence.objectives,
        inputs=tuple(space.from_unit(row) for row in unit),
        means=np.stack(centre, axis=-1),
        sds=np.stack(half, axis=-1),
        probability=_probability(model, evidence, unit, rng),
        note=_note(evidence),
    )


def _note(evidence: Evidence) -> str | None:
    """Of how many values the model is, where not of all."""
    pairs = zip(evidence.objectives, evidence.observations, evidence.left_out, strict=True) if evidence.left_out else ()
    counts = [
        f"{objective.name} from {observed.values.size:,} of {observed.values.size + missing:,} values"
        for objective, observed, missing in pairs
        if missing
    ]
    return f"{'; '.join(counts)}: those near the front, and others spread over the space" if counts else None


def _distinct(evidence: Evidence, unit: np.ndarray) -> np.ndarray:
    """The distinct points (n, d) among `unit`, tidied; an input that no objective sees has one plain value in all."""
    space = evidence.space
    unseen = [all(o.inputs is not None and name not in o.inputs for o in evidence.objectives) for name in space.names]
    return np.unique([space.tidy(row) for row in np.where(unseen, space.middle, unit)], axis=0)


def _chosen(model: Model, unit: np.ndarray, size: int) -> np.ndarray:
    """Indices of at most `size` points worth telling apart, by the first objective."""
    pairs = zip(model.surrogates, model.features(unit), strict=True)
    means, sds = zip(*[differences(s.posterior, x) for s, x in pairs], strict=True)
    mean = np.stack(means, axis=-1)
    kept = worth_telling_apart(mean, np.stack(sds, axis=-1))
    kept = kept[representatives(mean[kept], size)]
    return kept[np.argsort(mean[kept, 0], kind="stable")]


def mean_front(model: Model, measured: np.ndarray, search: Search, rng: np.random.Generator) -> Found:
    """The Pareto set of the posterior means, averaged over the samples; the measured points (n, d) help the search."""

    def means(unit: np.ndarray) -> np.ndarray:
        """(1, n, K)"""
        return np.mean(model.means(unit.reshape(-1, model.space.dim)), axis=0)[None]

    def slopes(unit: np.ndarray) -> np.ndarray:
        """(1, n, K, d) their gradients."""
        return np.mean(model.mean_slopes(unit.reshape(-1, model.space.dim)), axis=0)[None]

    initial = np.concatenate([candidates(model.space, GRID, rng), measured])
    (found,) = pareto_sets(Functions(means, slopes, model.space.snap, model.worst), initial, search, rng)
    return found


def _probability(model: Model, evidence: Evidence, unit: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n,) share of joint posterior draws in which no other point of a dense set dominates each of `unit` (n, d)."""
    measured = evidence.measured_points
    if measured.shape[0] > WITNESSES:  # the joint draws cost its cube: those that may dominate are enough
        best = ranks(np.mean(model.means(measured), axis=0))
        measured = measured[np.argsort(best, kind="stable")[:WITNESSES]]
    others = np.concatenate([measured, candidates(model.space, WITNESSES, rng)])
    distinct = ~np.any(np.all(np.abs(others[:, None, :] - unit[None, :, :]) < 1e-12, axis=2), axis=1)
    points = np.concatenate([unit, others[distinct]])
    draws = []
    for surrogate, x in zip(model.surrogates, model.features(points), strict=True):
        mean, covariance, _ = joint(surrogate.posterior, np.broadcast_to(x, (surrogate.theta.shape[0], *x.shape)))
        ridge = 1e-9 * surrogate.posterior.amplitude[:, None, None] * np.eye(points.shape[0])
        normal = rng.standard_normal((mean.shape[0], points.shape[0], DRAWS))
        draws.append(mean[..., None] + cholesky(covariance + ridge) @ normal)  # (S, n, DRAWS)
    values = np.moveaxis(np.stack(draws, axis=-1), 2, 1).reshape(-1, points.shape[0], len(draws))
    return np.mean([nondominated(v)[: unit.shape[0]] for v in values], axis=0)
