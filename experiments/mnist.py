"""Fast and accurate neural networks on MNIST (the paper's section 5.3), by PyTorch, on a GPU where there is one.

Inputs: layers, units, learning rate, dropout, l1, l2. Objectives: error on images held out (logit), and prediction time
of a network with random weights over that of the fastest network (log), which depends on layers and units only. Data:
the four IDX files, in --data DIR or ../shared/data/mnist, else downloaded from OpenML.
"""

from __future__ import annotations

import gzip
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import pesmo
from experiments import applied
from experiments.applied import Scale, applied_section, applied_task
from experiments.results import Results
from experiments.runs import Run
from experiments.sections import Output
from experiments.task import Inputs, Task

TITLE = "Neural networks on MNIST"
SCALES = {"small": Scale(3, 30, 15, 10), "paper": Scale(50, 100, 50, 50)}
OPTIONS: dict[str, dict[str, Any]] = {"data": {"default": "", "metavar": "DIR", "help": "where the IDX files are"}}
REFERENCE = (0.0, 3.0)  # an error of one half, twenty times the fastest network's time
FASTEST = {"layers": 1, "units": 50}
PAPER = {
    "pesmo": ("66.2 ± .2", "67.8 ± .1"), "pesmo-decoupled": ("67.6 ± .1", "67.8 ± .1"),
    "parego": ("62.9 ± 1.2", "66.1 ± .2"), "smsego": ("65.0 ± .3", "67.1 ± .2"), "ehi": ("64.0 ± .9", "66.6 ± .2"),
    "sur": ("66.6 ± .2", "67.2 ± .1"),
}  # fmt: skip


@dataclass(frozen=True)
class Training:
    """How much of the data, how long, and how often a prediction is timed."""

    images: int
    held_out: int
    epochs: int
    batch: int
    timings: int


TRAINING = {"small": Training(3000, 2000, 8, 250, 15), "paper": Training(50_000, 10_000, 150, 4000, 31)}


def methods(setting: str) -> tuple[str, ...]:
    return applied.METHODS


