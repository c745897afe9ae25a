"""The solver: a pitched roof truss under snow. It knows nothing of pesmo: arguments in, a line of JSON out.

python truss.py solve 2.0 4 20 10 steel   ->   {"deflection": 7.9…, "buckling": 0.4…}
"""

import json
import sys

import numpy as np

SPAN, LOAD = 12.0, 40e3  # m, N over the whole roof
MATERIALS = {"steel": (210e9, 7850.0), "aluminium": (70e9, 2700.0), "timber": (11e9, 480.0)}  # Pa, kg/m³


def truss(height: float, panels: int, chord: float, web: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes (n, 2), bars (m, 2) and their cross-sections in m²: lower and upper chord, posts, diagonals."""
    count = 2 * panels + 1
    x = np.linspace(0.0, SPAN, count)
    low = np.stack([x, np.zeros(count)], axis=1)
    high = np.stack([x, 0.3 + (height - 0.3) * (1.0 - np.abs(2.0 * x / SPAN - 1.0))], axis=1)
    bars, areas = [], []
    for i in range(count):
        bars.append((i, count + i))
        areas.append(web)
        if i + 1 < count:
            diagonal = (i, count + i + 1) if i < panels else (i + 1, count + i)
            bars += [(i, i + 1), (count + i, count + i + 1), diagonal]
            areas += [chord, chord, web]
    return np.concatenate([low, high]), np.array(bars), 1e-4 * np.array(areas)


def lengths(nodes: np.ndarray, bars: np.ndarray) -> np.ndarray:
    return np.linalg.norm(nodes[bars[:, 1]] - nodes[bars[:, 0]], axis=1)


def weigh(nodes: np.ndarray, bars: np.ndarray, areas: np.ndarray, material: str) -> dict[str, float]:
    return {"mass": float(MATERIALS[material][1] * np.sum(areas * lengths(nodes, bars)))}


def solve(nodes: np.ndarray, bars: np.ndarray, areas: np.ndarray, material: str) -> dict[str, float]:
    """The direct stiffness method; the wall holds the left foot, the right one may slide."""
    modulus, size = MATERIALS[material][0], lengths(nodes, bars)
    along = (nodes[bars[:, 1]] - nodes[bars[:, 0]]) / size[:, None]
    stiffness = np.zeros((2 * len(nodes), 2 * len(nodes)))
    for (i, j), direction, axial in zip(bars, along, modulus * areas / size, strict=True):
        places = [2 * i, 2 * i + 1, 2 * j, 2 * j + 1]
        pull = np.concatenate([-direction, direction])
        stiffness[np.ix_(places, places)] += axial * np.outer(pull, pull)
    count = len(nodes) // 2
    load = np.zeros(2 * len(nodes))
    load[2 * count + 1 :: 2] = -LOAD / count
    held = [0, 1, 2 * (count - 1) + 1]
    free = np.setdiff1d(np.arange(2 * len(nodes)), held)
    moved = np.zeros(2 * len(nodes))
    moved[free] = np.linalg.solve(stiffness[np.ix_(free, free)], load[free])
    shift = moved.reshape(-1, 2)
    force = modulus * areas / size * np.sum((shift[bars[:, 1]] - shift[bars[:, 0]]) * along, axis=1)
    euler = np.pi * modulus * areas**2 / (4.0 * size**2)  # a round bar between hinges
    return {"deflection": float(1e3 * np.max(-shift[:, 1])), "buckling": float(np.max(-force / euler))}


if __name__ == "__main__":
    task, height, panels, chord, web, material = sys.argv[1:]
    design = truss(float(height), int(panels), float(chord), float(web))
    print(json.dumps({"weigh": weigh, "solve": solve}[task](*design, material)))
