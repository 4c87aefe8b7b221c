"""The commands of docs/extending.md, in a folder of their own."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fake_study import write_study
from freeproj.findings.claims import CLAIMS
from freeproj.report.figures import FIGURES

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()


class Anchors(HTMLParser):
    """Collects ids and links."""

    def __init__(self):
        super().__init__()
        self.ids, self.links = set(), []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids |= {found["id"]} if "id" in found else set()
        self.links += [found["href"]] if "href" in found else []


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with the page's modules and runs of two discounts."""
    for name in ("spread", "discounting"):
        code = re.search(rf"```python\n(# {name}\.py\n.*?)```", PAGE, re.DOTALL)[1]
        (tmp_path / f"{name}.py").write_text(code)
        monkeypatch.delitem(sys.modules, name, raising=False)
    for discount in (0.9, 0.99):
        write_study(
            tmp_path / "runs",
            tasks=("HigherLower",),
            memories=("gru",),
            lengths=(1,),
            n_seeds=3,
            n_updates=8,
            settings={"ppo.discount": discount},
            gain=lambda *_, high=discount > 0.95: 0.2 + 0.5 * high,
        )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    CLAIMS.pop("discounting", None)
    FIGURES.pop("spread", None)
    for name in ("spread", "discounting"):
        sys.modules.pop(name, None)


def test_an_own_question_and_an_own_figure_stand_on_the_page(folder, freeproj):
    command = re.search(r"^freeproj (report runs --import discounting)$", PAGE, re.M)[1]
    ended = freeproj(*command.split(), "--only", "study", "--quiet")
    assert ended.code == 0, ended.err
    ended = freeproj("report", "runs", "--only", "spread", "--quiet")
    assert ended.code == 0, ended.err
    page = (folder / "results" / "report.html").read_text()
    assert 'id="own-discounting"' in page
    assert "A longer horizon helps." in page
    assert 'id="own-figure-spread"' in page
    reader = Anchors()
    reader.feed(re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))
    assert all(link[1:] in reader.ids for link in reader.links)
    lines = ended.out.splitlines()
    assert "discount = 0.99" in lines[0]


def test_an_own_figure_is_drawn_by_its_name(folder, freeproj):
    command = re.search(r"^freeproj (figure spread:SPEC .*)$", PAGE, re.M)[1]
    assert freeproj(*command.split()).code == 0
    assert (folder / "spread.png").exists()


def test_a_question_that_fails_is_shown_with_its_reason(folder, freeproj):
    code = (folder / "discounting.py").read_text()
    broken = code.replace("select=lambda dataset: dataset,", "select=lambda d: 1 / 0,")
    (folder / "discounting.py").write_text(broken)
    options = ("--import", "discounting", "--only", "study", "--quiet")
    ended = freeproj("report", "runs", *options)
    assert ended.code == 0, ended.err
    assert "ZeroDivisionError" in (folder / "results" / "report.html").read_text()
