"""Random commands, ids, numbers, bytes, study files, tables and databases against the command line.

Whatever it is given: a documented exit code, one screen, no traceback, and an end. 300 examples, the same every time;
PESMO_FUZZ=5000 draws as many new ones. Most call the entry point in this process, some start a real one.
"""

import errno
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.cli.calling import Ended, call
from tests.cli.oddities import (
    GOOD,
    RESULTS,
    TABLE,
    command_lines,
    databases,
    put_database,
    study_files,
    tables,
    whole,
    whole_bytes,
)

FUZZ = os.environ.get("PESMO_FUZZ")
CPU_SECONDS = 5.0  # the promise, in processor time: that the machine is busy is not the command's fault
HANGS = 300  # seconds on the clock after which it hangs
MEMORY = 8 * 10**9  # bytes, addresses that are not used included
SCREEN = 8000  # characters


@pytest.fixture(scope="module", autouse=True)
def surroundings() -> Iterator[None]:
    """What hangs is ended, what eats memory gets no more, and everything is as it was afterwards."""
    folder, temporary = Path.cwd(), tempfile.tempdir
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))

    def hangs(*_: object) -> None:
        raise TimeoutError(f"nothing has come back for {HANGS} s")

    handler = signal.signal(signal.SIGALRM, hangs)
    yield
    signal.signal(signal.SIGALRM, handler)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    os.chdir(folder)
    tempfile.tempdir = temporary


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with values, a failure and a running trial."""
    folder = tmp_path_factory.mktemp("template")
    (folder / "study.toml").write_bytes(GOOD)
    (folder / "data.csv").write_bytes(TABLE)
    for line in ("import study.toml data.csv", "ask -n 3", "tell 4 a=1 b=2", "fail 5 broken"):
        assert called(line.split(), folder).exit_code == 0
    with sqlite3.connect(folder / "study.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # all in one file
    connection.close()
    return folder / "study.db"


def called(line: Sequence[str], folder: Path, **how: Any) -> Ended:
    os.chdir(folder)
    tempfile.tempdir = str(folder)  # where a log would be written
    return call(line, **how)


def started(line: list[str], folder: Path, stdin: bytes) -> Ended:
    """The same in a process of its own."""
    environment = {**os.environ, "TMPDIR": str(folder)}
    command = [sys.executable, "-m", "pesmo", *line]
    ended = subprocess.run(command, cwd=folder, env=environment, input=stdin, capture_output=True, check=False)
    return Ended(ended.returncode, *(os.fsdecode(stream) for stream in (ended.stdout, ended.stderr)))


def processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def not_strict(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def check(line: list[str], ended: Ended, codes: set[int], damaged: bool) -> None:
    log = "\n".join(path.read_text(encoding="utf-8") for path in Path().glob("pesmo-error-*.log"))
    unexpected = "pesmo met what it did not expect" in ended.stderr
    assert damaged or not unexpected, log
    assert ended.exit_code in codes | ({1} if unexpected else set()), ended.output + log
    assert "Traceback (most recent call last)" not in ended.output, ended.output
    assert len(ended.stderr) <= SCREEN
    assert ended.stderr.strip() or ended.exit_code in (0, 141) or line == [], "it does not say why"
    if ended.exit_code == 0 and "--json" in line and ended.stdout.startswith(("{", "[")):
        json.loads(ended.stdout, parse_constant=not_strict)


BROKEN = {1: errno.EPIPE, 2: errno.ENOSPC, 3: errno.EBADF}
ENCODINGS = {4: "ascii", 5: "latin-1"}


@settings(
    max_examples=int(FUZZ or 300),
    derandomize=FUZZ is None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
    phases=[Phase.explicit, Phase.generate],  # an example is small enough as it is
)
@given(
    line=command_lines(),
    file=study_files(),
    table=tables(),
    change=databases(),
    stdin=st.one_of(RESULTS.map(str.encode), st.binary(max_size=20)),
    how=st.integers(0, 39),
)
def test_whatever_it_is_given(
    line: list[str], file: bytes, table: bytes, change: Any, stdin: bytes, how: int, database: Path
) -> None:
    with tempfile.TemporaryDirectory(dir=database.parent) as name:
        folder = Path(name)
        (folder / "study.toml").write_bytes(whole_bytes(file))
        (folder / "other.toml").write_bytes(GOOD)
        (folder / "data.csv").write_bytes(whole_bytes(table))
        for made in ("folder", "folder.toml"):
            (folder / made).mkdir()
        for full in ("full.csv", "full.html", "full.png"):
            (folder / full).symlink_to("/dev/full")
        put_database(change, folder / "study.db", database.read_bytes())
        words, given = [whole(word) for word in line], whole_bytes(stdin)
        before = processor_seconds()
        signal.alarm(HANGS)
        try:
            if how == 0:
                ended = started(words, folder, given)
            else:
                output, encoding = BROKEN.get(how), ENCODINGS.get(how, "utf-8")
                ended = called(words, folder, stdin=given, broken=output, encoding=encoding)
        finally:
            signal.alarm(0)
        spent = processor_seconds() - before
        codes = {0, 2} | ({141} if how == 1 else set()) | ({1} if line[0] in ("run", "worker") else set())
        check(line, ended, codes, damaged=change[0] in ("overwritten", "changed"))  # not all damage can be told
    assert spent < CPU_SECONDS
