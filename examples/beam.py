"""A cantilever beam: light against stiff. The mass is a formula; the deflection takes a finite-element simulation.

So the two are asked for separately: `weigh` costs next to nothing, `simulate` costs twenty times as much, and pesmo
decides which to run next and where. Run it with `make demo`, or `python examples/beam.py`.
"""

from pathlib import Path

import numpy as np
from rich.console import Console

import pesmo
from pesmo.report import save, write_report
from pesmo.report.tables import front_table, spending_table

LENGTH, FORCE = 2.0, 5_000.0  # m, N at the free end
MATERIALS = {"steel": (210e9, 7850.0), "aluminium": (70e9, 2700.0), "titanium": (115e9, 4500.0)}  # Pa, kg/m^3
ELEMENTS = 200

space = pesmo.Space(
    width=pesmo.Float(0.02, 0.12),
    height=pesmo.Float(0.03, 0.25),
    taper=pesmo.Float(0.3, 1.0),  # height at the free end, as a share of the height at the wall
    webs=pesmo.Int(1, 4),
    material=pesmo.Choice(*MATERIALS),
)


def _sections(inputs: dict) -> tuple[np.ndarray, np.ndarray]:
    """Area and second moment of area of each element: thin webs between two flanges."""
    along = (np.arange(ELEMENTS) + 0.5) / ELEMENTS
    height = inputs["height"] * (1.0 - (1.0 - inputs["taper"]) * along)
    flange = 0.1 * height
    web = 0.06 * inputs["width"] * inputs["webs"]
    area = 2.0 * inputs["width"] * flange + web * (height - 2.0 * flange)
    inertia = (inputs["width"] * height**3 - (inputs["width"] - web) * (height - 2.0 * flange) ** 3) / 12.0
    return area, inertia


def weigh(inputs: dict) -> float:
    """Mass in kg."""
    area, _ = _sections(inputs)
    return float(MATERIALS[inputs["material"]][1] * LENGTH * np.mean(area))


def simulate(inputs: dict) -> float:
    """Deflection of the free end in mm: Euler-Bernoulli beam elements, clamped at the wall."""
    _, inertia = _sections(inputs)
    size = LENGTH / ELEMENTS
    stiffness = np.zeros((2 * ELEMENTS + 2, 2 * ELEMENTS + 2))
    unit = np.array(
        [
            [12, 6 * size, -12, 6 * size],
            [6 * size, 4 * size**2, -6 * size, 2 * size**2],
            [-12, -6 * size, 12, -6 * size],
            [6 * size, 2 * size**2, -6 * size, 4 * size**2],
        ]
    )
    for i, moment in enumerate(inertia):
        part = slice(2 * i, 2 * i + 4)
        stiffness[part, part] += MATERIALS[inputs["material"]][0] * moment / size**3 * unit
    load = np.zeros(2 * ELEMENTS + 2)
    load[-2] = FORCE
    return float(1e3 * np.linalg.solve(stiffness[2:, 2:], load[2:])[-2])


def main(budget: float = 500.0) -> pesmo.Study:
    study = pesmo.Study(
        space,
        objectives=[
            pesmo.Objective("mass", transform="log", unit="kg"),
            pesmo.Objective("deflection", transform="log", unit="mm"),
        ],
        experiments=[
            pesmo.Experiment("weigh", reveals=["mass"], cost=1),
            pesmo.Experiment("simulate", reveals=["deflection"], cost=20),
        ],
        seed=7,
        name="cantilever beam",
    )
    front = study.run({"weigh": weigh, "simulate": simulate}, budget=budget)
    console = Console()
    console.print(front_table(front))
    console.print(spending_table(study))
    picture, page = Path("demo") / "front.png", Path("demo") / "report.html"
    save("front", study, picture)
    write_report(study, page)
    console.print(f"The front as a picture: {picture}; everything about the study: {page}")
    return study


if __name__ == "__main__":
    main()
