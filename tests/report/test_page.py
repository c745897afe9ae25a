"""The report is one file: nothing is fetched, names are data, everything that should be there is there."""

import json
import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

import pesmo
from pesmo.report import write_report
from tests.report.studies import HOSTILE, coupled, decoupled


class Page(HTMLParser):
    """What a browser would see: ids, scripts, outside links, and the text of cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.scripts = 0
        self.cells: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs) -> None:
        found = {name: value or "" for name, value in attrs}
        self.open.append(tag)
        self.scripts += tag == "script"
        if "id" in found:
            self.ids.append(found["id"])
        self.links += [found[name] for name in ("src", "href") if name in found]
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = write_report(decoupled(), tmp_path_factory.mktemp("report") / "deep" / "report.html")
    return path.read_text(encoding="utf-8")


def test_it_has_every_section_and_figure_once(text: str) -> None:
    page = Page(text)
    figures = {f"figure-{name}" for name in ("front", "progress", "evaluations", "sensitivity", "slices")}
    sections = {"front", "progress", "evaluations", "sensitivity", "slices", "problem", "trials"}
    assert figures | sections <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_it_fetches_nothing(text: str) -> None:
    page = Page(text)
    assert all(link.startswith("#") for link in page.links)
    assert "default-src 'none'" in text
    assert text.count("plotly.js v") == 1
    assert "Licensed under the MIT license" in text
    assert "Permission is hereby granted" in (files("pesmo.report") / "plotly.LICENSE.txt").read_text(encoding="utf-8")
    assert "url(" not in re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)


def test_trials_and_spending_are_there(text: str) -> None:
    cells = Page(text).cells
    assert "brew" in cells
    assert "yield in %" in cells
    assert cells.count("running") == 1
    assert HOSTILE in cells  # as text: the parser has read it back from its escaped form


def test_names_and_messages_are_escaped_everywhere(tmp_path) -> None:
    study = coupled(3, names=[HOSTILE, "b", "</script><b>"], unit="<i>")
    text = write_report(study, tmp_path / "r.html").read_text(encoding="utf-8")
    page = Page(text)
    figures = [i for i in page.ids if i.startswith("figure-")]
    assert page.scripts == len(figures) + 2  # one each, plotly.js and ours: no name opened or closed one
    assert "<script>alert" not in text
    blocks = re.findall(r'<script type="application/json">(.*?)</script>', text, flags=re.DOTALL)
    assert len(blocks) == len(figures)
    assert not set("<>&") & set("".join(blocks))
    scene = json.loads(blocks[0])["layout"]["scene"]
    assert scene["zaxis"]["title"]["text"] == "</script><b> in <i> (minimize)"  # drawn on a canvas, not into the page
    assert "<i>" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def test_a_study_without_results_says_what_is_missing(tmp_path) -> None:
    study = pesmo.Study(pesmo.Space(x=pesmo.Float(0, 1)), ["a", "b"], seed=0)
    text = write_report(study, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "has no value" in text
    study.fail(study.ask(), "no")
    assert "failed" in Page(write_report(study, tmp_path / "r.html").read_text(encoding="utf-8")).cells


def test_an_installation_without_plotly_js_says_what_to_do(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pesmo.report.page.PLOTLY", "absent.js")
    with pytest.raises(pesmo.PesmoError, match=r"lacks absent\.js.*pip install"):
        write_report(decoupled(), tmp_path / "r.html")


def test_a_long_study_shows_its_last_trials(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pesmo.report.page.MOST_TRIALS", 3)
    assert "The last 3 of 14 trials" in write_report(decoupled(), tmp_path / "r.html").read_text(encoding="utf-8")
