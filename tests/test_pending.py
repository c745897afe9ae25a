"""Outstanding trials: they shape the next suggestion, each for its own objectives, and no point is given out twice."""

import numpy as np

from pesmo import Experiment, Float, Space, Study

SPACE = Space(x=Float(0, 1), y=Float(0, 1))


def values(inputs: dict) -> dict:
    return {"a": (inputs["x"] - 0.2) ** 2 + inputs["y"], "b": (inputs["x"] - 0.8) ** 2 + (inputs["y"] - 0.7) ** 2}


def decoupled(**changes) -> Study:
    study = Study(SPACE, ["a", "b"], [Experiment("first", ["a"]), Experiment("second", ["b"])], seed=1, **changes)
    for _ in range(10):
        trial = study.ask()
        (name,) = study.experiment(trial.experiment).reveals
        study.tell(trial, {name: values(trial.inputs)[name]})
    return study


def test_thirty_pending_points_are_thirty_useful_ones(tmp_path) -> None:
    study = Study(SPACE, ["a", "b"], seed=1, storage=tmp_path / "study.db")
    for _ in range(6):
        trial = study.ask()
        study.tell(trial, values(trial.inputs))
    batch = study.ask(n=30, lease=600)
    points = np.array([list(t.inputs.values()) for t in batch])
    gaps = np.max(np.abs(points[:, None] - points[None]), axis=2)[np.triu_indices(30, 1)]
    assert gaps.min() > 1e-3
    assert all(t.gain is not None and t.gain > 0 for t in batch)
    gains = [t.gain or 0.0 for t in batch]
    assert np.mean(gains[-10:]) < np.mean(gains[:10])  # what is on its way need not be learned again


def test_a_decoupled_pending_trial_counts_for_its_own_objective_only() -> None:
    study = decoupled()
    before = study._view.evidence()
    trial = study.ask()
    after = study._view.evidence()
    k = 0 if trial.experiment == "first" else 1
    assert after.observations[k].pending.shape[0] == before.observations[k].pending.shape[0] + 1
    assert after.observations[1 - k].pending.shape == before.observations[1 - k].pending.shape
    unit = study.space.to_unit(trial.inputs)[None]
    assert after.is_taken(k, unit)[0]
    assert not after.is_taken(1 - k, unit)[0]


class Late:
    """A store as a process sees it that began to think before the others reserved: what changed is seen afterwards."""

    def __init__(self, store) -> None:
        self._store = store
        self._memory = store.memory()
        self.proposals = []

    def __getattr__(self, name: str):
        return getattr(self._store, name)

    def changes(self, since: int):
        return self._store.changes(since) if self.proposals else []

    def memory(self):
        return self._store.memory() if self.proposals else self._memory

    def reserve(self, proposal, terms):
        self.proposals.append(proposal)
        return self._store.reserve(proposal, terms)


def test_processes_that_think_at_the_same_time_get_different_points(tmp_path) -> None:
    """Three studies with the same evidence and the same randomness: the later ones think again."""
    path = tmp_path / "study.db"
    one = decoupled(storage=path)
    trials, late = [], []
    for _ in range(2):
        other = Study.open(path)
        len(other.trials)
        other._store = other._view._store = Late(other._store)  # pyright: ignore
        late.append(other)
    trials = [one.ask(), *(other.ask() for other in late)]
    for other in late:
        first, *again = other._store.proposals
        assert first.points == [trials[0].inputs]  # it had the same idea
        assert again
    assert len({tuple(t.inputs.values()) for t in trials}) == 3
    assert [t.id for t in trials] == [11, 12, 13]
