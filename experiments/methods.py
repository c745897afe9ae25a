"""The methods an experiment can name: pesmo's own, some in a decoupled form, and the peers of benchmarks/peers."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Protocol

import numpy as np

import pesmo
from benchmarks.peer_client import NAMES as PEERS
from benchmarks.peer_client import Peer
from experiments.task import Task
from pesmo.gp.hyper import Prior, default_prior
from pesmo.methods.registry import METHODS
from pesmo.pareto.solve import Search as ParetoSearch

DECOUPLED = "-decoupled"
VARIED = "+"
DECOUPLED_PEERS = ("hvkg",)
OURS = ("pesmo", "pesmo-decoupled", "ehi", "smsego", "parego", "sur", "pal", "random")
TRUE_SCALES = {3: 0.3, 6: 0.6}  # of the synthetic problems, by the number of inputs
PEER_TIMEOUT = 1200.0  # seconds a peer's suggestion may take
PEER_POINTS = (10, 5, 2, 1)  # of each draw's Pareto set: JES raises where a draw has not as many


@dataclass(frozen=True)
class Variant:
    """A method with constants of its modules replaced: {(module, name): value}."""

    words: str
    constants: dict[tuple[str, str], Any]


def _exact_prior(d: int, noise: float | None) -> Prior:
    return default_prior(d, 0.0)


def _true_scales(d: int, noise: float | None) -> Prior:
    """The prior with the length-scales that the synthetic problems of d inputs are drawn with."""
    prior, scale = default_prior(d, noise), math.log(TRUE_SCALES[d])
    known = np.arange(prior.mean.size) < d
    return Prior(
        mean=np.where(known, scale, prior.mean),
        sd=np.where(known, 0.0, prior.sd),
        low=np.where(known, scale, prior.low),
        high=np.where(known, scale, prior.high),
    )


def _narrow_prior(d: int, noise: float | None) -> Prior:
    prior = default_prior(d, noise)
    return replace(prior, sd=np.where(np.arange(prior.sd.size) < d, 0.5 * prior.sd, prior.sd))


# PESMO as in the paper: ten draws, and of a Pareto point no more is known than that nothing dominates it.
PAPER = {("pesmo.methods.pesmo", "FEW"): 0}
PLAIN = f"pesmo{VARIED}paper"
# And every other choice the paper names. Still ours: the numerics of EP (difference form, what damps it, factors that
# would widen a variance left out), the priors of the hyperparameters, the maximizer's short list.
LETTER = f"pesmo{VARIED}letter"
VARIANTS = {
    f"pesmo{VARIED}{name}": Variant(variant.words, variant.constants if name == "ends" else PAPER | variant.constants)
    for name, variant in {
        "paper": Variant("as in the paper", {}),
        "letter": Variant(
            "Pareto sets from a grid of 3,000 points, a candidate's factors in full, factors for all data",
            {
                ("pesmo.methods.pesmo", "GRID"): 3000,
                ("pesmo.methods.pesmo", "SEARCH"): ParetoSearch(points=50, rounds=0),
                ("pesmo.methods.pesmo", "DATA_ROWS"): 10**6,
                ("pesmo.methods.pesmo", "RELEVANT"): 1e-300,
                ("pesmo.entropy.candidate", "STEP"): 1.0,
            },
        ),
        "ends": Variant("each objective's best is known to be the best", {("pesmo.methods.pesmo", "DRAWS"): 1}),
        "draws-24": Variant("24 hyperparameter samples and draws, not 10", {("pesmo.methods.model", "SAMPLES"): 24}),
        "points-10": Variant(
            "10 points of each Pareto set, not 50", {("pesmo.methods.pesmo", "SEARCH"): ParetoSearch(points=10)}
        ),
        "solver": Variant(
            "a Pareto search of six times the evaluations",
            {
                ("pesmo.methods.pesmo", "SEARCH"): ParetoSearch(
                    points=50, archive=200, descents=100, rounds=24, children=128
                )
            },
        ),
        "maximizer": Variant(
            "four times the grid and the short list",
            {("pesmo.methods.maximize", "GRID"): 4096, ("pesmo.methods.maximize", "SHORT_LIST"): 64},
        ),
        "exact": Variant("no noise is learned", {("pesmo.methods.model", "default_prior"): _exact_prior}),
        "moves": Variant(
            "40 slice-sampling moves of each chain, not 8 or fewer",
            {("pesmo.methods.model", "MOST_MOVES"): 40, ("pesmo.methods.model", "WARM_MOVES"): 10**6},
        ),
        "narrow": Variant(
            "a prior of the length-scales of half the width", {("pesmo.methods.model", "default_prior"): _narrow_prior}
        ),
        "scales": Variant("the length-scales are known", {("pesmo.methods.model", "default_prior"): _true_scales}),
    }.items()
}


@contextmanager
def varied(method: str) -> Iterator[None]:
    """With the constants of a variant, where the method is one."""
    constants = VARIANTS[method].constants if method in VARIANTS else {}
    before = {place: getattr(import_module(place[0]), place[1]) for place in constants}
    try:
        for (module, name), value in constants.items():
            setattr(import_module(module), name, value)
        yield
    finally:
        for (module, name), value in before.items():
            setattr(import_module(module), name, value)


def own_name(method: str) -> str:
    """The name `pesmo.Study` knows: a peer's study only keeps its data."""
    return "pesmo" if method in PEERS else method.partition(VARIED)[0].removesuffix(DECOUPLED)


