"""The report: one HTML file that needs nothing else, neither a network nor a server.

plotly.js is embedded once, and draws the figures from blocks of JSON (page.js). Names, units and messages are data and
escaped wherever they appear. The page forbids itself every request by a content security policy, so that it shows the
same in ten years and tells nobody that it is read.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from pesmo.errors import PesmoError, TrialError
from pesmo.problem import Trial
from pesmo.report.data import Snapshot
from pesmo.report.figures import FIGURES
from pesmo.report.style import caption, heading, number, with_unit
from pesmo.space import Choice
from pesmo.study import Study

MOST_TRIALS = 2000  # rows of the trial table, the newest first left in
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
)
PLOTLY = "plotly.min.js"  # put there when the package was built (hatch_build.py)


def write_report(study: Study, path: str | Path) -> Path:
    """Write the report of a study to `path`, and give the path back."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(render(study), encoding="utf-8", errors="backslashreplace")  # half a surrogate pair is no text
    return target


def render(study: Study) -> str:
    """The report as HTML."""
    plotly = _asset(PLOTLY)  # before anything is computed, lest it is missing
    s = Snapshot(study)
    sections = [
        ("front", "Front", _front(s)),
        ("progress", "Progress", _figure_section(s, "progress")),
        ("evaluations", "Evaluations", _figure_section(s, "evaluations") + _spending(s)),
        ("sensitivity", "Sensitivity", _figure_section(s, "sensitivity")),
        ("slices", "Slices", _figure_section(s, "slices") + _slice_point(s)),
        ("problem", "Problem", _problem(s)),
        ("trials", "Trials", _trials(s)),
    ]
    title = escape(study.name)
    links = "".join(f'<a href="#{anchor}">{name}</a>' for anchor, name, _ in sections)
    body = "".join(f'<section id="{anchor}">{content}</section>' for anchor, _, content in sections)
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title} | pesmo report</title><style>{_asset('page.css')}</style>"
        f"<script>{plotly}</script></head><body>"
        f'<header><h1>{title}</h1><p class="about">{_about(s)}</p>{_cards(s)}<nav>{links}</nav></header>'
        f"<main>{body}</main><footer>Made by pesmo on {now}.</footer><script>{_asset('page.js')}</script></body></html>"
    )


def _asset(name: str) -> str:
    try:
        return (files("pesmo.report") / name).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise PesmoError(
            f"this installation of pesmo lacks {name}, which draws the figures of the report: install pesmo again "
            "(pip install --force-reinstall pesmo; in a checkout, pip install -e .)"
        ) from error


# --------------------------------------------------------------------------------------------------------- sections


def _about(s: Snapshot) -> str:
    goals = ", ".join(f"{o.goal} {escape(with_unit(o))}" for o in s.objectives)
    return f"{goals[:1].upper()}{goals[1:]}; method {escape(s.study.method)}, seed {s.study.seed}."


def _cards(s: Snapshot) -> str:
    count = {state: len([t for t in s.trials if t.state == state]) for state in ("running", "failed", "abandoned")}
    added = len([t for t in s.trials if t.note == "added"])
    cards = [
        (number(len(s.finished)), "evaluations"),
        (number(sum(t.cost for t in s.finished)), "cost spent"),
        *[(number(n), state) for state, n in count.items() if n],
        *([(number(added), "added by hand")] if added else []),
    ]
    if s.has_front:
        cards.insert(0, (number(len(s.front)), "recommended points"))
    items = "".join(f"<div class=card><b>{value}</b><span>{name}</span></div>" for value, name in cards)
    return f'<div class="cards">{items}</div>'


def _figure_section(s: Snapshot, name: str) -> str:
    text = escape(caption(name, len(s.objectives)))
    return f'<h2>{heading(name)}</h2><p class="caption">{text}</p>{_figure(s, name)}'


def _figure(s: Snapshot, name: str) -> str:
    try:
        figure = FIGURES[name](s)
    except TrialError as error:
        return f'<p class="note">{escape(str(error))}</p>'
    layout = {**figure["layout"], "margin": {**figure["layout"]["margin"], "t": 40}}
    del layout["title"]  # the page has it as a heading
    spec = json.dumps({**figure, "layout": layout}, allow_nan=False)
    for sign in "<>&":  # no text in it may end the script that holds it
        spec = spec.replace(sign, f"\\u{ord(sign):04x}")
    place = f'<div id="figure-{name}" style="height: {layout["height"]}px"></div>'
    return f'<div class="figure"><script type="application/json">{spec}</script>{place}</div>'


