"""What a peer is told beside the data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """seed is this suggestion's, run the whole run's; a peer takes what it has a use for."""

    seed: int
    run: int
    starts: int  # rows of the data that were there before the first suggestion
    costs: list[float]  # of measuring each objective
    reference: list[float] | None  # the point hypervolume is measured from, where it is known
    draws: int
    pareto_points: int
