"""The page as a text: complete, escaped, and in need of nothing else."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from fake_study import write_study
from freeproj.report.figures import make_figure
from freeproj.report.gathering import gather
from freeproj.report.page.building import key_lines, make_report
from freeproj.report.page.forest import forest
from freeproj.report.page.html import Picture, write_page
from freeproj.report.page.interactive import disk_data, script_json
from freeproj.report.paper.facts import (
    differences_from_paper,
    duration_text,
    study_facts,
)
from freeproj.report.paper.verdicts import Finding, Verdict
from freeproj.stats import Interval

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
    runs = write_study(
        folder / "runs <i>&amp;",
        tasks=("HigherLower",),
        lengths=(1, 4),
        n_seeds=2,
        n_updates=8,
        unfinished=(1,),
    )
    small = {"depth": 2}
    make_figure("cayley", folder / "out" / "cayley.png", options=small)
    only = ("length-curves", "cartpole-curves", "lsmdp-spaces")
    return make_report(folder / "out", runs, only=only)


def test_every_link_on_the_page_leads_somewhere(made):
    reader = read(made.page)
    assert len(reader.ids) == len(set(reader.ids))
    for link in reader.links:
        if link.startswith("#"):
            assert link[1:] in reader.ids
        else:
            assert (made.page.parent / link).exists()


def test_the_page_names_no_other_place(made):
    outside = SCRIPT.sub("", made.page.read_text())
    assert "http:" not in outside
    assert "https:" not in outside
    assert "default-src 'none'" in outside


def test_every_picture_has_words_for_those_who_cannot_see_it(made):
    images = read(made.page).images
    assert len(images) == 2
    assert all(image["alt"] and image["src"].startswith("data:") for image in images)


def test_names_from_the_runs_are_escaped(made):
    page = SCRIPT.sub("", made.page.read_text())
    assert "runs &lt;i&gt;&amp;amp;" in page
    assert "runs <i>" not in page


def test_the_page_says_what_was_run(made):
    text = text_of(read(made.page))
    assert "7 of 8" in text
    assert "Tasks: HigherLower" in text
    assert "ℓ = 1, 4" in text
    assert "settings differ from the paper’s" in text


@pytest.mark.parametrize("shown", [True, False])
def test_agents_that_see_their_reward_are_said_to_be_unlike_the_papers(tmp_path, shown):
    one = {"tasks": ("HigherLower",), "memories": ("gru",), "lengths": (4,)}
    settings = {"previous_reward": shown}
    runs = write_study(tmp_path / "runs", **one, n_seeds=1, settings=settings)
    write_page(tmp_path / "page.html", [], gather(runs))
    text = text_of(read(tmp_path / "page.html"))
    assert ("see their previous reward; the paper’s do not" in text) == shown


def test_a_picture_that_these_runs_cannot_give_is_named_with_its_reason(made):
    assert list(made.missing) == ["cartpole-curves"]
    assert "No StatelessCartPole" in text_of(read(made.page))


def test_the_page_is_at_most_eight_megabytes(made):
    assert made.page.stat().st_size < 8e6


def test_three_numbers_are_printed_with_their_verdicts(made):
    lines = key_lines(made.claims)
    assert len(lines) == 3
    assert lines[2].startswith("FRP against RP: A seed of FRP beats one of RP")


def test_a_page_without_runs_says_so_and_stands(folder):
    picture = Picture(
        "cayley", "A tree", folder / "out" / "cayley.png", folder / "out" / "cayley.npz"
    )
    write_page(folder / "alone.html", [picture])
    text = text_of(read(folder / "alone.html"))
    assert text.count("No runs.") == 2
    assert "freeproj sweep quick --out runs" in text
    assert "Learning curves, adaptation" in text


def test_data_cannot_leave_its_script_element():
    text = script_json({"name": "</script><script>alert(1)</script>&"})
    assert "<" not in text
    assert json.loads(text)["name"] == "</script><script>alert(1)</script>&"
    with pytest.raises(ValueError, match="JSON"):
        script_json(float("nan"))


def test_the_disk_is_a_tree_whose_edges_join_parent_and_child():
    disk = disk_data(depth=3)
    assert len(disk["edges"]) == len(disk["words"]) - 1 == 4 + 12 + 36
    for vertex, path in enumerate(disk["edges"], start=1):
        ends = np.array([p.split(",") for p in path[1:].split("L")], float)[[0, -1]]
        for end, at in zip(ends, (disk["parents"][vertex], vertex), strict=True):
            place = disk["x"][at], -disk["y"][at]
            np.testing.assert_allclose(end, place, atol=2e-4)


def test_bars_of_one_unit_share_their_scale():
    def finding(value, low, high):
        return Finding("x", Verdict.OPEN, value, Interval(low, high), "u", "b")

    nan = float("nan")
    first, second, none = forest(
        [finding(1.0, 0.5, 2.0), finding(-1.0, -2.0, 0.0), finding(nan, nan, nan)]
    )
    assert none is None
    assert first.threshold == second.threshold == 50.0
    assert first.low + second.high > first.threshold
    assert first.texts == ("1.00", "0.50", "2.00")
    assert second.texts == ("−1.00", "−2.00", "0.00")


def test_facts_count_runs_steps_and_time(folder, made):
    facts = study_facts(gather(folder / "runs <i>&amp;"))
    assert (facts.n_runs, facts.n_finished) == (8, 7)
    assert facts.seeds == (2, 2)
    assert facts.updates == (4, 8)
    assert facts.n_steps == 512 * (7 * 8 + 4)
    assert facts.seconds == pytest.approx(2 * (7 * 7 + 3))
    names = [name for name, *_ in facts.differences]
    assert "n_updates" in names
    assert "seed" not in names


def test_the_paper_settings_differ_in_nothing():
    from freeproj.config import TrainConfig

    assert differences_from_paper([TrainConfig(seed=3, memory="s5")]) == ()


def test_durations_are_for_people():
    texts = [duration_text(seconds) for seconds in (50.0, 200.0, 8e3, 3e5)]
    assert texts == ["50 s", "3.3 min", "2.2 h", "3.5 d"]
    assert duration_text(float("nan")) == "—"
