"""Reading a study file: TOML, checked by pydantic, then by the parts of pesmo it describes; all complaints at once."""

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pesmo.cli.complaints import Complaint, StudyFileError, complaint_of, study_file_error
from pesmo.cli.reading import read_file
from pesmo.cli.schema import ChoiceTable, ExperimentTable, FloatTable, StudyFileTable
from pesmo.definition import COUPLED, check_seed
from pesmo.errors import PesmoError, ProgramError, brief
from pesmo.methods.registry import method_for
from pesmo.problem import Experiment, Objective, check_experiments, check_objectives
from pesmo.redact import is_address
from pesmo.run.programs import PYTHON, Program, placeholders, variable
from pesmo.space import Choice, Float, Input, Int, Space

LARGEST = 1_000_000  # bytes: a study file has some thousand
LONG_KEY = re.compile(  # tomllib's time grows with the square of a key's parts
    r"""(?<![\w-])(?:(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){32}"""
)
LONG_NUMBER = re.compile("[0-9_]{4000}")


@dataclass(frozen=True)
class StudyFile:
    """A study file that can be used. A storage that is a file has its whole path."""

    path: Path
    name: str
    storage: str = field(repr=False)  # with its password
    method: str
    seed: int | None
    evaluations: int | None
    budget: float | None
    space: Space
    objectives: tuple[Objective, ...]
    experiments: tuple[Experiment, ...]
    programs: dict[str, Program]  # of the experiments that have a command


def read_study_file(path: Path) -> StudyFile:
    """A checked study file, or a StudyFileError with everything that is wrong with it."""
    source = _text(path)
    document = _parsed(path, source)
    try:
        table = StudyFileTable.model_validate(document)
    except ValidationError as error:
        complaints = [complaint_of(e, document) for e in error.errors(include_url=False)]
        raise study_file_error(path, source, document, complaints) from None
    complaints = []
    built = _Builder(path, table, complaints).build()
    if built is None or complaints:
        raise study_file_error(path, source, document, complaints)
    return built


