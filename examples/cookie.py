"""A low-calorie cookie that tastes good: calories are known from the recipe, taste needs a batch and a jury.

The paper's opening example. Calories are a sum that costs nothing to compute; a tasting costs flour, an hour and eight
people. Asked for separately, the calories cost 1 and a tasting 60, and pesmo bakes only where a cookie may lie on the
front. Here the jury is a formula with noise, so that the example runs by itself: put your own in `taste`.

    python examples/cookie.py            # a front in about a minute, and cookie.html
"""

import sys

import numpy as np
from rich.console import Console

import pesmo
from pesmo.report import write_report
from pesmo.report.tables import front_table

KCAL = {"sugar": 4.0, "butter": 7.2, "chocolate": 5.3, "flour": 3.6}  # per gram
JURY = np.random.default_rng(1)

space = pesmo.Space(
    sugar=pesmo.Float(5, 40),  # grams in 100 g of dough; flour makes up the rest
    butter=pesmo.Float(5, 35),
    chocolate=pesmo.Float(0, 20),
    sweetener=pesmo.Float(0, 2),
    minutes=pesmo.Float(6, 18),
)


def count(recipe: dict) -> float:
    """kcal in 100 g of dough."""
    grams = {name: recipe[name] for name in ("sugar", "butter", "chocolate")}
    return sum(KCAL[name] * g for name, g in grams.items()) + KCAL["flour"] * (100 - sum(grams.values()))


def taste(recipe: dict) -> float:
    """The mean mark of the jury, from 0 to 10: sweet but not too sweet, rich, and neither raw nor burnt."""
    sweet = recipe["sugar"] / 30 + 0.4 * recipe["sweetener"]
    rich = recipe["butter"] / 30 + recipe["chocolate"] / 25
    burnt = ((recipe["minutes"] - 11 - 0.1 * recipe["butter"]) / 4) ** 2
    bitter = 0.35 * recipe["sweetener"] ** 2
    mark = 9 * np.exp(-((sweet - 1.0) ** 2) - 0.5 * (rich - 1.3) ** 2 - 0.4 * burnt) - bitter
    return float(np.clip(mark + 0.2 * JURY.standard_normal(), 0, 10))


def main(budget: float = 1500.0, report: str | None = "cookie.html") -> pesmo.Study:
    study = pesmo.Study(
        space,
        objectives=[
            pesmo.Objective("calories", unit="kcal/100 g", inputs=["sugar", "butter", "chocolate"], noise=0),
            pesmo.Objective("taste", goal="maximize", unit="marks"),
        ],
        experiments=[
            pesmo.Experiment("count", reveals=["calories"], cost=1),
            pesmo.Experiment("bake and taste", reveals=["taste"], cost=60),
        ],
        seed=1,
        name="low-calorie cookie",
    )
    front = study.run({"count": count, "bake and taste": taste}, budget=budget)
    Console().print(front_table(front))
    if report:
        print("the report:", write_report(study, report))
    return study


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