def _front(s: Snapshot) -> str:
    parts = [_figure_section(s, "front")]
    if len(s.objectives) > 2:
        parts.append(_figure_section(s, "pairs"))
    if not s.has_front:
        return "".join(parts)
    front = s.front
    head = [(n, _numeric(s, n)) for n in s.space.names] + [(with_unit(o), True) for o in s.objectives]
    rows = []
    for n, inputs in enumerate(front.inputs):
        cells = [_cell(value) for value in inputs.values()]
        for mean, sd in zip(front.means[n].tolist(), front.sds[n].tolist(), strict=True):
            cells.append(f'<td class="n" data-value="{mean!r}">{number(mean)} <small>± {number(sd, 2)}</small></td>')
        cells.append(f'<td class="n" data-value="{front.probability[n]:.3f}">{front.probability[n]:.0%}</td>')
        rows.append(cells)
    note = f'<p class="note">{escape(front.note)}.</p>' if front.note else ""
    return "".join(parts) + "<h3>The recommended points</h3>" + note + _table([*head, ("Pareto-optimal", True)], rows)


def _spending(s: Snapshot) -> str:
    rows = []
    total = sum(t.cost for t in s.finished) or 1.0
    for experiment in s.study.experiments:
        mine = [t for t in s.finished if t.experiment == experiment.name]
        cost = sum(t.cost for t in mine)
        failed = len([t for t in mine if t.state != "complete"])
        cells = [_cell(experiment.name), _cell(", ".join(experiment.reveals)), *map(_cell, (len(mine), failed, cost))]
        rows.append([*cells, f'<td class="n">{cost / total:.0%}</td>'])
    names = [("experiment", False), ("reveals", False), *((n, True) for n in ("runs", "failed", "cost", "share"))]
    return "<h3>Where the budget went</h3>" + _table(names, rows)


def _slice_point(s: Snapshot) -> str:
    if not s.has_front:
        return ""
    text = ", ".join(f"{name} = {number(value)}" for name, value in s.compromise.items())
    return f'<p class="caption">The point: {escape(text)}.</p>'


def _problem(s: Snapshot) -> str:
    inputs = []
    for name, spec in s.space.inputs.items():
        if isinstance(spec, Choice):
            kind, span = "choice", ", ".join(str(o) for o in spec.options)
        else:
            kind = type(spec).__name__.lower() + (", log scale" if spec.log else "")
            span = f"{number(spec.low)} to {number(spec.high)}"
        inputs.append([_cell(name), _cell(kind), _cell(span)])
    objectives = []
    for o in s.objectives:
        noise = "learned" if o.noise is None else number(o.noise)
        depends = "all inputs" if o.inputs is None else ", ".join(o.inputs)
        cells = [o.name, o.unit or "", o.goal, o.transform or "", depends, noise]
        objectives.append([_cell(str(v)) for v in cells])
    return (
        "<h2>The problem</h2><h3>Inputs</h3>"
        + _table([("input", False), ("kind", False), ("range", False)], inputs)
        + "<h3>Objectives</h3>"
        + _table([(n, False) for n in ("objective", "unit", "goal", "transform", "depends on", "noise")], objectives)
    )


def _trials(s: Snapshot) -> str:
    shown = s.trials[-MOST_TRIALS:]
    text = "Every trial, in the order they were asked in; click a heading to sort."
    if len(shown) < len(s.trials):
        text = f"The last {len(shown)} of {len(s.trials)} trials; pesmo export writes all of them."
    head = [("trial", True), ("experiment", False), ("state", False)]
    head += [(n, _numeric(s, n)) for n in s.space.names] + [(with_unit(o), True) for o in s.objectives]
    head += [("cost", True), ("gain", True), ("note", False)]
    return f'<h2>Trials</h2><p class="caption">{text}</p>' + _table(head, [_trial(s, t) for t in shown])


def _trial(s: Snapshot, trial: Trial) -> list[str]:
    note = trial.message or trial.note or ""
    return [
        _cell(trial.id),
        _cell(trial.experiment),
        f'<td class="{trial.state}">{trial.state}</td>',
        *[_cell(trial.inputs[name]) for name in s.space.names],
        *[_cell(trial.values.get(o.name)) for o in s.objectives],
        _cell(trial.cost),
        _cell(trial.gain),
        f'<td class="message">{escape(note)}</td>',
    ]


# ----------------------------------------------------------------------------------------------------------- tables


def _table(head: Sequence[tuple[str, bool]], rows: Iterable[list[str]]) -> str:
    """`head`: each column's name and whether it holds numbers; `rows`: ready cells."""
    names = "".join(
        f'<th scope="col"{" class=n" if numeric else ""}><button type="button">{escape(name)}</button></th>'
        for name, numeric in head
    )
    body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    return f'<div class="scroll"><table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(value: Any) -> str:
    if value is None:
        return '<td class="n"></td>'
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f'<td class="n" data-value="{value!r}">{number(value)}</td>'
    return f"<td>{escape(str(value))}</td>"


def _numeric(s: Snapshot, name: str) -> bool:
    return not isinstance(s.space.inputs[name], Choice)