def is_decoupled(method: str) -> bool:
    return method.endswith(DECOUPLED) or method in DECOUPLED_PEERS


def home(setting: str, method: str) -> str:
    """The setting that has a method's rows: a coupled run pays for all objectives each time, whatever each costs."""
    return setting if is_decoupled(method) else setting.partition("-costs-")[0]


def missing(method: str) -> str | None:
    """Why a method cannot be run here, or None."""
    if method in PEERS or own_name(method) in METHODS:
        return None
    return f"no method of this pesmo is called {own_name(method)!r}: there are {sorted(METHODS)}, and the peers {PEERS}"


def new_study(task: Task, method: str, seed: int) -> pesmo.Study:
    """An empty study of the task: one experiment per objective if decoupled, else one that reveals them all."""
    if is_decoupled(method):
        experiments = [pesmo.Experiment(name, [name], cost=c) for name, c in zip(task.names, task.costs, strict=True)]
    else:
        experiments = [pesmo.Experiment("all", task.names, cost=sum(task.costs))]
    return pesmo.Study(task.space, task.objectives, experiments, method=own_name(method), seed=seed)


@dataclass(frozen=True)
class Step:
    """What to measure next, and the CPU seconds it took to say so."""

    reveals: list[str]
    inputs: dict[str, Any]
    gain: float | None
    seconds: float
    trial: pesmo.Trial | None  # to be told; None: the measurement is to be added


class Search(Protocol):
    def __call__(self, study: pesmo.Study) -> Step: ...


def ask_study(study: pesmo.Study) -> Step:
    begin = time.process_time()
    trial = study.ask()
    seconds = time.process_time() - begin
    return Step(list(study.experiment(trial.experiment).reveals), dict(trial.inputs), trial.gain, seconds, trial)


@contextmanager
def searching(method: str, task: Task, number: int) -> Iterator[Search]:
    """The rule called `method`; a peer is served by a process of its own, which ends with the context."""
    if method not in PEERS:
        yield ask_study
        return
    with Peer(method) as peer:

        def ask_peer(study: pesmo.Study) -> Step:
            told = [trial for trial in study.trials if trial.values]
            x = np.array([study.space.to_unit(trial.inputs) for trial in told])
            y = np.array([[trial.values.get(name, np.nan) for name in task.names] for trial in told])
            reply: dict[str, Any] = {}
            seconds = 0.0
            for i, points in enumerate(PEER_POINTS):  # a peer that raises is asked again, from another seed
                reply = peer.suggest(
                    x, y, seed=1000 * number + 250 * i + len(told), run=number, starts=len(task.starts),
                    costs=task.costs, reference=[o.worst for o in task.objectives], pareto_points=points,
                    timeout=PEER_TIMEOUT,
                )  # fmt: skip
                seconds += reply.get("cpu_seconds", 0.0)
                if not reply.get("error") or reply["error"].startswith("Timeout"):
                    break
            if "error" in reply:
                raise RuntimeError(f"{method} at evaluation {len(told) + 1}: {reply['error']}")
            reveals = task.names if reply.get("objective") is None else [task.names[reply["objective"]]]
            inputs = study.space.from_unit(np.clip(np.array(reply["x"]), 0.0, 1.0))
            return Step(list(reveals), dict(inputs), None, seconds, None)

        yield ask_peer