def _text(path: Path) -> str:
    try:
        return read_file(path, LARGEST).decode("utf-8-sig")
    except FileNotFoundError:
        raise StudyFileError(f"there is no file {path}; `pesmo init` writes one to start from") from None
    except UnicodeDecodeError as error:
        raise StudyFileError(f"{path} is not a text file in UTF-8 (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise StudyFileError(f"cannot read {path}: {error.strerror}") from None


def _parsed(path: Path, source: str) -> dict[str, Any]:
    """The file as TOML has it. What Python cannot read, or not in time, is said with its line."""
    if long := LONG_KEY.search(source):
        raise StudyFileError(f"{path}, line {_line(source, long)}: a key of more than 32 parts is none of a study file")
    try:
        return tomllib.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise StudyFileError(f"{path} is not valid TOML: {error}") from None
    except RecursionError:
        raise StudyFileError(f"{path} has lists or tables nested too deeply for a study file") from None
    except ValueError:
        long = LONG_NUMBER.search(source)
        where = f", line {_line(source, long)}" if long else ""
        raise StudyFileError(f"{path}{where}: a number of thousands of digits cannot be read; give fewer") from None


def _line(source: str, found: re.Match[str]) -> int:
    return source.count("\n", 0, found.start()) + 1


@dataclass(frozen=True)
class _Builder:
    """Turns the checked tables into the parts of a study, noting every part that refuses."""

    path: Path
    table: StudyFileTable
    complaints: list[Complaint]

    def build(self) -> StudyFile | None:
        self._study_table()
        space = self._space()
        objectives = [self._objective(name, space) for name in self.table.objectives]
        experiments = [self._experiment(name) for name in self.table.experiments]
        if not experiments:
            experiments = [Experiment(COUPLED, tuple(self.table.objectives))]
        if self.complaints or space is None:
            return None
        kept = tuple(o for o in objectives if o is not None)
        parts = tuple(e for e in experiments if e is not None)
        self._try(("experiments",), lambda: check_experiments(kept, parts))
        study = self.table.study
        self._try(("study", "method"), lambda: method_for(study.method, kept, parts))
        name = study.name or self.path.stem
        return StudyFile(
            path=self.path,
            name=name,
            storage=self._storage(study.storage),
            method=study.method,
            seed=study.seed,
            evaluations=study.evaluations,
            budget=study.budget,
            space=space,
            objectives=kept,
            experiments=parts,
            programs=self._programs(parts),
        )

    def _try(self, key: tuple[str, ...], make: Callable[[], Any]) -> Any:
        try:
            return make()
        except PesmoError as error:
            self.complaints.append(Complaint(key, str(error)))
            return None

    def _say(self, key: tuple[str, ...], what: str) -> None:
        self.complaints.append(Complaint(key, what))

    def _study_table(self) -> None:
        study = self.table.study
        self._try(("study", "seed"), lambda: check_seed(study.seed))
        if study.evaluations is not None and study.budget is not None:
            self._say(("study", "budget"), "evaluations is given too; a study has one limit: drop one of them")

    def _storage(self, given: str | None) -> str:
        """A file lies beside the study file, wherever the command was started."""
        if given is not None and is_address(given):
            return given
        return str(self.path.resolve().parent / (given or f"{self.path.stem}.db"))

    def _space(self) -> Space | None:
        inputs = {name: self._input(name) for name in self.table.inputs}
        seen = {"PESMO_EXPERIMENT": "the experiment"}
        for name in inputs:
            if variable(name) in seen:
                what = f"its environment variable would be {variable(name)}, which is that of {seen[variable(name)]}"
                self._say(("inputs", name), f"{what}; rename it")
            seen[variable(name)] = repr(name)
        given = {name: spec for name, spec in inputs.items() if spec is not None}
        return self._try(("inputs",), lambda: Space(given)) if len(given) == len(inputs) else None

    def _input(self, name: str) -> Input | None:
        table = self.table.inputs[name]
        key = ("inputs", name)
        if isinstance(table, ChoiceTable):
            if any(isinstance(option, str) and "\0" in option for option in table.choices):
                self._say((*key, "choices"), "no program can be given a text with a NUL character; drop it")
            return self._try((*key, "choices"), lambda: Choice(*table.choices))
        if isinstance(table, FloatTable):
            return self._try(key, lambda: Float(table.low, table.high, table.log))
        return self._try(key, lambda: Int(table.low, table.high, table.log))

    def _objective(self, name: str, space: Space | None) -> Objective | None:
        table = self.table.objectives[name]
        key = ("objectives", name)
        objective = self._try(
            key,
            lambda: Objective(name, table.goal, table.inputs, table.transform, table.noise, table.unit, table.worst),
        )
        if objective is not None and space is not None:
            self._try((*key, "inputs"), lambda: check_objectives(space, (objective,)))
        return objective

    def _experiment(self, name: str) -> Experiment | None:
        table = self.table.experiments[name]
        names = self.table.objectives
        for revealed in table.reveals or ():
            if revealed not in names:
                what = f"{brief(revealed)} is not among the objectives {brief(list(names))}"
                self._say(("experiments", name, "reveals"), what)
        self._command(name, table)
        reveals = tuple(table.reveals or names)
        return self._try(("experiments", name), lambda: Experiment(name, reveals, table.cost))

    def _command(self, name: str, table: ExperimentTable) -> None:
        known = [*self.table.inputs, PYTHON]
        for argument in table.command or ():
            try:
                unknown = [p for p in placeholders(argument) if p not in known]
            except ProgramError as error:
                unknown = []
                self._say(("experiments", name, "command"), str(error))
            for placeholder in unknown:
                self._say(
                    ("experiments", name, "command"),
                    f"{{{placeholder}}} in {brief(argument)} is not an input; there are {brief(known)} "
                    "(write {{ and }} for literal braces)",
                )

    def _programs(self, experiments: tuple[Experiment, ...]) -> dict[str, Program]:
        directory = str(self.path.resolve().parent)
        found = {}
        for experiment in experiments:
            table = self.table.experiments.get(experiment.name)
            if table is not None and table.command is not None:
                program = Program(tuple(table.command), tuple(experiment.reveals), table.timeout, experiment.name)
                found[experiment.name] = replace(program, directory=directory)
        return found
