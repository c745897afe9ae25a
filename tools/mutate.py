"""Puts faults (mutants) into a copy of the code, one at a time, and says which of them the tests notice.

    python tools/mutate.py named                    the mutants of tools/mutants.toml, each written by hand
    python tools/mutate.py sampled --count 160      mutants drawn by a seed from all places of the rooms below
    python tools/mutate.py sampled --room gp        of one room

Each mutant is run against the tests of its room. It is killed where a test fails, or where the tests take many times
their usual time. Results are appended to scratch/mutants.jsonl: a run that was interrupted goes on where it stopped; a
changed file, or changed tests of its room, make its old results stale.

What the sampler leaves out: texts and annotations, what only raises errors' words, and the tuning numbers in capitals
at the top of a module (a grid of 1,025 points is no fault). What it puts in is listed in `Sites`.
"""

import argparse
import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = Path("src/pesmo")
RESULTS = ROOT / "scratch/mutants.jsonl"
STUDY = ("study.py", "suggest.py", "view.py", "problem.py", "space.py", "definition.py", "front.py", "arrays.py")
TESTS = {  # of each room: what looks at it and answers in a minute or so
    "gp": ["tests/gp", "tests/test_arrays.py"],
    "pareto": ["tests/pareto"],
    "entropy": ["tests/entropy", "tests/oracle/test_exact.py"],
    "methods": ["tests/methods", "tests/test_pending.py", "tests/bugs/test_large_spaces.py"],
    "study": ["tests/test_*.py", "tests/bugs/test_leases.py", "tests/bugs/test_front_points.py"],
    "store": ["tests/store", "tests/test_study.py", "tests/bugs/test_leases.py", "tests/bugs/test_looking.py"],
    "run": ["tests/run", "tests/bugs/test_infrastructure_faults.py"],
    "report": ["tests/report"],
    "cli": ["tests/cli"],
}
SAMPLED = ("gp", "pareto", "entropy", "methods", "study", "store", "run")
PATIENCE = 5.0  # times the usual time of the tests, and a minute more, before they count as hanging
COMPARED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
COMPARED |= {"in": "not in", "not in": "in", "is": "is not", "is not": "is"}
COMPUTED = {"+": "-", "-": "+", "*": "/", "/": "*", "**": "*", "//": "/", "%": "*", "&": "|", "|": "&", "@": "+"}
CALLED = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}
CALLED |= {"argmin": "argmax", "argmax": "argmin", "sum": "mean", "mean": "sum", "floor": "ceil", "ceil": "floor"}


@dataclass(frozen=True)
class Mutant:
    """`old` at (line, column), both from 1, of a file becomes `new`."""

    file: str
    line: int
    column: int
    old: str
    new: str
    name: str = ""

    @property
    def room(self) -> str:
        part = Path(self.file).relative_to(SOURCE).parts[0]
        return "study" if part.endswith(".py") else part

    def apply(self, source: str) -> str:
        lines = source.splitlines(keepends=True)
        start = sum(len(text) for text in lines[: self.line - 1]) + self.column - 1
        if source[start : start + len(self.old)] != self.old:
            raise SystemExit(f"{self.file}:{self.line} does not have {self.old!r} any more; renew tools/mutants.toml")
        return source[:start] + self.new + source[start + len(self.old) :]


