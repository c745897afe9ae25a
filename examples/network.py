"""A neural network: error by training, prediction time by a stopwatch.

Training is dear and its error depends on everything; the time of a prediction depends on the network's shape alone and
is measured in a moment on an untrained one. So pesmo trains where it must and clocks where that is enough. The network
is a page of NumPy, the task to tell two spirals apart.

    python examples/network.py           # 60 evaluations, a few minutes, and network.html
"""

import sys
import time
from itertools import pairwise

import numpy as np
from rich.console import Console

import pesmo
from pesmo.report import write_report
from pesmo.report.tables import front_table

space = pesmo.Space(
    rate=pesmo.Float(1e-3, 1.0, log=True),
    momentum=pesmo.Float(0.0, 0.95),
    decay=pesmo.Float(1e-6, 1e-2, log=True),
    layers=pesmo.Int(1, 4),
    units=pesmo.Int(4, 64, log=True),
)


def spirals(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 2) of two noisy spirals, and which of them each is on."""
    rng = np.random.default_rng(seed)
    turn = np.sqrt(rng.uniform(0.02, 1.0, count))
    side = rng.integers(0, 2, count)
    angle = 3.5 * np.pi * turn + np.pi * side
    points = np.stack([turn * np.cos(angle), turn * np.sin(angle)], axis=1)
    return 2.0 * points + 0.04 * rng.standard_normal(points.shape), side


def start(inputs: dict) -> list[np.ndarray]:
    """Random weights; the last row of each matrix is the bias."""
    rng = np.random.default_rng(0)
    sizes = [2, *[inputs["units"]] * inputs["layers"], 1]
    return [rng.standard_normal((m + 1, n)) * np.sqrt(2.0 / m) for m, n in pairwise(sizes)]


def forward(weights: list[np.ndarray], x: np.ndarray) -> list[np.ndarray]:
    """What each layer gives, the input first, the logits last."""
    outputs = [x]
    for n, w in enumerate(weights):
        x = x @ w[:-1] + w[-1]
        x = x if n == len(weights) - 1 else np.tanh(x)
        outputs.append(x)
    return outputs


def train(inputs: dict, steps: int = 600) -> float:
    """The share of new points that are told wrongly, half a point added: a logit has no zero."""
    x, side = spirals(400, seed=1)
    weights = start(inputs)
    speed = [np.zeros_like(w) for w in weights]
    for _ in range(steps):
        outputs = forward(weights, x)
        slope = (0.5 * (1.0 + np.tanh(0.5 * outputs[-1])) - side[:, None]) / len(x)
        for n in reversed(range(len(weights))):
            with_bias = np.concatenate([outputs[n], np.ones((len(x), 1))], axis=1)
            gradient = with_bias.T @ slope + inputs["decay"] * weights[n]
            slope = (slope @ weights[n][:-1].T) * (1.0 - outputs[n] ** 2)
            speed[n] = inputs["momentum"] * speed[n] - inputs["rate"] * gradient
            weights[n] = weights[n] + speed[n]
    new, truth = spirals(1000, seed=2)
    wrong = np.sum((forward(weights, new)[-1][:, 0] > 0) != truth)
    return float((wrong + 0.5) / (len(new) + 1))


def clock(inputs: dict) -> float:
    """Milliseconds for a thousand predictions: the quickest of ten."""
    weights, x = start(inputs), spirals(1000, seed=3)[0]
    taken = []
    for _ in range(10):
        begun = time.perf_counter()
        forward(weights, x)
        taken.append(time.perf_counter() - begun)
    return 1e3 * min(taken)


def main(evaluations: int = 60, report: str | None = "network.html") -> pesmo.Study:
    study = pesmo.Study(
        space,
        objectives=[
            pesmo.Objective("error", transform="logit"),
            pesmo.Objective("time", inputs=["layers", "units"], transform="log", unit="ms"),
        ],
        experiments=[
            pesmo.Experiment("train", reveals=["error"], cost=30),
            pesmo.Experiment("clock", reveals=["time"], cost=1),
        ],
        seed=2,
        name="two spirals",
    )
    front = study.run({"train": train, "clock": clock}, evaluations=evaluations)
    Console().print(front_table(front))
    if report:
        print("the report:", write_report(study, report))
    return study


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