def read_idx(path: Path) -> np.ndarray:
    """An IDX file of bytes, packed or not: two zeros, the type (8), how many dimensions, their sizes, the data."""
    packed = path.read_bytes()
    data = gzip.decompress(packed) if packed[:2] == b"\x1f\x8b" else packed
    if data[:3] != b"\x00\x00\x08":
        raise ValueError(f"{path.name} is no IDX file of bytes")
    sizes = np.frombuffer(data, ">u4", count=data[3], offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(*sizes)


@cache
def images(given: str) -> tuple[np.ndarray, np.ndarray]:
    """The 60,000 training images (n, 784) between 0 and 1, and their digits (n,)."""
    folder = Path(given) if given else Path(__file__).parents[2] / "shared" / "data" / "mnist"
    for end in (".gz", ""):
        x, y = (folder / f"train-{kind}-ubyte{end}" for kind in ("images-idx3", "labels-idx1"))
        if x.exists() and y.exists():
            return read_idx(x).reshape(-1, 784).astype(np.float32) / 255.0, read_idx(y).astype(np.int64)
    if given:
        raise FileNotFoundError("--data DIR needs train-images-idx3-ubyte and train-labels-idx1-ubyte there (or .gz)")
    from sklearn.datasets import fetch_openml  # pyright: ignore[reportMissingImports] (.venv-experiments has it)

    found = fetch_openml("mnist_784", version=1, as_frame=False)
    return found.data[:60_000].astype(np.float32) / 255.0, found.target[:60_000].astype(np.int64)


def network(layers: int, units: int, dropout: float = 0.0) -> Any:
    from torch import nn  # pyright: ignore[reportMissingImports] (.venv-experiments has it)

    parts: list[nn.Module] = []
    width = 784
    for _ in range(layers):
        parts += [nn.Linear(width, units), nn.ReLU(), nn.Dropout(dropout)]
        width = units
    return nn.Sequential(*parts, nn.Linear(width, 10))


def error(inputs: Inputs, training: Training, data: str, rng: np.random.Generator) -> float:
    """The share of held-out images a trained network gets wrong; at least half an image, so that a logit exists."""
    import torch  # pyright: ignore[reportMissingImports] (.venv-experiments has it)

    torch.manual_seed(int(rng.integers(2**31)))
    torch.set_num_threads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, y = (torch.from_numpy(a).to(device) for a in images(data))
    last = len(x) - 10_000  # the paper holds out 10,000 of the 60,000
    train_x, train_y = x[: training.images], y[: training.images]
    test_x, test_y = x[last : last + training.held_out], y[last : last + training.held_out]
    model = network(inputs["layers"], inputs["units"], inputs["dropout"]).to(device)
    weights = [p for name, p in model.named_parameters() if name.endswith("weight")]
    adam = torch.optim.Adam(model.parameters(), lr=inputs["learning_rate"])
    for _ in range(training.epochs):
        for rows in torch.randperm(len(train_x), device=device).split(training.batch):
            loss = torch.nn.functional.cross_entropy(model(train_x[rows]), train_y[rows])
            loss = loss + inputs["l1"] * sum(w.abs().sum() for w in weights)
            loss = loss + inputs["l2"] * sum((w * w).sum() for w in weights)
            adam.zero_grad()
            loss.backward()
            adam.step()
    model.eval()
    with torch.no_grad():
        wrong = int((model(test_x).argmax(dim=1) != test_y).sum())
    return min(max(wrong, 0.5), training.held_out - 0.5) / training.held_out


def time_ratio(inputs: Inputs, training: Training, rng: np.random.Generator) -> float:
    """Prediction time over the fastest network's: medians of timings taken in turn, so that both see the same load."""
    import torch  # pyright: ignore[reportMissingImports] (.venv-experiments has it)

    torch.manual_seed(int(rng.integers(2**31)))
    torch.set_num_threads(1)
    x = torch.rand(training.held_out, 784)
    models = [network(**FASTEST).eval(), network(inputs["layers"], inputs["units"]).eval()]
    seconds: list[list[float]] = [[], []]
    with torch.no_grad():
        for _ in range(training.timings):
            for model, taken in zip(models, seconds, strict=True):
                begin = time.perf_counter()
                model(x)
                taken.append(time.perf_counter() - begin)
    return statistics.median(seconds[1]) / statistics.median(seconds[0])


def task(run: Run) -> Task:
    training, data = TRAINING[run.setting], dict(run.options)["data"]
    space = pesmo.Space(
        layers=pesmo.Int(1, 3),
        units=pesmo.Int(50, 300),
        learning_rate=pesmo.Float(1e-4, 1e-1, log=True),
        dropout=pesmo.Float(0.0, 0.8),
        l1=pesmo.Float(1e-7, 1e-3, log=True),
        l2=pesmo.Float(1e-7, 1e-3, log=True),
    )

    def measure(inputs: Inputs, wanted: Sequence[str], rng: np.random.Generator) -> dict[str, float]:
        found = {}
        if "error" in wanted:
            found["error"] = error(inputs, training, data, rng)
        if "time" in wanted:
            found["time"] = time_ratio(inputs, training, rng)
        return found

    objectives = (
        pesmo.Objective("error", transform="logit"),
        pesmo.Objective("time", inputs=["layers", "units"], transform="log"),
    )
    return applied_task(space, objectives, REFERENCE, measure, SCALES[run.setting], run.number)


def section(results: Results, output: Output) -> str:
    words = (
        "Logit of the error and logarithm of the prediction time over the fastest network's, timed on one CPU thread. "
        "Paper: 50,000 images, 150 epochs, minibatches of 4,000; small: 3,000 images, 8 epochs, minibatches of 250. "
        "Ranges the paper does not give: learning rate 1e-4 to 0.1, dropout 0 to 0.8, l1 and l2 1e-7 to 1e-3. "
        "Hypervolume of the recommendation, measured again three times, above an error of one half and a ratio of "
        "e³; higher is better. **Paper** (another reference point): PESMO decoupled is best after 100 evaluations of "
        "objectives, both forms after 200; 175 evaluations of the error, 25 of the time."
    )
    return "\n\n".join([words, *applied_section(results, output, "mnist", SCALES, PAPER)])