class Sites(ast.NodeVisitor):
    """Every place of a module where a fault may be put, with the fault."""

    def __init__(self, file: str, source: str) -> None:
        self.file, self.source = file, source
        self.lines = source.splitlines(keepends=True)
        self.found: list[Mutant] = []

    def visit_Module(self, node: ast.Module) -> None:
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                self.visit(statement)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in [*node.args.defaults, *[d for d in node.args.kw_defaults if d is not None]]:
            self.visit(default)
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Texts for people are not sampled: whether they are good is for people to say."""

    def visit_Raise(self, node: ast.Raise) -> None:
        """Nor are the words of errors."""

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._put(node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._put(node, "pass")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self._put(node.test, f"not ({self._text(node.test)})")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._put(node.test, f"not ({self._text(node.test)})")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1:
            self._between(node.left, node.comparators[0], COMPARED)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._between(node.left, node.right, COMPUTED)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._between(node.values[0], node.values[1], {"and": "or", "or": "and"})
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub | ast.Invert):
            self._put(node, self._text(node.operand))
        if not isinstance(node.operand, ast.Constant):
            self.visit(node.operand)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._put(node, str(not node.value))
        elif isinstance(node.value, int | float):
            self._put(node, f"({self._text(node)} + 1)")

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func
        word = name.attr if isinstance(name, ast.Attribute) else name.id if isinstance(name, ast.Name) else ""
        if word in CALLED:
            self._put(name, self._text(name).removesuffix(word) + CALLED[word])
        self.generic_visit(node)

    def _between(self, left: ast.expr, right: ast.expr, table: dict[str, str]) -> None:
        """The operator between two operands; brackets and white space stay."""
        start, end = self._offset(left, end=True), self._offset(right)
        gap = self.source[start:end]
        operator = gap.strip(" ()\n\t")
        if operator in table and "#" not in gap:
            at = start + gap.index(operator)
            self._add(at, operator, table[operator])

    def _put(self, node: ast.AST, new: str) -> None:
        self._add(self._offset(node), self._text(node), new)

    def _add(self, at: int, old: str, new: str) -> None:
        before = self.source[:at]
        line = before.count("\n") + 1
        self.found.append(Mutant(self.file, line, at - (before.rfind("\n") + 1) + 1, old, new))

    def _text(self, node: ast.AST) -> str:
        return ast.get_source_segment(self.source, node) or ""

    def _offset(self, node: ast.AST, end: bool = False) -> int:
        line = node.end_lineno if end else node.lineno  # type: ignore[attr-defined]
        column = node.end_col_offset if end else node.col_offset  # type: ignore[attr-defined]
        text = self.lines[line - 1].encode()[:column].decode()
        return sum(len(one) for one in self.lines[: line - 1]) + len(text)


def sampled(rooms: tuple[str, ...], count: int, seed: int) -> list[Mutant]:
    """`count` mutants, each place of the rooms as likely as any other."""
    sites: list[Mutant] = []
    for path in sorted((ROOT / SOURCE).rglob("*.py")):
        relative = path.relative_to(ROOT)
        part = path.relative_to(ROOT / SOURCE).parts[0]
        if part in rooms or (part in STUDY and "study" in rooms):
            finder = Sites(str(relative), path.read_text(encoding="utf-8"))
            finder.visit(ast.parse(finder.source))
            sites += [site for site in finder.found if site.old != site.new]

    def lot(site: Mutant) -> str:
        """A random number that stays when other lines move: most of the sample stays too when the code changes."""
        line = (ROOT / site.file).read_text(encoding="utf-8").splitlines()[site.line - 1]
        return hashlib.sha256(f"{seed} {site.file} {line} {site.column} {site.new}".encode()).hexdigest()

    return sorted(sorted(sites, key=lot)[:count], key=lambda m: (m.room, m.file, m.line, m.column))


def named() -> list[Mutant]:
    """The mutants written by hand: a text that a file has once, and what stands there instead."""
    found = []
    for entry in tomllib.loads((ROOT / "tools/mutants.toml").read_text(encoding="utf-8"))["mutant"]:
        source = (ROOT / SOURCE / entry["file"]).read_text(encoding="utf-8")
        if source.count(entry["old"]) != 1:
            raise SystemExit(
                f"{entry['name']}: {entry['file']} has {entry['old']!r} {source.count(entry['old'])} times"
            )
        before = source[: source.index(entry["old"])]
        column = len(before) - (before.rfind("\n") + 1) + 1
        line = before.count("\n") + 1
        found.append(Mutant(str(SOURCE / entry["file"]), line, column, entry["old"], entry["new"], entry["name"]))
    return found


class Bench:
    """A copy of the checkout in which mutants live, and how long its tests usually take."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        extra = [str(p.relative_to(ROOT)) for p in (ROOT / SOURCE / "report").glob("plotly.*")]
        for name in [*listed.splitlines(), *extra]:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target)
        self._usual: dict[str, float] = {}

    def verdict(self, mutant: Mutant) -> str:
        """The test that noticed the mutant, or "survived"."""
        path = self.folder / mutant.file
        source = path.read_text(encoding="utf-8")
        if mutant.room not in self._usual:
            self._usual[mutant.room] = self._time(mutant.room)
        path.write_text(mutant.apply(source), encoding="utf-8")
        try:
            return self._run(mutant.room, 60.0 + PATIENCE * self._usual[mutant.room]) or "survived"
        finally:
            path.write_text(source, encoding="utf-8")

    def _time(self, room: str) -> float:
        began = time.monotonic()
        failed = self._run(room, 3600.0)
        if failed is not None:
            raise SystemExit(f"the tests of {room} fail without any mutant: {failed}")
        return time.monotonic() - began

    def _run(self, room: str, patience: float) -> str | None:
        """The first test that fails; None where all pass."""
        tests = [str(p.relative_to(self.folder)) for t in TESTS[room] for p in sorted(self.folder.glob(t))]
        environment = {**os.environ, "PYTHONPATH": f"{self.folder / 'src'}{os.pathsep}{self.folder}"}
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                command, cwd=self.folder, env=environment, stdout=output, stderr=output, start_new_session=True
            )
            try:
                code = process.wait(patience)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                return "hangs"
            output.seek(0)
            said = output.read().decode(errors="replace")
        lines = [text for text in said.splitlines() if text.startswith(("FAILED", "ERROR"))]
        return None if code == 0 else (lines[0] if lines else f"exit code {code}: {said[-300:]}")[:300]


def stamp(mutant: Mutant) -> str:
    """Changes with the mutant, its file, and the tests of its room."""
    tests = [p for pattern in TESTS[mutant.room] for p in sorted(ROOT.glob(pattern))]
    files = [p for t in tests for p in ([t] if t.is_file() else sorted(t.rglob("*.py")))]
    digest = hashlib.sha256(json.dumps(asdict(mutant)).encode())
    for path in [ROOT / mutant.file, *files]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", choices=["named", "sampled"])
    parser.add_argument("--count", type=int, default=160)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--room", choices=SAMPLED, action="append")
    asked = parser.parse_args()
    rooms = tuple(asked.room or SAMPLED)
    mutants = named() if asked.which == "named" else sampled(rooms, asked.count, asked.seed)
    RESULTS.parent.mkdir(exist_ok=True)
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    known = {one["stamp"]: one["verdict"] for one in map(json.loads, lines)}
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="pesmo-mutants-") as folder:
        bench = Bench(Path(folder))
        for number, mutant in enumerate(mutants, 1):
            mark = stamp(mutant)
            if mark not in known:
                known[mark] = bench.verdict(mutant)
                with RESULTS.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({**asdict(mutant), "stamp": mark, "verdict": known[mark]}) + "\n")
            verdicts.append((mutant, known[mark]))
            place = f"{mutant.file}:{mutant.line}"
            said = mutant.name or f"{mutant.old[:60]!r} -> {mutant.new[:60]!r}"
            print(f"{number}/{len(mutants)} {known[mark][:90]:<90} {place} {said}", flush=True)
    survived = [mutant for mutant, verdict in verdicts if verdict == "survived"]
    print(f"killed {len(verdicts) - len(survived)} of {len(verdicts)}")


if __name__ == "__main__":
    main()
