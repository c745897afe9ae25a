"""Which study a command is about: a study file, a storage, or the study.toml of this folder."""

import shlex
from dataclasses import dataclass, field
from pathlib import Path

from pesmo.cli.studyfile import StudyFile, read_study_file
from pesmo.errors import DefinitionError, StorageError
from pesmo.redact import is_address, shown
from pesmo.study import Study

DEFAULT = Path("study.toml")


@dataclass(frozen=True)
class Target:
    """What a command line names: a study file, or a storage and perhaps a study's name in it."""

    file: StudyFile | None
    storage: str = field(repr=False)  # with its password
    name: str | None
    said: str  # how the user may name it again: "study.toml", "--storage x.db --study lab"

    def make(self) -> Study:
        """The study; a study file's is made where it does not exist yet, and must agree with it where it does."""
        if self.file is None:
            return Study.open(self.storage, self.name)
        file = self.file
        return Study(file.space, file.objectives, file.experiments, file.method, file.seed, file.storage, file.name)

    def open(self) -> Study:
        """The study as it is in its storage; it must exist."""
        self._check_begun()
        return Study.open(self.storage, self.name)

    def look(self) -> Study:
        """Likewise, to read only: nothing is made or changed, and nothing need be allowed but to read."""
        self._check_begun()
        return Study.open(self.storage, self.name, read_only=True)

    def _check_begun(self) -> None:
        if self.file is not None and not is_address(self.storage) and not Path(self.storage).exists():
            raise StorageError(
                f"the study of {self.said} has not begun: begin with `pesmo run {self.said}`, or `pesmo ask`"
            )


def target(where: str | None, storage: str | None, name: str | None) -> Target:
    """The study that the arguments STUDY, --storage and --study name."""
    if storage is not None:
        if where is not None:
            raise DefinitionError(f"give {shown(where)!r} or --storage {shown(storage)!r}, not both")
        return Target(None, storage, name, f"--storage {_said(storage, name)}")
    if where is None:
        if not DEFAULT.exists():
            raise DefinitionError(
                "which study? Name a study file or --storage; there is no study.toml in this folder "
                "(`pesmo init` writes one)"
            )
        where = str(DEFAULT)
    if is_address(where) or not _is_study_file(Path(where)):
        return Target(None, where, name, _said(where, name))
    if name is not None:
        raise DefinitionError(f"--study belongs to a storage; {where} names its study itself")
    file = read_study_file(Path(where))
    return Target(file, file.storage, file.name, shlex.quote(where))


def _said(storage: str, name: str | None) -> str:
    """How the user named it, without a password: what is printed may be kept."""
    named = shlex.quote(shown(storage))
    return f"{named} --study {shlex.quote(name)}" if name else named


def _is_study_file(path: Path) -> bool:
    """By its name; by its first bytes where the name does not say."""
    if path.suffix == ".toml":
        return True
    if path.suffix in (".db", ".sqlite", ".sqlite3"):
        return False
    if not path.is_file():
        raise DefinitionError(f"there is no study file or database {str(path)!r}; `pesmo init` writes a study file")
    with path.open("rb") as stream:
        return not stream.read(16).startswith(b"SQLite format 3")
