"""What `pesmo init` writes: a study that runs as it is, with a comment on everything one may want to change."""

from pathlib import Path

from pesmo.errors import DefinitionError

SCRIPT = "beam.py"

_HEAD = """\
# A study: which inputs to try, which objectives to improve, which programs measure them.
#   pesmo run {file}        run it; Ctrl-C stops it, the same command goes on
#   pesmo status {file}     where it stands            pesmo front {file}    the best trade-offs so far
# Every setting: docs/study-file.md, or `pesmo schema` for your editor.

[study]
{limit}
# name = "{stem}"               # left out: the name of this file
# seed = 7                    # the same seed, the same suggestions
# storage = "{stem}.db"         # left out: this file's name with .db, beside it; or "postgresql://user@host/database"
# method = "pesmo"

# ---- Inputs: what may be changed -------------------------------------------------------------------------------------
[inputs.width]
type = "float"                # "float", "int" or "choice"
low = 0.02
high = 0.12

[inputs.height]
type = "float"
low = 0.03
high = 0.25
# log = true                  # for values over orders of magnitude, such as a learning rate from 1e-5 to 1e-1

[inputs.webs]
type = "int"
low = 1
high = 4

[inputs.material]
type = "choice"
choices = ["steel", "aluminium", "titanium"]

# ---- Objectives: what to improve ------------------------------------------------------------------------------------
[objectives.mass]
goal = "minimize"             # or "maximize"
transform = "log"             # for positive values over orders of magnitude; "logit" for rates between 0 and 1
# inputs = ["width", "height"]  # where it depends on some of the inputs only
# noise = 0.0                 # standard deviation of one measurement; left out: learned

[objectives.deflection]
transform = "log"

# ---- Experiments: the programs that measure them ---------------------------------------------------------------------
# A program gets its inputs as {{placeholders}} in its command, as a JSON object on standard input, and as environment
# variables (PESMO_WIDTH, ...), whichever suits it. It prints its result as a JSON object, such as {{"mass": 12.5}}.
# {{python}} is the Python that runs pesmo. Commands run in the folder of this file, without a shell.
"""

_COUPLED = """\
# Here one program measures both objectives. Where each can be measured on its own: `pesmo init --decoupled`.

[experiments.simulate]
command = ["{python}", "beam.py", "mass", "deflection", "{width}", "{height}", "{webs}", "{material}"]
# cost = 1.0                  # what one run costs, in any unit you like; needed for a budget
# timeout = 60                # seconds after which a run is ended and counts as failed
"""

_DECOUPLED = """\
# Here each objective has a program of its own: pesmo decides which of them is worth its cost next, and where.

[experiments.weigh]
command = ["{python}", "beam.py", "mass", "{width}", "{height}", "{webs}", "{material}"]
reveals = ["mass"]
cost = 1                      # in any unit you like: seconds, euros, ...

[experiments.bend]
command = ["{python}", "beam.py", "deflection", "{width}", "{height}", "{webs}", "{material}"]
reveals = ["deflection"]
cost = 20
# timeout = 60                # seconds after which a run is ended and counts as failed
"""

_SCRIPT = '''\
"""A stand-in for your own program: mass (kg) and deflection (mm) of a cantilever beam.

    python beam.py mass deflection 0.05 0.1 2 steel
"""

import json
import sys

*wanted, width, height, webs, material = sys.argv[1:]
width, height, webs = float(width), float(height), int(webs)
stiffness, density = {"steel": (210e9, 7850), "aluminium": (70e9, 2700), "titanium": (115e9, 4500)}[material]

length, force = 2.0, 5000.0
web, inside = 0.06 * width * webs, 0.8 * height  # thin webs between two flanges
area = 0.2 * width * height + web * inside
inertia = (width * height**3 - (width - web) * inside**3) / 12

results = {
    "mass": density * length * area,
    "deflection": 1000 * force * length**3 / (3 * stiffness * inertia),
}
print(json.dumps({name: results[name] for name in wanted}))
'''


def write_template(path: Path, coupled: bool) -> list[Path]:
    """The study file and the program it calls, new: what is there already is never touched."""
    script = path.parent / SCRIPT
    if path.exists():
        raise DefinitionError(f"{path} exists already and is left as it is; name another file: pesmo init other.toml")
    if script.exists() and script.read_bytes() != _SCRIPT.encode():
        raise DefinitionError(f"{script} exists already and is left as it is; name a file in another folder")
    limit = "evaluations = 30" if coupled else "budget = 200"
    what = "how many trials to run in all" if coupled else "how much cost to spend in all"
    limit = f"{limit:<30}# {what}; or {'a budget of cost' if coupled else 'a number of evaluations'}"
    text = _HEAD.format(file=path.name, stem=path.stem, limit=limit) + (_COUPLED if coupled else _DECOUPLED)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        script.write_text(_SCRIPT, encoding="utf-8")
    except OSError as error:
        raise DefinitionError(f"cannot write {error.filename}: {error.strerror}") from None
    return [path, script]
