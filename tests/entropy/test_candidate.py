"""alpha_k and its gradient, against finite differences and against dense linear algebra."""

from dataclasses import replace

import numpy as np
import pytest

from pesmo.entropy.candidate import View, alpha, alpha_and_gradient, screen
from pesmo.gp.posterior import first
from tests.entropy.cases import acquisition_case


@pytest.mark.parametrize(("objectives", "ends"), [(1, False), (1, True), (2, False), (2, True), (4, False)])
def test_gradient_is_the_slope_of_alpha(objectives: int, ends: bool) -> None:
    points = 1 if objectives == 1 else 5
    views, conditioned, features = acquisition_case(objectives, seed=objectives, pareto=points, ends=ends)
    weights = np.linspace(1.0, 0.5, objectives)
    x = features[0]
    value, parts = alpha_and_gradient(views, conditioned, features, weights)
    np.testing.assert_allclose(value, weights @ alpha(views, conditioned, features), rtol=1e-10)
    gradient = np.sum(parts, axis=0)
    step = 1e-6
    for j in range(x.shape[1]):
        shift = np.zeros(x.shape[1])
        shift[j] = step
        up = weights @ alpha(views, conditioned, [x + shift] * objectives)
        down = weights @ alpha(views, conditioned, [x - shift] * objectives)
        np.testing.assert_allclose(gradient[:, j], (up - down) / (2 * step), rtol=2e-4, atol=2e-5)


def test_draws_of_one_sample_that_share_its_work_give_what_draws_on_their_own_give() -> None:
    views, conditioned, features = acquisition_case(2, seed=11, times=3, ends=True)
    alone = []
    for view in views:
        roots = np.concatenate([view.posterior.root] * 3)
        alone.append(replace(view, posterior=replace(view.posterior, root=roots, times=1)))
    np.testing.assert_allclose(
        alpha(views, conditioned, features), alpha(alone, conditioned, features), rtol=1e-10, atol=1e-14
    )
    weights = np.array([1.0, 0.5])
    value, gradients = alpha_and_gradient(views, conditioned, features, weights)
    right, right_gradients = alpha_and_gradient(alone, conditioned, features, weights)
    np.testing.assert_allclose(value, right, rtol=1e-10)
    np.testing.assert_allclose(gradients, right_gradients, rtol=1e-8, atol=1e-12)


def test_alpha_is_never_negative_and_never_below_the_screen() -> None:
    views, conditioned, features = acquisition_case(3, seed=7)
    full, cheap = alpha(views, conditioned, features), screen(views, conditioned, features)
    assert np.all(cheap >= -1e-9)
    assert np.all(full >= cheap - 1e-9)  # the candidate's own factors can only add


@pytest.mark.parametrize(("data", "few"), [(8, 10), (200, 5), (400, 3)])
def test_a_screening_looks_at_the_first_draws_the_fewer_the_more_data_there_is(data: int, few: int) -> None:
    views, q, features = acquisition_case(1, seed=1, samples=12, data=data, pareto=1)
    some = [first_draws(view, few) for view in views]
    part = replace(q, whiten=q.whiten[:few], narrow=q.narrow[:few])
    np.testing.assert_allclose(screen(views, q, features), screen(some, part, features), rtol=1e-12)
    assert np.all(screen(views, q, features) != screen([first_draws(v, few - 1) for v in views], q, features))


def first_draws(view: View, count: int) -> View:
    return View(first(view.posterior, count), view.points[:count], view.whitened[:count])
