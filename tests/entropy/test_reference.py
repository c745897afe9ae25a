"""EP and alpha_k against the same by plain loops (tests/oracle/ep.py): the values themselves."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from pesmo.entropy import propagate as ep
from pesmo.entropy.candidate import View, alpha, alpha_and_gradient, screen
from pesmo.gp.posterior import condition, joint
from tests.oracle import ep as loops

SWEEPS, DAMPING, TOLERANCE, SHARE = 8, 0.6, 2e-2, 0.2  # the package's


@dataclass(frozen=True)
class Problem:
    """Random data of K objectives, each observed at points of its own, and S draws with M Pareto and P - M data points.

    The last Pareto points of the second draw and its last data point are padding.
    """

    x: list[np.ndarray]  # per objective (N, d)
    y: list[np.ndarray]
    scales: np.ndarray  # (K, S, d)
    amplitude: np.ndarray  # (K, S)
    noise: np.ndarray
    points: np.ndarray  # (S, P, d)
    real: np.ndarray  # (S, M)
    present: np.ndarray  # (S, P)
    best: np.ndarray  # (S, K, M)
    candidates: np.ndarray  # (G, d)

    @property
    def active(self) -> np.ndarray:
        """(S, P, M) every pair of two different points that are no padding."""
        size = self.real.shape[1]
        other = ~np.eye(self.points.shape[1], size, dtype=bool)
        return self.present[:, :, None] & self.real[:, None, :] & other

    def views(self) -> tuple[list[View], ep.Conditioned]:
        views, means, covariances = [], [], []
        for k, (x, y) in enumerate(zip(self.x, self.y, strict=True)):
            posterior = condition(x, y, self.scales[k], self.amplitude[k], self.noise[k])
            mean, covariance, whitened = joint(posterior, self.points)
            views.append(View(posterior, self.points, whitened))
            means.append(mean)
            covariances.append(covariance)
        q = ep.propagate(np.stack(means, axis=1), np.stack(covariances, axis=1), self.active, self.real, self.best)
        return views, q

    def without_padding(self, s: int, k: int, extra: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of objective k of draw s at its points that are no padding, and at `extra` (n, d)."""
        points = np.concatenate([self.points[s][self.present[s]], extra])
        hyper = self.scales[k, s], self.amplitude[k, s], self.noise[k, s]
        return loops.posterior(self.x[k], self.y[k], points, *hyper)

    def by_loops(self, s: int, sweeps: int, damping: float, tolerance: float = 0.0) -> loops.Fixed:
        both = [self.without_padding(s, k, self.points[s, :0]) for k in range(len(self.x))]
        size = int(self.real[s].sum())
        count = both[0][0].size
        mean, cov = np.array([m for m, _ in both]), np.array([c for _, c in both])
        active = ~np.eye(count, size, dtype=bool)
        return loops.propagate(
            mean, cov, active, self.best[s][:, :size], sweeps=sweeps, damping=damping, tolerance=tolerance
        )

    def alpha_by_loops(self, sweeps: int) -> tuple[np.ndarray, np.ndarray]:
        """alpha_k (K, G) without and with the candidate's own factors: the means of the draws' gains."""
        gains = []
        for s in range(len(self.points)):
            q = self.by_loops(s, sweeps, DAMPING)
            best = self.best[s][:, : int(self.real[s].sum())]
            for x in self.candidates:
                both = [self.without_padding(s, k, x[None]) for k in range(len(self.x))]
                mean, cov = np.array([m for m, _ in both]), np.array([c for _, c in both])
                gains.append(loops.gain(mean, cov, q, best, self.noise[:, s].tolist(), share=SHARE))
        table = np.array(gains).reshape(len(self.points), len(self.candidates), 2, len(self.x))
        cheap, full = np.moveaxis(table.mean(axis=0), 0, -1)
        return cheap, full


