"""The tables, and the way between a row and a Record.

Every text that comes from a person is a JSON string in ASCII: quotes, NUL, lone surrogates and 10 kB of any script
come back as they were, whatever the encoding of the database. A study is found by the SHA-256 of its name, since an
index row has a limited size. All names of tables start with "pesmo_": other tables are none of our business.
"""

import hashlib
import json
import math
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, MetaData, String, Table, Text
from sqlalchemy.engine import Row

from pesmo.errors import StorageError, brief
from pesmo.problem import Trial
from pesmo.store.contract import Record

metadata = MetaData()

studies = Table(
    "pesmo_studies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("definition", Text, nullable=False),
    Column("revision", BigInteger, nullable=False),  # of the latest change of any of its trials
    Column("trials", Integer, nullable=False),  # how many there are: the latest id
    Column("memory", Text),  # what the method remembers
    Column("settings", Text),  # what whoever runs it keeps with it: commands, limits
)

trials = Table(
    "pesmo_trials",
    metadata,
    Column("study", Integer, ForeignKey("pesmo_studies.id"), primary_key=True),
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("revision", BigInteger, nullable=False),
    Column("state", String(16), nullable=False),
    Column("experiment", Text, nullable=False),
    Column("inputs", Text, nullable=False),
    Column("outcome", Text, nullable=False),  # the measured values
    Column("cost", Double, nullable=False),
    Column("gain", Double),
    Column("message", Text),
    Column("note", Text),
    Column("asked", Double),
    Column("finished", Double),
    Column("retry_of", Integer),
    Column("again", Integer, nullable=False),
    Column("lease", Double),
    Column("deadline", Double),  # of the lease, in the time of contract.py's promise 4
    Column("owner", Text),
    Column("token", String(32), nullable=False),  # of the call that wrote the row: tried again, it finds its row
    Index("pesmo_trials_revision", "study", "revision"),
    Index("pesmo_trials_state", "study", "state"),
    Index("pesmo_trials_token", "study", "token"),
)


def digest(name: str) -> str:
    """What a study is found by."""
    return hashlib.sha256(dump(name).encode("ascii")).hexdigest()


def dump(value: Any) -> str:
    """Strict JSON in ASCII."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def load(text: str) -> Any:
    """What `dump` wrote; anything else was not written by it."""
    try:
        return _decode(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise StorageError(
            f"the database holds {brief(text)} where JSON belongs ({error}); it was changed by another program, or is "
            "damaged: restore it from a copy"
        ) from None


def _no_constant(word: str) -> float:
    raise StorageError(f"the database holds {word} where a finite number belongs; it was changed by another program")


_decode = json.JSONDecoder(parse_constant=_no_constant).decode


def to_row(trial: Trial) -> dict[str, Any]:
    """The columns of a trial."""
    return {
        "state": trial.state,
        "experiment": dump(trial.experiment),
        "inputs": dump(trial.inputs),
        "outcome": dump(trial.values),
        "cost": trial.cost,
        "gain": trial.gain if trial.gain is None or math.isfinite(trial.gain) else None,
        "message": optional(trial.message),
        "note": optional(trial.note),
        "asked": trial.asked,
        "finished": trial.finished,
        "retry_of": trial.retry_of,
    }


def optional(text: str | None) -> str | None:
    return None if text is None else dump(text)


def to_record(row: Row[Any]) -> Record:
    """A row of `trials`, all its columns in their order, as a Record. By position: 10,000 rows are read in one go."""
    (
        _study, trial_id, revision, state, experiment, inputs, outcome, cost, gain, message, note,
        asked, finished, retry_of, again, lease, _deadline, owner, _token,
    ) = tuple(row)  # fmt: skip
    trial = Trial(
        trial_id,
        _load_again(experiment),
        load(inputs),
        cost,
        gain,
        state,
        load(outcome),
        None if message is None else load(message),
        None if note is None else _load_again(note),
        asked,
        finished,
        retry_of,
    )
    return Record(trial, revision, lease, owner, again)


_load_again = lru_cache(maxsize=256)(load)  # of texts that many rows share
