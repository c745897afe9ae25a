"""Command lines, study files, tables and databases with something odd in them, for the fuzzer.

What would fill the screen of a failure has a short name in angle brackets, which `whole` replaces.
"""

import os
import sqlite3
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

Texts = st.SearchStrategy[str]

LONG = {
    "<digits>": "9" * 5000,
    "<400_digits>": "9" * 400,
    "<long>": "x" * 5000,
    "<long_name>": "x" * 300,
    "<deep_list>": "[" * 9000,
    "<deep_table>": "{a=" * 9000,
    "<deep_object>": '{"a":' * 9000,
    "<many_parts>": ".".join(["k"] * 3000),
}


def whole(text: str) -> str:
    """The text with everything in place of its short names."""
    for name, content in LONG.items():
        text = text.replace(name, content)
    return text


def whole_bytes(content: bytes) -> bytes:
    return whole(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def one_of(listed: str, *more: str) -> Texts:
    """One of the words of a line, or of those that have blanks or nothing in them."""
    return st.sampled_from([*listed.split(), *more])


NUMBERS = st.one_of(
    one_of("0 1 2 3 -1 1.5 -0 +1 1e3 1e-320 1e400 inf -inf nan 0x1 1_0 ١ ¹", "", " 1"),
    one_of("2147483648 9007199254740993 9999999999999999999999999 <400_digits> <digits> -<digits>"),
)
FEW = NUMBERS.filter(lambda n: len(n) < 4 or "digits" in n)  # -n 9007199254740993 would be asking for it
TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0/"), max_size=8),
    st.binary(max_size=6).map(lambda b: os.fsdecode(b.replace(b"\0", b"").replace(b"/", b""))),
    one_of("- -- = a= =1 [/red] { [[ ' \" <long>", "\x1b[31m", "\u2028", "\ufeff"),
)
PLACES = one_of(
    "study.toml other.toml study.db other.db data.csv nowhere.toml nowhere.db folder folder.toml . /dev/null /dev/full "
    "/dev/null/x.db <long_name> sqlite:///study.db mysql://a:b@c/d :// postgresql:// postgresql://me:pw@127.0.0.1:1/x "
    "postgresql://me:pw@127.0.0.1:99999/x postgresql://[::1/x",
    "",
)
OUTPUTS = one_of(
    "out.csv out.json out.html out.png out.svg out folder sub/out.csv study.toml/out.csv . full.csv full.html full.png "
    "/dev/null /dev/null/out.csv <long_name>.csv",
    "",
)
RESULTS = st.one_of(
    st.builds(lambda name, number: f"{name}={number}", one_of("a b cost x", ""), NUMBERS),
    one_of("- <deep_object>"),
    one_of("{} { []", '{"a": 1, "b": 2}', '{"a": NaN}', '{"a": <digits>, "b": 1}'),
)


# ------------------------------------------------------------------------------------------------------ command lines


def option(name: str, values: Texts | None = None) -> st.SearchStrategy[list[str]]:
    return st.just([name]) if values is None else values.map(lambda value: [name, value])


PLACE = [option("--storage", PLACES), option("--study", st.one_of(st.just("study"), TEXTS))]
JSON, CSV, OUTPUT = option("--json"), option("--csv"), option("-o", OUTPUTS)
RUN = [option("--evaluations", NUMBERS), option("--budget", NUMBERS), option("--workers", NUMBERS), option("-q")]
FORMAT = option("--format", one_of("png svg pdf gif", ""))
OTHERS = one_of("-h --help --version --nonsense --json=1 --")

# name: (what comes after it, its own options)
COMMANDS: dict[str, tuple[list[Texts], list[st.SearchStrategy[list[str]]]]] = {
    "init": ([OUTPUTS], [option("--coupled"), option("--decoupled")]),
    "schema": ([], []),
    "run": ([PLACES], [JSON, *RUN]),
    "worker": ([PLACES], [JSON, *RUN]),
    "ask": ([PLACES], [JSON, option("-n", FEW), option("--lease", NUMBERS)]),
    "tell": ([PLACES, NUMBERS, RESULTS, RESULTS], [JSON]),
    "fail": ([PLACES, NUMBERS, TEXTS], [JSON]),
    "import": ([PLACES, st.one_of(st.just("data.csv"), PLACES)], [JSON]),
    "status": ([PLACES], [JSON]),
    "trials": ([PLACES], [JSON, CSV]),
    "front": ([PLACES], [JSON, CSV, option("--size", NUMBERS)]),
    "export": ([PLACES], [OUTPUT]),
    "report": ([PLACES], [OUTPUT]),
    "plot": ([PLACES, one_of("evaluations front frnt")], [OUTPUT, FORMAT]),
}
EVERY = [one for _, options in COMMANDS.values() for one in options]
STUDIES = st.sampled_from([[], ["study.toml"], ["study.toml"], ["study.db"], ["study.db"]])
TOLD = st.sampled_from([["6", "a=1", "b=2"], ["6", '{"a": 1, "b": 2}'], ["4", "a=1", "b=2"], ["3", "a=9"]])


def rarely(draw: st.DrawFn, one_in: int) -> bool:
    return draw(st.integers(0, one_in - 1)) == one_in // 2  # 0 and the last come more often than by chance


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """A command as one types it, with something odd in it: another study, other words, other options."""
    name = draw(st.sampled_from(sorted(COMMANDS)))
    parts, options = COMMANDS[name]
    rest = [draw(part) for part in parts]
    if rest and name not in ("init", "import") and not rarely(draw, 4):
        rest[:1] = draw(STUDIES)
    if name == "tell" and draw(st.booleans()):
        rest[-3:] = draw(TOLD)
    for _ in range(draw(st.integers(0, 2)) if options else 0):
        rest += draw(st.one_of(EVERY if rarely(draw, 10) else options))
    if parts and rarely(draw, 8):
        rest += draw(st.one_of(PLACE))
    if rarely(draw, 10):
        rest.append(draw(OTHERS))
    if rarely(draw, 6):
        rest.insert(draw(st.integers(0, len(rest))), draw(st.one_of(TEXTS, NUMBERS, RESULTS, PLACES)))
    return [draw(TEXTS) if rarely(draw, 60) else name, *rest]