def problem(objectives: int, ends: bool, seed: int = 0, pareto: int = 4, data: int = 2, padded: bool = True) -> Problem:
    rng = np.random.default_rng([seed, objectives])
    draws, dim, size = 2, 2, 1 if objectives == 1 else pareto
    x = [rng.uniform(size=(6 + k, dim)) for k in range(objectives)]
    real = np.ones((draws, size), bool)
    present = np.ones((draws, size + data), bool)
    if padded:
        present[1, -1] = False
        if size > 2:
            real[1, -1] = present[1, size - 1] = False
    best = np.zeros((draws, objectives, size), bool)
    if ends:
        best[0, range(objectives), np.arange(objectives) % size] = True
        best[1, 0, 0] = True
        best[1, -1, 0] = True  # a point may be the best in two objectives
    return Problem(
        x=x,
        y=[rng.standard_normal(len(at)) for at in x],
        scales=rng.uniform(0.3, 0.7, (objectives, draws, dim)),
        amplitude=rng.uniform(0.7, 2.0, (objectives, draws)),
        noise=rng.uniform(0.01, 0.1, (objectives, draws)),
        points=rng.uniform(size=(draws, size + data, dim)),
        real=real,
        present=present,
        best=best,
        candidates=rng.uniform(size=(4, dim)),
    )


CASES = [(1, False), (1, True), (2, False), (2, True), (3, False), (4, True)]


@pytest.mark.parametrize(("objectives", "ends"), CASES)
def test_ep_is_the_loops_sweep_for_sweep(objectives: int, ends: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    case = problem(objectives, ends)
    monkeypatch.setattr(ep, "TOLERANCE", 0.0)  # so that no draw ends early
    for sweeps in (1, 2, 3, SWEEPS):
        monkeypatch.setattr(ep, "SWEEPS", sweeps)
        _, q = case.views()
        assert q.sweeps == sweeps
        for s in range(2):
            right, size = case.by_loops(s, sweeps, DAMPING), int(case.real[s].sum())
            np.testing.assert_allclose(q.mean[s][:, :size], right.mean[:, :size], rtol=0, atol=1e-5)
            np.testing.assert_allclose(q.cov[s][:, :size, :size], right.cov[:, :size, :size], rtol=0, atol=1e-5)


@pytest.mark.parametrize("objectives", [1, 2, 3])
def test_the_fixed_point_is_that_of_the_loops_with_another_damping(
    objectives: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = problem(objectives, False)
    case = replace(case, y=[0.3 * y for y in case.y])  # means within reach of the condition: then EP converges
    monkeypatch.setattr(ep, "TOLERANCE", 1e-9)
    monkeypatch.setattr(ep, "SWEEPS", 200)
    _, q = case.views()
    assert q.sweeps < 200
    for s in range(2):
        fixed, size = case.by_loops(s, 200, 0.9, 1e-8), int(case.real[s].sum())
        assert fixed.sweeps < 200
        np.testing.assert_allclose(q.mean[s][:, :size], fixed.mean[:, :size], rtol=0, atol=1e-5)
        np.testing.assert_allclose(q.cov[s][:, :size, :size], fixed.cov[:, :size, :size], rtol=0, atol=1e-5)


@pytest.mark.parametrize(("objectives", "seed", "sweeps"), [(1, 0, 4), (2, 0, 7), (2, 1, 8)])
def test_as_it_comes_ep_makes_eight_sweeps_or_ends_when_one_moves_nothing(
    objectives: int, seed: int, sweeps: int
) -> None:
    case = problem(objectives, False, seed, padded=False)
    _, q = case.views()
    each = [case.by_loops(s, SWEEPS, DAMPING, TOLERANCE).sweeps for s in range(2)]
    assert q.sweeps == max(each) == sweeps  # both draws are one block: none ends before the other
    for s in range(2):
        right = case.by_loops(s, sweeps, DAMPING)
        np.testing.assert_allclose(q.mean[s], right.mean[:, : q.mean.shape[2]], rtol=0, atol=1e-5)


@pytest.mark.parametrize(("objectives", "ends"), CASES)
def test_alpha_is_the_loops(objectives: int, ends: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    case = problem(objectives, ends)
    monkeypatch.setattr(ep, "TOLERANCE", 0.0)
    views, q = case.views()
    features = [case.candidates] * objectives
    cheap, full = case.alpha_by_loops(SWEEPS)
    assert full.max() > 0.01
    np.testing.assert_allclose(screen(views, q, features), cheap, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(alpha(views, q, features), full, rtol=1e-3, atol=1e-6)
    weights = np.arange(1.0, objectives + 1.0)
    value, _ = alpha_and_gradient(views, q, features, weights)
    np.testing.assert_allclose(value, weights @ full, rtol=1e-3, atol=1e-6)
