"""The page as a text: complete, escaped, and in need of nothing else."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from fake_dataset import fake_dataset, why_table_1
from freeproj.experiments.dataset import Dataset
from freeproj.findings.answers import Finding
from freeproj.findings.labels import duration
from freeproj.learning.config import TrainConfig
from freeproj.report.figures import make_figure
from freeproj.report.page.building import make_report, shipped
from freeproj.report.page.content import differences_from_paper, study_facts
from freeproj.report.page.html import disk_data, forests, script_json
from freeproj.stats import Outcome

SCRIPT = re.compile(r"<script.*?</script>", re.S)


class Reader(HTMLParser):
    """Collects ids, links, images and the text of a page."""

    def __init__(self):
        super().__init__()
        self.ids, self.links, self.images, self.words = [], [], [], []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.ids.append(found["id"])
        if "href" in found:
            self.links.append(found["href"])
        if tag == "img":
            self.images.append(found)

    def handle_data(self, data):
        self.words.append(data)


def read(page):
    reader = Reader()
    reader.feed(SCRIPT.sub("", page.read_text()))
    return reader


def text_of(reader):
    return " ".join(" ".join(reader.words).split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def made(folder):
    """Own runs in a file with a nasty name, and one published study."""
    own = fake_dataset(
        {"projection.length": (1, 4), "ppo.discount": (0.9, 0.99)},
        3,
        lambda settings, name: 0.2 * (name != "zero"),
        task="<b>&task",
    )
    file = own.save(folder / "runs <i>&amp;.npz")
    make_figure("cayley", folder / "out" / "cayley.png", options={"depth": 2})
    only = ("study", "why-table-1", "length-curves", "lsmdp-spaces")
    study = dataclasses.replace(
        why_table_1(9), meta={"study": "why-table-1", "date": "2026-01-01"}
    )
    return make_report(folder / "out", file, only=only, published=[study])


def test_every_link_on_the_page_leads_somewhere(made):
    reader = read(made.page)
    assert len(reader.ids) == len(set(reader.ids))
    for link in reader.links:
        assert link[1:] in reader.ids


def test_answers_about_two_memories_have_places_of_their_own(folder):
    grid = {"memory": ("gru", "s5"), "projection.length": (1, 4)}
    file = fake_dataset(grid, 3).save(folder / "two.npz")
    reader = read(make_report(folder / "two", file, only=["study"], published=[]).page)
    assert {"own-frp-beats-rp", "own-frp-beats-rp-s5"} <= set(reader.ids)
    assert len(reader.ids) == len(set(reader.ids))
    assert all(link[1:] in reader.ids for link in reader.links)


def test_an_answer_and_a_figure_of_one_name_have_places_of_their_own(folder):
    stored = {"projection.n_generators": 4, "redraw_every": 0}
    runs = fake_dataset({"projection.length": (1, 2)}, 3, **stored)
    file = runs.save(folder / "storage.npz")
    made = make_report(folder / "storage", file, only=["storage"], published=[])
    ids = read(made.page).ids
    assert {"own-storage", "own-figure-storage"} <= set(ids)
    assert len(ids) == len(set(ids))


def test_the_page_is_small_and_names_no_other_place(made):
    text = made.page.read_text()
    assert len(text) < 3e6
    assert "plotly" not in text.lower()
    assert "sendChartToCloud" not in text
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}


def test_names_of_runs_are_shown_and_not_obeyed(made):
    text = text_of(read(made.page))
    assert "runs <i>&amp;.npz" in text
    assert "<b>&task" not in made.page.read_text()


def test_the_page_opens_with_what_varies_in_the_users_own_runs(made):
    text = text_of(read(made.page))
    opening = text.index("From your own runs")
    first = text.index("uns with discount = 0.99 earn")
    own = text.index("Your own runs: ")
    assert opening < first < own < text.index("Published studies study runs")
    assert "discount (0.9, 0.99)" in text
    assert made.answers[0].statement.startswith("Runs with ℓ = 4 earn more")
    assert "own-figure-study" in read(made.page).ids


def test_no_task_without_baselines_has_a_headroom(made):
    own = [each for each in made.answers if "Runs with" in each.statement]
    assert len(own) == 2
    assert not any("headroom" in str(each) for each in own)


def test_the_last_lines_are_about_the_users_runs(made):
    lines = [str(answer) for answer in made.answers[:2]]
    assert len(lines) == 2
    assert all("uns with" in line for line in lines)


def test_own_runs_stand_alone_unless_the_published_are_asked_for(folder):
    file = why_table_1(3).save(folder / "own.npz")
    made = make_report(folder / "own", file, only=["why-table-1"])
    text = text_of(read(made.page))
    assert "the published studies: freeproj report --published" in text
    assert "Published studies study runs" not in text
    assert any(each.name == "sign-slip" for each in made.answers)


def test_without_any_runs_the_page_says_how_to_get_some(folder):
    made = make_report(folder / "bare", only=["lsmdp-spaces"], published=[])
    text = text_of(read(made.page))
    assert "No answer yet." in text
    assert "freeproj sweep quick --out runs" in text
    assert len(read(made.page).images) == 1


def test_no_runs_are_refused_in_one_line(tmp_path):
    with pytest.raises(ValueError, match="holds no runs"):
        make_report(tmp_path, Dataset(()).save(tmp_path / "none.npz"), published=[])


def test_published_studies_of_the_package_can_be_read():
    for study in shipped():
        assert study.runs


def test_figures_of_runs_are_drawn_again_only_when_their_numbers_change(folder):
    def drawn(n_seeds):
        file = why_table_1(n_seeds).save(folder / "drawn.npz")
        make_report(out, file, only=["why-table-1"], published=[])
        return (out / "why-table-1.png").stat().st_mtime_ns

    out = folder / "drawn"
    first = drawn(3)
    assert (out / "why-table-1.svg").read_text().startswith("<?xml")
    assert drawn(3) == first
    second = drawn(4)
    assert second > first
    (out / "why-table-1.svg").unlink()
    assert drawn(4) > second


def test_figures_that_runs_cannot_give_are_told(folder):
    file = fake_dataset(n_seeds=1).save(folder / "few.npz")
    made = make_report(folder / "few", file, only=["storage"], published=[])
    assert "it needs redraw_every = 0" in made.missing["storage"]
    assert "storage not drawn from your runs" in text_of(read(made.page))


def finding(value, low, high, unit="x"):
    interval = None if math.isnan(low) else (low, high)
    return Finding("about", Outcome.OPEN, value, interval, unit, "basis")


def test_bars_of_one_unit_share_a_scale_with_ticks():
    (forest,) = forests([finding(1.0, 0.5, 1.5), finding(3.0, 2.0, 4.0)])
    first, second = forest.bars
    assert 0 < forest.thresholds[0] < first.low < first.value < first.high
    assert second.high <= 100
    widths = [bar.high - bar.low for bar in forest.bars]
    assert 2 * widths[0] == pytest.approx(widths[1], abs=0.02)
    places = [place for place, _ in forest.ticks]
    assert len(places) > 2
    assert all(0 <= place <= 100 for place in places)


def test_findings_without_a_number_have_no_bar_but_a_reason():
    nan = math.nan
    (forest,) = forests([finding(nan, nan, nan), finding(-0.5, nan, nan)])
    (bar,) = forest.bars
    assert bar.range == "no interval"
    assert bar.text.startswith("−0.5")
    assert forest.without == {"basis": ["about"]}
    (empty,) = forests([finding(nan, nan, nan)])
    assert not empty.bars
    assert not empty.ticks


def test_shares_are_per_cent():
    (forest,) = forests([finding(0.123, 0.1, 0.15, "share of the headroom")])
    assert forest.bars[0].text == "12.3 %"
    assert any(text.endswith(" %") for _, text in forest.ticks)


def test_json_in_a_script_cannot_end_it_and_has_no_nan():
    text = script_json({"a": "</script><!--", "b": [math.nan, 1 / 3, np.inf]})
    assert "<" not in text
    assert json.loads(text) == {"a": "</script><!--", "b": [None, 0.33333, None]}


def test_the_disk_has_a_parent_and_an_edge_for_every_word():
    data = disk_data(depth=3)
    assert len(data["words"]) == len(data["parents"]) == 1 + 4 + 12 + 36
    assert len(data["edges"]) == len(data["words"]) - 1


def test_facts_count_runs_steps_and_what_differs():
    facts = study_facts(fake_dataset({"projection.length": (1, 4)}, 3))
    assert (facts.n_runs, facts.n_finished, facts.seeds) == (6, 6, (3, 3))
    assert facts.n_steps == 6 * 40 * 8 * 64
    assert facts.seconds == 54.0
    assert facts.axes == (("ℓ", "1, 4"),)
    names = [name for name, _, _ in facts.differences]
    assert "n_updates" in names
    assert "projection.length" not in names


def test_the_papers_settings_differ_in_nothing():
    paper = {"n_updates": TrainConfig().n_updates, "projection.n_words": 256}
    assert differences_from_paper([paper]) == ()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.25, "0.2 s"),
        (50.0, "50 s"),
        (200.0, "3.3 min"),
        (7200.0, "2.0 h"),
        (3e5, "3.5 d"),
    ],
)
def test_durations_are_for_people(seconds, text):
    assert duration(seconds) == text
