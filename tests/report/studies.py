"""Studies with data but without search: what the report is drawn from, in no time."""

import numpy as np

import pesmo

HOSTILE = "<script>alert('x')</script> & $a_1$ \"q\""


def coupled(k: int, count: int = 6, names: list[str] | None = None, **objective) -> pesmo.Study:
    """k objectives revealed at once, at points of the design."""
    names = names or [f"objective {i}" for i in range(k)]
    space = pesmo.Space(
        x=pesmo.Float(0, 1), rate=pesmo.Float(1e-3, 1, log=True), n=pesmo.Int(1, 9), c=pesmo.Choice("a", "b")
    )
    study = pesmo.Study(space, [pesmo.Objective(n, **objective) for n in names], seed=0)
    weights = np.random.default_rng(k).uniform(0.2, 1.0, (k, 4))
    for _ in range(count):
        unit = space.to_unit(trial_inputs := study.ask().inputs)
        values = 1.0 + np.sum(weights * (unit - weights) ** 2, axis=1)
        study.tell(len(study.trials), dict(zip(names, values.tolist(), strict=True)))
        assert trial_inputs == study.trials[-1].inputs
    return study


def decoupled(count: int = 12) -> pesmo.Study:
    """Two experiments at their own costs, one on one input only; one failed, one running, one added by hand."""
    study = pesmo.Study(
        pesmo.Space(x=pesmo.Float(0, 1), y=pesmo.Float(0, 1)),
        [
            pesmo.Objective("cost", transform="log", unit="€"),
            pesmo.Objective("yield", "maximize", inputs=["x"], unit="%"),
        ],
        [pesmo.Experiment("price", ["cost"], cost=1), pesmo.Experiment("brew", ["yield"], cost=20)],
        seed=1,
        name="brewery",
    )
    for n in range(count):
        trial = study.ask()
        x, y = trial.inputs["x"], trial.inputs["y"]
        if n == 3:
            study.fail(trial, HOSTILE)
        else:
            study.tell(trial, {"cost": 1.0 + x + y} if trial.experiment == "price" else {"yield": 50 + 30 * x})
    study.add({"x": 0.5, "y": 0.5}, {"cost": 2.0, "yield": 65.0})
    study.ask()
    return study
