"""`freeproj reproduce`: study, analyses, page."""

import pytest

from fake_study import write_study
from freeproj.experiments.study import read_study

TINY = {"tasks": ("HigherLower",), "lengths": (1, 4), "n_seeds": 2, "n_updates": 4}


@pytest.fixture(autouse=True)
def one_published_study(monkeypatch):
    """Tables and answers of all studies take long; `test_report` shows all of them."""
    monkeypatch.setattr("freeproj.report.page.building.names", lambda: ["storage"])


@pytest.fixture
def study(monkeypatch):
    """Stands in for hours of training; returns what it was asked for."""
    asked = {}

    def carry_out(configs, out, **options):
        asked.update(configs=configs, out=out, **options)
        write_study(out, **TINY)
        return asked.get("failed", [])

    monkeypatch.setattr("freeproj.cli.sweep.carry_out", carry_out)
    return asked


def reproduce(freeproj, out, *arguments):
    return freeproj("reproduce", "--out", out, "--only", "adaptation", *arguments)


def test_the_study_of_the_scale_is_trained_and_reported_on(freeproj, tmp_path, study):
    ended = reproduce(freeproj, tmp_path, "--scale", "paper", "--jobs", 3)
    assert ended.code == 0
    assert study["configs"] == read_study("paper").runs()
    assert study["out"] == tmp_path / "runs-paper"
    assert study["jobs"] == 3
    assert ended.out.strip() == str(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    own = page[page.index("Your own runs: ") :]
    assert "runs-paper" in own[:200]
    assert "Higher Lower" in own


def test_a_failed_run_is_exit_code_1_and_the_page_is_written_all_the_same(
    freeproj, tmp_path, study
):
    study["failed"] = ["a run"]
    assert reproduce(freeproj, tmp_path).code == 1
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    "arguments", [("--scale", "none"), ("--only", "cayley")], ids=["none", "analysis"]
)
def test_nothing_is_trained_that_nothing_is_drawn_from(
    freeproj, tmp_path, study, arguments
):
    command = ("reproduce", "--out", tmp_path, "--only", "lsmdp-spaces", "--quiet")
    assert freeproj(*command, *arguments).code == 0
    assert not study
    page = (tmp_path / "report.html").read_text()
    assert "Your own runs" not in page
    assert "trains a small study on your machine" in page


def test_a_wrong_picture_is_told_before_the_study(freeproj, tmp_path, study):
    ended = freeproj("reproduce", "--out", tmp_path / "new", "--only", "nosuch")
    assert ended.code == 2
    assert not study
    assert not (tmp_path / "new").exists()
