"""`freeproj figure`, `freeproj figures`, `freeproj reproduce`."""

import pytest

from fake_study import write_study
from freeproj.report.figures import FIGURES

SIGNATURES = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("ending", SIGNATURES)
def test_a_figure_is_written_in_the_format_of_its_ending(freeproj, tmp_path, ending):
    out = tmp_path / f"c{ending}"
    ended = freeproj("figure", "cayley", "--set", "depth=3", "--out", out)
    assert ended.code == 0
    assert out.read_bytes().startswith(SIGNATURES[ending])
    assert ended.out.split() == [str(out), str(out.with_suffix(".npz"))]


def test_a_figure_drawn_from_its_numbers_is_the_same_picture(freeproj, tmp_path):
    first, second = tmp_path / "a.png", tmp_path / "b.png"
    freeproj("figure", "cayley", "--set", "depth=3", "--out", first)
    freeproj("figure", "cayley", "--from", tmp_path / "a.npz", "--out", second)
    assert first.read_bytes() == second.read_bytes()


def test_numbers_of_another_figure_are_refused(freeproj, tmp_path):
    freeproj("figure", "cayley", "--set", "depth=2", "--out", tmp_path / "a.png")
    ended = freeproj(
        "figure", "overview", "--from", tmp_path / "a.npz", "--out", tmp_path / "b.png"
    )
    assert ended.code == 2
    assert "has numbers of 'cayley', not of 'overview'" in ended.err
    assert not (tmp_path / "b.png").exists()


def test_figures_lists_every_name(freeproj):
    shown = freeproj("figures").out
    assert [line.split()[0] for line in shown.splitlines()] == list(FIGURES)


@pytest.fixture
def one_published_study(monkeypatch):
    """Tables and answers of all studies take long; `test_report` shows all of them."""
    monkeypatch.setattr("freeproj.report.page.building.names", lambda: ["storage"])


@pytest.mark.usefixtures("one_published_study")
def test_reproduce_ends_with_a_page_that_holds_its_pictures(freeproj, tmp_path):
    run = ("reproduce", "--out", tmp_path, "--quiet", "--only")
    ended = freeproj(*run, "lsmdp-spaces")
    assert ended.code == 0
    assert ended.out.strip() == str(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text().count("<figure id=") == 1
    freeproj(*run, "cayley")  # an earlier picture stays on the page
    assert (tmp_path / "report.html").read_text().count("<figure id=") == 2


@pytest.mark.usefixtures("one_published_study")
def test_reproduce_keeps_what_is_there(freeproj, tmp_path):
    run = ("reproduce", "--out", tmp_path, "--only", "cayley", "--quiet")
    freeproj(*run)
    stamp = (tmp_path / "cayley.png").stat().st_mtime_ns
    freeproj(*run)
    assert (tmp_path / "cayley.png").stat().st_mtime_ns == stamp


def test_pictures_of_runs_take_the_usual_folder(freeproj, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = freeproj("figure", "adaptation")
    assert ended.code == 2
    assert "freeproj sweep quick --out runs" in ended.err
    one = {"tasks": ("HigherLower",), "lengths": (4,), "memories": ("gru",)}
    write_study(tmp_path / "results" / "runs-quick", **one, n_seeds=1)
    ended = freeproj("figure", "adaptation")
    assert ended.code == 0
    assert ended.err == "Runs: results/runs-quick\n"
    assert (tmp_path / "adaptation.png").exists()


def test_a_picture_that_needs_no_runs_leaves_them_aside(freeproj, tmp_path):
    out = tmp_path / "c.png"
    ended = freeproj("figure", "lsmdp-spaces", "--runs", tmp_path, "--out", out)
    assert ended.code == 0
    assert ended.err == "lsmdp-spaces is not drawn from runs; --runs is ignored.\n"
    assert out.exists()
