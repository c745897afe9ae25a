"""The front listed n = 1, 2, 2, 3 of an Int(1, 3), and fifty points where the truth has three."""

import numpy as np
import pytest

from pesmo import Choice, Float, Int, Objective, Space, Study
from pesmo.methods.apart import ROUNDING, SHARE, TRADE, differences, worth_telling_apart
from pesmo.methods.sequence import sobol
from pesmo.pareto.dominance import hypervolume


def distinct(points) -> bool:
    return len({tuple(point.items()) for point in points}) == len(points)


@pytest.mark.parametrize("log", [False, True])
def test_a_point_is_recommended_once(log: bool) -> None:
    study = Study(Space(n=Int(1, 3, log=log)), ["a", "b"], seed=0)
    rng = np.random.default_rng(0)
    for i in range(9):
        n = 1 + i % 3
        study.add({"n": n}, {"a": n + 0.1 * rng.normal(), "b": -n + 0.1 * rng.normal()})
    front = study.recommend()
    assert sorted(point["n"] for point in front.inputs) == [1, 2, 3]


def test_the_readme_has_three_trade_offs() -> None:
    """Its space and its functions: the best of each number of layers are lr = 0.01 and relu."""
    space = Space(lr=Float(1e-4, 1e-1, log=True), layers=Int(1, 3), activation=Choice("relu", "tanh"))
    study = Study(space, ["error", "time"], seed=0)
    for row in sobol(3, 32, 0):
        point = space.from_unit(row)
        error = (point["layers"] - 3) ** 2 + abs(point["lr"] - 0.01)
        study.add(point, {"error": error, "time": 0.1 * point["layers"] + 0.05 * (point["activation"] == "tanh")})
    front = study.recommend()
    assert len(front) <= 4
    assert {point["layers"] for point in front.inputs} == {1, 2, 3}
    assert {point["activation"] for point in front.inputs} == {"relu"}


def test_an_input_that_no_objective_sees_makes_no_points() -> None:
    space = Space(x=Float(0, 1), lamp=Float(0.013, 8.7, log=True), colour=Choice("red", "green", "blue"))
    study = Study(space, [Objective("a", inputs=["x"]), Objective("b", inputs=["x"])], seed=0)
    for row in sobol(3, 16, 0):
        point = space.from_unit(row)
        study.add(point, {"a": point["x"] ** 2, "b": (1 - point["x"]) ** 2})
    front = study.recommend(size=20)
    assert len(front) == 20
    assert len({point["x"] for point in front.inputs}) == 20
    assert {(point["lamp"], point["colour"]) for point in front.inputs} == {(0.3, "green")}


def test_a_smooth_front_keeps_its_points_and_its_hypervolume() -> None:
    study = Study(Space(x=Float(0, 1), y=Float(0, 1)), ["a", "b"], seed=0)
    for x, y in sobol(2, 32, 0).tolist():
        study.add({"x": x, "y": y}, smooth(x, y))
    front = study.recommend()
    assert len(front) >= 45
    found = np.array([list(smooth(**point).values()) for point in front.inputs])
    x = np.linspace(0, 1, 2001)
    whole = np.array([list(smooth(x_, 0.4).values()) for x_ in x.tolist()])
    reference = np.array([1.0, 1.0])
    assert hypervolume(found, reference) > 0.985 * hypervolume(whole, reference)


def smooth(x: float, y: float) -> dict[str, float]:
    return {"a": x**2 + (y - 0.4) ** 2, "b": (1 - x) ** 2 + (y - 0.4) ** 2}


@pytest.mark.parametrize("objectives", [1, 4])
def test_one_objective_has_one_point_and_many_have_at_most_as_many_as_asked(objectives: int) -> None:
    study = Study(Space(x=Float(0, 1), y=Float(0, 1)), [f"f{k}" for k in range(objectives)], seed=0)
    for row in sobol(2, 16, 0):
        study.add({"x": row[0], "y": row[1]}, {f"f{k}": float(np.sum((row - k / 4) ** 2)) for k in range(objectives)})
    front = study.recommend(size=12)
    assert len(front) == (1 if objectives == 1 else 12)
    assert distinct(front.inputs)


