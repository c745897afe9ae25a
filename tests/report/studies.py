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


def laboratory() -> pesmo.Study:
    """Every kind of input, transform and goal; an objective that ignores inputs; repeats, a failure, a running trial.

    The values come from no function that is easy for the model: its samples disagree, and their spread counts.
    """
    space = pesmo.Space(
        x=pesmo.Float(-1, 3),
        rate=pesmo.Float(1e-3, 1, log=True),
        n=pesmo.Int(1, 5),
        c=pesmo.Choice("tin", "iron", "gold"),
    )
    objectives = [
        pesmo.Objective("cost", transform="log", unit="€"),
        pesmo.Objective("purity", "maximize", inputs=["c", "x"], transform="logit"),
        pesmo.Objective("strength", "maximize", noise=2.0, unit="N"),
    ]
    experiments = [
        pesmo.Experiment("melt", ["cost", "purity"], cost=4),
        pesmo.Experiment("break", ["strength"], cost=lambda point: 1.0 + point["n"]),
    ]
    study = pesmo.Study(space, objectives, experiments, seed=3, name="laboratory")
    for n in range(14):
        trial = study.ask()
        x, rate, c = trial.inputs["x"], trial.inputs["rate"], trial.inputs["c"]
        metal = ["tin", "iron", "gold"].index(c)
        if n == 6:
            study.fail(trial, "the oven went out")
        elif trial.experiment == "melt":
            values = {
                "cost": 2.0 + 300.0 * rate + 5.0 * metal * np.sin(3 * x) ** 2,
                "purity": 0.02 + 0.3 * metal + 0.1 * x,
            }
            study.tell(trial, values, cost=5.5 if n == 8 else None)
        else:
            study.tell(trial, {"strength": 100.0 + 20.0 * np.cos(2 * x) + 7.0 * trial.inputs["n"]})
    told = study.trials[0].inputs
    study.add(told, {"cost": 11.0})
    study.add(told, {"cost": 13.0, "strength": 104.0})
    study.ask()
    return study
