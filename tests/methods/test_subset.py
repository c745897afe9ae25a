"""The subset that a model is made from: the farthest points, against plain loops."""

import numpy as np

from pesmo.methods import subset as room


def farthest(points: np.ndarray, taken: list[int], most: int) -> list[int]:
    """Each next one is the point whose nearest chosen point is farthest away."""
    chosen = list(taken) or [0]
    while len(chosen) < min(most, len(points)):
        gaps = [min(np.linalg.norm(p - points[i]) for i in chosen) for p in points]
        chosen.append(int(np.argmax(gaps)))
    return chosen


def test_the_farthest_points_are_those_of_plain_loops() -> None:
    points = np.random.default_rng(0).uniform(size=(40, 3))
    for taken, most in (([], 7), ([3], 7), ([5, 9, 2], 12), ([], 60)):
        assert room._farthest(points, np.array(taken, int), most).tolist()[: min(most, 40)] == farthest(
            points, taken, min(most, 40)
        )


def test_half_are_of_the_best_ranks_and_the_rest_far_from_them() -> None:
    points = np.random.default_rng(1).uniform(size=(50, 2))
    ranks = np.arange(50) // 5  # ten ranks of five
    chosen = room._spread(points, ranks, 20)
    assert len(set(chosen.tolist())) == 20
    assert set(range(10)) <= set(chosen[:10].tolist())
    assert chosen.tolist() == farthest(points, chosen[:10].tolist(), 20)
    assert room._spread(points, ranks, 50).tolist() == list(range(50))
