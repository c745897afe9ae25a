"""What a study file may say: pydantic models whose descriptions are also the second half of every error message."""

import shlex
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

MOST_EVALUATIONS = 2**31 - 1  # the largest id of a trial
LONGEST = 1e9  # seconds of a time-out: 30 years, and about what a system call takes
SHELL_WORDS = {"|", "||", "&", "&&", ";", "<", "<<", ">", ">>", "2>", "2>&1"}


class Table(BaseModel):
    # An error of pydantic shows no input: a storage may hold a password.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, hide_input_in_errors=True)


def _words(command: Any) -> Any:
    """A command given as one string, split into words as a shell would, with nothing else a shell does."""
    if not isinstance(command, str):
        return command
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"cannot split {command!r} into words: {str(error).lower()}") from None
    for word in words:
        if word in SHELL_WORDS:
            raise ValueError(
                f"{word!r} needs a shell, and there is none; put the line in a script, or write "
                "command = ['sh', '-c', '…'] and read the inputs from $PESMO_NAME"
            )
    return words


Command = Annotated[
    list[str],
    BeforeValidator(_words),
    Field(min_length=1, description="a list of words such as ['./solve', '--x', '{x}'], or one string"),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]
Option = Annotated[Any, WithJsonSchema({"type": ["string", "number", "boolean"]})]


class StudyTable(Table):
    """[study]: the study as a whole. Everything here is optional."""

    name: str | None = Field(None, min_length=1, description="the study's name; left out: the file's own name")
    method: str = Field("pesmo", description="the rule that picks the next trial")
    seed: int | None = Field(None, ge=0, description="a whole number >= 0 that fixes every suggestion")
    storage: str | None = Field(
        None,
        min_length=1,
        description="a SQLite file beside this file, or postgresql://…; left out: this file's name with .db",
    )
    evaluations: int | None = Field(
        None, gt=0, le=MOST_EVALUATIONS, description="how many trials to run in all, a whole number > 0"
    )
    budget: float | None = Field(None, gt=0, description="how much cost to spend in all, a number > 0")


class FloatTable(Table):
    """[inputs.NAME] type = "float": a real number."""

    type: Literal["float"]
    low: float = Field(description="the smallest value, a number")
    high: float = Field(description="the largest value, a number above low")
    log: bool = Field(False, description="true to search on a logarithmic scale (low must be above 0), or false")


class IntTable(Table):
    """[inputs.NAME] type = "int": a whole number."""

    type: Literal["int"]
    low: int = Field(description="the smallest value, a whole number")
    high: int = Field(description="the largest value, a whole number above low")
    log: bool = Field(False, description="true to search on a logarithmic scale (low must be above 0), or false")


class ChoiceTable(Table):
    """[inputs.NAME] type = "choice": one of several options without order."""

    type: Literal["choice"]
    choices: list[Option] = Field(min_length=2, description="a list of two or more strings, numbers or booleans")


Input = Annotated[FloatTable | IntTable | ChoiceTable, Field(discriminator="type")]


class ObjectiveTable(Table):
    """[objectives.NAME]: a number to minimize or maximize. Everything here is optional."""

    goal: Literal["minimize", "maximize"] = Field("minimize", description="'minimize' or 'maximize'")
    transform: Literal["log", "logit"] | None = Field(
        None, description="'log' for positive values over orders of magnitude, 'logit' for rates between 0 and 1"
    )
    inputs: list[str] | None = Field(
        None, min_length=1, description="a list of the inputs it depends on; left out: all of them"
    )
    noise: float | None = Field(
        None, ge=0, description="the standard deviation of one measurement, a number >= 0; left out: learned"
    )
    unit: str | None = Field(None, min_length=1, description="a text such as 'kWh', shown on axes and in tables")
    worst: float | None = Field(None, description="the worst value of any interest, a number; left out: unknown")


class ExperimentTable(Table):
    """[experiments.NAME]: something to run at a point. It reveals objectives, at a cost."""

    command: Command | None = Field(
        None, description="the program, a list of words such as ['./solve', '--x', '{x}'] or one string"
    )
    reveals: list[str] | None = Field(
        None, min_length=1, description="a list of the objectives it measures; left out: all of them"
    )
    cost: float = Field(1.0, gt=0, description="what one run costs, in any unit you like, a number > 0")
    timeout: float | None = Field(
        None, gt=0, le=LONGEST, description="seconds after which a run is ended, a number > 0"
    )


class StudyFileTable(Table):
    """A study for `pesmo run`."""

    study: StudyTable = Field(StudyTable(), description="a table [study]")  # pyright: ignore[reportCallIssue]
    inputs: dict[str, Input] = Field(min_length=1, description="one table [inputs.NAME] for each input")
    objectives: dict[str, ObjectiveTable] = Field(
        min_length=1, description="one table [objectives.NAME] for each objective"
    )
    experiments: dict[str, ExperimentTable] = Field(
        {}, description="one table [experiments.NAME] for each; left out: one, run by hand, that reveals everything"
    )


INPUT_TABLES: dict[str, type[Table]] = {"float": FloatTable, "int": IntTable, "choice": ChoiceTable}
TABLES: dict[str, type[Table]] = {
    "study": StudyTable,
    "objectives": ObjectiveTable,
    "experiments": ExperimentTable,
}


def json_schema() -> dict[str, Any]:
    """The JSON schema of a study file, for editors."""
    from pesmo.methods.registry import METHODS

    schema = StudyFileTable.model_json_schema()
    schema["$defs"]["StudyTable"]["properties"]["method"]["enum"] = sorted(METHODS)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
