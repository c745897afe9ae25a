"""A password is never shown, however a storage is given or mistyped, wherever it is met."""

import shlex
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from pesmo import Float, PesmoError, Space, Study
from pesmo.cli.app import main
from pesmo.redact import redact, redacted, shown
from pesmo.store import study_names

SECRET = "Gr4nat"  # of the others, each part is one
HOST = "127.0.0.1:1"  # nobody answers there
WAYS = {
    "as it should be": f"postgresql://u:Gr4nat@{HOST}/db",
    "in the query": f"postgresql://u@{HOST}/db?password=Gr4nat",
    "in the query, upper case": f"postgresql://u@{HOST}/db?PASSWORD=Gr4nat",
    "in the query, mistyped": f"postgresql://u@{HOST}/db?sslmode=disable&pasword=Gr4nat",
    "of a key": f"postgresql://u@{HOST}/db?sslpassword=Gr4nat&passfile=/home/u/.pgpass",
    "with a slash": f"postgresql://u:Gr4nat/Gr4nat@{HOST}/db",
    "with an at": f"postgresql://u:Gr4nat@Gr4nat@{HOST}/db",
    "with an at and a slash": f"postgresql://u:Gr4nat@Gr4nat/Gr4nat@{HOST}/db",
    "with a colon": f"postgresql://u:Gr4nat:Gr4nat@{HOST}/db",
    "with a number sign": f"postgresql://u:Gr4nat#Gr4nat@{HOST}/db",
    "with a question mark": f"postgresql://u:Gr4nat?Gr4nat@{HOST}/db",
    "with an ampersand": f"postgresql://u@{HOST}/db?password=Gr4nat&Gr4nat",
    "with blanks": f"postgresql://u:Gr4nat Gr4nat@{HOST}/db",
    "percent-encoded": f"postgresql://u:Gr4nat%40Gr4nat@{HOST}/db",
    "percent-encoded letters": f"postgresql://u:%47r4nat@{HOST}/db",
    "a wrong port": "postgresql://u:Gr4nat@127.0.0.1:54x2/db",
    "a port out of range": "postgresql://u:Gr4nat@127.0.0.1:543210/db",
    "no at": "postgresql://u:Gr4nat",
    "no at, but a database": "postgresql://u:Gr4nat/db",
    "no user": f"postgresql://:Gr4nat@{HOST}/db",
    "a user with an at": f"postgresql://u@corp:Gr4nat@{HOST}/db",
    "postgres": f"postgres://u:Gr4nat@{HOST}/db",
    "a driver": f"postgresql+psycopg://u:Gr4nat@{HOST}/db",
    "another driver": f"postgresql+asyncpg://u:Gr4nat@{HOST}/db",
    "another database": f"mysql://u:Gr4nat@{HOST}/db",
    "no database that there is": f"postgresq://u:Gr4nat@{HOST}/db",
    "upper case": f"POSTGRESQL://U:Gr4nat@{HOST}/DB",
    "one slash": f"postgresql:/u:Gr4nat@{HOST}/db",
    "no slash": f"postgresql:u:Gr4nat@{HOST}/db",
    "no colon": f"postgresql//u:Gr4nat@{HOST}/db",
    "no scheme": f"u:Gr4nat@{HOST}/db",
    "no scheme and no database": "u:Gr4nat@host",
    "blanks around": f"  postgresql://u:Gr4nat@{HOST}/db  ",
    "a line end": f"postgresql://u:Gr4nat@{HOST}/db\n",
    "quotes": f"'postgresql://u:Gr4nat@{HOST}/db'",
    "an option": f"--storage=postgresql://u:Gr4nat@{HOST}/db",
    "a key of the study file": f'storage = "postgresql://u:Gr4nat@{HOST}/db"',
    "settings": "host=127.0.0.1 port=1 user=u password=Gr4nat dbname=db",
    "settings in quotes": "host=127.0.0.1 port=1 password = 'Gr4nat Gr4nat' dbname=db",
    "jdbc": "jdbc:postgresql://127.0.0.1:1/db?user=u&password=Gr4nat",
    "after a semicolon": f"postgresql://{HOST}/db;password=Gr4nat",
    "no such host": "postgresql://u:Gr4nat@[::1/db",
    "unfinished encoding": f"postgresql://u:Gr4nat%4@{HOST}/db",
}
FILE = """
[study]
storage = {}
[inputs.x]
type = "float"
low = 0
high = 1
[objectives.a]
[experiments.both]
command = "true"
"""
PLACES: dict[str, Callable[[str], object]] = {
    "Study": lambda storage: Study(Space(x=Float(0, 1)), ["a"], storage=storage),
    "Study, a path": lambda storage: Study(Space(x=Float(0, 1)), ["a"], storage=Path(storage)),
    "Study.open": lambda storage: Study.open(storage),
    "Study.open to look": lambda storage: Study.open(storage, read_only=True),
    "study_names": study_names,
}