# -------------------------------------------------------------------------------------------------------------- files

GOOD = b"""[study]
seed = 1
method = "random"
[inputs.x]
type = "float"
low = -1
high = 2
[inputs.n]
type = "int"
low = 1
high = 9
[inputs.kind]
type = "choice"
choices = ["good", "=fine", 1, true, "1"]
[objectives.a]
[objectives.b]
transform = "log"
"""
TABLE = b'x,n,kind,a,b\n0.5,1,good,1,2\n-1,9,"\'=fine",,3\n1,2,"""1""",4,\n'

LITERALS = st.one_of(
    NUMBERS,
    one_of(
        '"text" \'=\' "" true [] ["a"] {} {a.b=1} 1979-05-27 1e-200 1e200 1.8e308 1e308 -1e308 [true,1] ["x","kind"] '
        '"\\u0000" "\\n"'
    ),
    one_of('"<long>" <deep_list> <deep_table>'),
)
KEYS = one_of(
    "name method seed evaluations budget type low high log choices goal transform inputs noise unit worst reveals cost "
    "timeout x a.b <many_parts>",
    *("", '"q r"'),
)
HEADS = one_of("study inputs.x inputs.new inputs.kind objectives.a objectives.x experiments.e inputs odd a.b.c.d.e")


@st.composite
def study_files(draw: st.DrawFn) -> bytes:
    """A good study file, one with other lines in it, one with other bytes in it, or no text at all."""
    if draw(st.booleans()):
        return GOOD
    lines = GOOD.decode().splitlines()
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(lines)))
        if draw(st.booleans()):
            lines[place : place + 1] = [f"{draw(KEYS)} = {draw(LITERALS)}"]
        elif draw(st.booleans()):
            lines.insert(place, f"[{draw(HEADS)}]")
        else:
            del lines[place : place + draw(st.integers(1, 3))]
    return draw(spoilt("\n".join(lines).encode()))


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    cells = st.one_of(NUMBERS, TEXTS, one_of('good x n kind a b " , input.x'))
    rows = [line.split(",") for line in TABLE.decode().splitlines()]
    for _ in range(draw(st.integers(0, 3))):
        row = draw(st.sampled_from(rows))
        row[draw(st.integers(0, len(row) - 1))] = draw(cells)
    return draw(spoilt("\n".join(",".join(row) for row in rows).encode("utf-8", "surrogateescape")))


@st.composite
def spoilt(draw: st.DrawFn, content: bytes) -> bytes:
    """Mostly the content; else with bytes overwritten, cut off, or none of it. No path leads out of the folder."""
    match draw(st.sampled_from("...........oocrbe")):
        case "o":
            changed = bytearray(content)
            for _ in range(draw(st.integers(1, 20))):
                byte = draw(st.integers(0, 255).filter(lambda b: b != ord("/")))
                changed[draw(st.integers(0, len(changed) - 1))] = byte
            return bytes(changed)
        case "c":
            return content[: draw(st.integers(0, len(content)))]
        case "r":
            return draw(st.binary(max_size=300)).replace(b"/", b"_")
        case "b":
            return b"\xef\xbb\xbf" + content
        case "e":
            return b""
    return content


# ---------------------------------------------------------------------------------------------------------- databases

RUBBISH = st.one_of(
    one_of('rubbish [] {} null 1e999 {"x":1} {"a":"text"} <digits> <deep_list>', ""),
    st.sampled_from([-1, None, b"\xff"]),
)
COLUMNS = one_of(
    "pesmo_studies.definition pesmo_studies.settings pesmo_studies.memory pesmo_studies.name pesmo_version.version_num "
    "pesmo_trials.inputs pesmo_trials.outcome pesmo_trials.state pesmo_trials.experiment pesmo_trials.message "
    "pesmo_trials.cost pesmo_trials.revision pesmo_trials.asked pesmo_trials.lease pesmo_trials.note"
)


@st.composite
def databases(draw: st.DrawFn) -> Any:
    """What becomes of a good database: (how, with what)."""
    how = draw(st.sampled_from(["kept"] * 12 + ["missing", "overwritten", "replaced", "cut", "changed"]))
    match how:
        case "overwritten":
            place = st.tuples(st.integers(0, 60_000), st.integers(0, 255))
            return how, draw(st.lists(place, min_size=1, max_size=30))
        case "replaced":
            return how, draw(st.binary(max_size=500))
        case "cut":
            return how, draw(st.integers(0, 60_000))
        case "changed":
            return how, (draw(COLUMNS), draw(RUBBISH))
    return how, None


def put_database(change: Any, path: Path, content: bytes) -> None:
    """Write the database and what became of it."""
    how, what = change
    if how == "missing":
        return
    changed = bytearray(content)
    if how == "overwritten":
        for place, byte in what:
            changed[place % len(changed)] = byte
    path.write_bytes({"replaced": what, "cut": changed[:what] if how == "cut" else b""}.get(how, changed))
    if how == "changed":
        (table, column), value = what[0].split("."), what[1]
        value = whole(value) if isinstance(value, str) else value
        with sqlite3.connect(path) as connection:  # names of ours; the value is data
            connection.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", [value])
        connection.close()