def random_front(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Means (40, 3), and sds of differences (40, 40, 3) of points that are correlated where they are near."""
    rng = np.random.default_rng(seed)
    mean = rng.uniform(size=(40, 3)) * [1.0, 100.0, 0.01]
    mean[rng.integers(40, size=25)] = mean[0] + rng.normal(size=(25, 3)) * [1e-3, 0.3, 1e-5]
    near = np.sqrt(np.sum(((mean[:, None] - mean[None]) / np.ptp(mean, axis=0)) ** 2, axis=-1))
    return mean, 0.3 * near[..., None] * rng.uniform(size=3) * np.ptp(mean, axis=0)


def left_out_for(mean: np.ndarray, sd: np.ndarray, j: int, i: int) -> bool:
    """The formula of apart.py, one number after the other."""
    extent = [max(column) - min(column) for column in mean.T.tolist()]
    gains = [(mean[i, k] - mean[j, k]) / extent[k] for k in range(mean.shape[1])]
    small = max(SHARE, TRADE * max(-g for g in gains))
    return all(g <= small and g * e <= max(s, ROUNDING) for g, e, s in zip(gains, extent, sd[i, j], strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_what_is_left_out_is_left_out_for_a_point_that_is_kept(seed: int) -> None:
    mean, sd = random_front(seed)
    kept = worth_telling_apart(mean, sd).tolist()
    assert 5 < len(kept) < 40
    for j in range(40):
        reasons = [i for i in kept if i != j and left_out_for(mean, sd, j, i)]
        if j not in kept:
            assert reasons
        else:  # only for points that came later
            assert all(kept.index(i) > kept.index(j) for i in reasons)


def test_a_difference_that_the_model_is_sure_of_is_kept_however_small_it_is() -> None:
    mean = np.array([[0.0, 1.0], [1e-4, 1.0 - 1e-4], [1.0, 0.0]])
    assert len(worth_telling_apart(mean, np.full((3, 3, 2), 1e-6))) == 3
    assert len(worth_telling_apart(mean, np.full((3, 3, 2), 1e-2))) == 2


def test_a_large_difference_is_kept_however_unsure_the_model_is() -> None:
    mean = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
    assert len(worth_telling_apart(mean, np.full((3, 3, 2), 100.0))) == 3


def test_what_loses_much_for_a_gain_that_is_unsure_and_small_beside_it_is_left_out() -> None:
    mean = np.array([[0.0, 1.0], [0.5, 0.99], [1.0, 0.0]])  # the second gains 0.01, and loses 0.5
    assert worth_telling_apart(mean, np.full((3, 3, 2), 0.1)).tolist() == [0, 2]
    assert len(worth_telling_apart(mean, np.full((3, 3, 2), 0.001))) == 3


def test_the_sd_of_a_difference_is_that_of_joint_draws() -> None:
    study = Study(Space(x=Float(0, 1), n=Int(0, 3)), ["a"], seed=0)
    rng = np.random.default_rng(0)
    for row in sobol(2, 16, 0):
        study.add(study.space.from_unit(row), {"a": float(np.sin(5 * row[0]) + row[1] + 0.3 * rng.normal())})
    (surrogate,) = study.fitted().surrogates
    x = study.space.features(rng.uniform(size=(5, 2)))
    mean, sd = differences(surrogate.data, x)
    posterior, draws, means = surrogate.data, [], []
    together = np.vstack([x, posterior.x])
    gaps = together[:, None] - together[None]
    for s in range(posterior.scales.shape[0]):
        r = np.sqrt(5 * np.sum((gaps / posterior.scales[s]) ** 2, axis=-1))
        k = posterior.amplitude[s] * (1 + r + r**2 / 3) * np.exp(-r)
        inner = k[5:, 5:] + posterior.noise[s] * np.eye(16)
        values = surrogate.scaling.standardize(np.array([t.values["a"] for t in study.trials]))
        centre = k[:5, 5:] @ np.linalg.solve(inner, values)
        covariance = k[:5, :5] - k[:5, 5:] @ np.linalg.solve(inner, k[5:, :5])
        draws.append(rng.multivariate_normal(centre, covariance, size=4000, method="eigh"))
        means.append(centre)
    drawn = np.concatenate(draws)
    assert np.allclose(mean, np.mean(means, axis=0), atol=1e-6)
    assert np.allclose(sd, np.std(drawn[:, :, None] - drawn[:, None, :], axis=0), rtol=0.05, atol=1e-6)
