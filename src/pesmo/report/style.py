"""How everything looks, in plotly.js, matplotlib and HTML alike: colours, numbers, labels, headings."""

import math
from typing import Any

import numpy as np

from pesmo.problem import Objective

# Okabe and Ito's palette, told apart by colour-blind readers too; its yellow is left out, too pale on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D")
INK, MUTED, GRID, PALE, SOFT = "#1f2933", "#66727f", "#e7ebef", "#9fb3c4", "#fafbfc"
ERROR, BAND = "#8fc0e3", "#eef2f5"
FAINT = "#c5dcee"  # bars in space, where many lie behind each other
MAIN = PALETTE[0]
# One hue from pale to dark: reads in grey print as well.
SEQUENTIAL = ("#c9dff0", "#8fc0e3", "#4a98cf", "#0072B2", "#08406b")
# Dark blue over teal to orange: neighbouring lines are told apart, ends by brightness too.
RAINBOW = ("#08406b", "#0072B2", "#009E73", "#E69F00", "#D55E00")
HEAT = ("#f7fafc", "#c9dff0", "#8fc0e3", "#4a98cf", "#0072B2")
FONT = "'Inter', 'Segoe UI', 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"
PROBABILITY = "probability of being Pareto-optimal"
RECOMMENDED = "recommended ± one sd"
MOST_PAIRED = 6  # objectives of which every pair is drawn: 15 panels
PANELS = ("effect on its own (partial dependence)", "relevance (length-scales)")  # of the sensitivity figure

# name: (heading, one sentence that says what one sees)
CAPTIONS = {
    "front": (
        "The best trade-offs found",
        "Each blue mark is a recommended point with its predicted values and their uncertainty (one standard "
        "deviation); the darker it is, the surer it is that nothing known beats it in everything.",
    ),
    "pairs": (
        "The trade-offs, two objectives at a time",
        "The same recommended points seen along each pair of objectives; a point that looks beaten in one panel is "
        "better in an objective of another.",
    ),
    "progress": (
        "Progress",
        "How much of the volume that today's front dominates was already dominated by the front one would have "
        "recommended earlier, judged by the model of all the data: a curve that has been flat for long says that "
        "little is left to find.",
    ),
    "evaluations": (
        "What was evaluated",
        "How often each experiment was run, and what each run was expected to teach about the front when it was "
        "chosen: runs of the first design have no expectation.",
    ),
    "sensitivity": (
        "Which input matters to which objective",
        "Left, how much an objective changes along an input on its own, as a share of all its variation; right, how "
        "quickly it wiggles along that input, from the model's length-scales: a strong right without a left is an "
        "input that acts together with others.",
    ),
    "slices": (
        "Through one recommended point",
        "Each column changes one input and keeps the others at the marked point: predictions with one standard "
        "deviation, the average over all other inputs (dashed), and at the bottom what a measurement there would "
        "teach.",
    ),
}


PARALLEL = (
    "Each line is a recommended point: its predicted value on every objective, the better the lower, with a bar of one "
    "standard deviation; colour follows the first objective, and the fainter a line, the less sure it is to be optimal."
)
ONE = "The values measured, trial by trial, and the best value the model expects with one standard deviation."


def heading(name: str) -> str:
    """What is above a figure."""
    return CAPTIONS[name][0]


def caption(name: str, objectives: int) -> str:
    """The sentence below the heading of a figure, for a study of so many objectives."""
    if name == "front" and objectives == 1:
        return ONE
    return PARALLEL if name == "front" and objectives > 3 else CAPTIONS[name][1]


def colour(index: int) -> str:
    """The index-th colour, from the start again when they run out."""
    return PALETTE[index % len(PALETTE)]


def with_unit(objective: Objective) -> str:
    """The objective's name with its unit, where it has one."""
    return f"{objective.name} in {objective.unit}" if objective.unit else objective.name


def label(objective: Objective) -> str:
    """What an axis says."""
    return f"{with_unit(objective)} ({objective.goal})"


def number(value: Any, digits: int = 4) -> str:
    """A value for people: few digits, an exponent only where it saves many zeros, words as they are."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if not math.isfinite(value):
        return "-"
    if isinstance(value, int) or value == 0 or not 1e-4 <= abs(value) < 1e6:
        return str(value) if isinstance(value, int) else f"{value:.{digits}g}"
    return np.format_float_positional(value, precision=digits, fractional=False, trim="-")