def everything(error: BaseException | None) -> str:
    """All that any program could print of an error."""
    said = "" if error is None else "".join(traceback.format_exception(error))
    while error is not None:
        said += f"{error}{error!r}{error.args}"
        error = error.__cause__ or error.__context__
    return said


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("storage", WAYS.values(), ids=WAYS.keys())
def test_no_error_shows_the_password(storage: str) -> None:
    for name, open_it in PLACES.items():
        with pytest.raises(PesmoError) as caught:
            open_it(storage)
        said = everything(caught.value)
        assert "***" in said, name
        assert SECRET not in said, name
    assert not list(Path().iterdir())  # nor is it the name of a new file


@pytest.mark.parametrize("storage", WAYS.values(), ids=WAYS.keys())
def test_no_command_shows_the_password(
    storage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # this process is not the command's own
    written = storage.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    Path("study.toml").write_text(FILE.format(f'"{written}"'), encoding="utf-8")
    Path("list.toml").write_text(FILE.format(f'["{written}"]'), encoding="utf-8")
    lines = [
        ["status", "study.toml"],
        ["ask", "study.toml"],
        ["status", "list.toml"],
        ["ask", f"--storage={storage}"],
        ["trials", "study.toml", f"--storage={storage}"],
        ["tell", "--storage", storage, "1", "a=1"],
    ]
    if not storage.startswith("-"):
        lines += [
            ["status", storage],
            ["plot", storage],
            ["tell", storage, "1", "a=1"],
            ["export", storage, "--study", "s"],
        ]
    for line in lines:
        monkeypatch.setattr(sys, "argv", ["pesmo", *line])
        try:
            code = main()
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr()
        assert code == 2, line
        assert "***" in said.err or "list.toml" in line, line
        assert SECRET not in said.out + said.err, line
    assert not list(tmp_path.glob("*.db"))


@pytest.mark.parametrize("storage", WAYS.values(), ids=WAYS.keys())
def test_what_is_said_of_a_command_names_the_place_without_the_password(storage: str) -> None:
    from pesmo.cli.opening import target

    if storage.startswith("-"):
        return
    for place in (target(storage, None, "s"), target(None, storage, "s")):
        assert SECRET not in place.said + repr(place)
        assert shown(storage) in shlex.split(place.said)


def test_what_is_no_secret_is_shown() -> None:
    for storage in (
        "study.db",
        "/data/run 1:2@3.db",
        "./u:p@host.db",
        "C:\\data\\u:p@host.db",
        "postgresql://u@host/db",
        "postgresql://host:5432/db",
        "postgresql://u@[::1]:5432/db?sslmode=require",
        "postgresql://[::1]:5432/db",
        "postgresql:///db?host=/run/postgresql&options=-csearch_path%3Da&passfile=/home/u/.pgpass",
        "host=db user=u dbname=d",
    ):
        assert shown(storage) == storage
    assert shown(WAYS["a wrong port"]) == "postgresql://u:***@127.0.0.1:54x2/db"
    assert shown(WAYS["of a key"]) == f"postgresql://u@{HOST}/db?sslpassword=***&passfile=/home/u/.pgpass"


def test_what_a_driver_says_loses_every_spelling_of_the_secret() -> None:
    said = redact("postgresql://lab:p%40sses/word@host/lab?password=other")
    words = 'host "sses/word@host", password "p@sses/word", p%40sses/word, word, other, user "lab", a password'
    assert said.scrub(words) == 'host "***/***@host", password "***", ***, ***, ***, user "lab", a password'
    same = redact("postgresql://postgres:postgres@host/db")
    assert same.scrub('no role "postgres"') == 'no role "postgres"'  # it is shown as the user's name anyway


def test_text_of_any_origin_loses_the_passwords_of_its_addresses() -> None:
    text = "connect('postgresql://u:a b@c@host/db')\nhost=h password='x y' user=u\nsee https://host/page, at 12:30"
    assert (
        redacted(text)
        == "connect('postgresql://u:***@host/db')\nhost=h password=*** user=u\nsee https://host/page, at 12:30"
    )


def test_a_url_in_upper_case_or_with_blanks_around_is_understood(postgres) -> None:
    url = postgres.new_database()
    Study(Space(x=Float(0, 1)), ["a"], storage=url, name="one").close()
    assert study_names(f" {url.replace('postgresql', 'POSTGRES')}\n") == ["one"]
