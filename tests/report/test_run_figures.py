"""Figures of runs: what is drawn is what was computed, whatever the runs vary."""

import pytest

from fake_dataset import fake_dataset, why_table_1
from freeproj.report.figures import FIGURES, curves, find, make_figure
from freeproj.report.figures.style import book_style, length_colour
from freeproj.storage.saved import load_numbers

FROM_RUNS = [name for name in FIGURES if find(name).needs_runs]
STORAGE = {"redraw_every": 0, "projection.n_generators": 4}


def dataset_for(name):
    if name == "storage":
        return fake_dataset({"projection.length": (1, 2)}, 3, **STORAGE)
    if name == "invariant":
        arms = {"encoder": ("frame", "none"), "projection.length": (1, 4)}
        return fake_dataset(arms, 3, maps=("random", "zero"))
    tasks = ("HigherLower", "StatelessCartPole")
    return why_table_1(3, tasks=tasks)


@pytest.mark.parametrize("name", FROM_RUNS)
def test_a_figure_is_drawn_again_from_its_saved_numbers(name, tmp_path):
    png, again = tmp_path / "a.png", tmp_path / "b.png"
    make_figure(name, png, dataset=dataset_for(name))
    make_figure(name, again, tmp_path / "a.npz")
    assert png.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("name", FROM_RUNS)
def test_runs_are_asked_for_by_name(name, tmp_path):
    with pytest.raises(ValueError, match="--runs"):
        make_figure(name, tmp_path / "a.png")


@pytest.mark.parametrize("name", ["why-table-1", "storage"])
def test_what_runs_lack_is_told(name, tmp_path):
    data = fake_dataset(n_seeds=1, maps=("tile",))
    with pytest.raises(ValueError, match="No run suits this figure: it needs"):
        make_figure(name, tmp_path / "a.png", dataset=data)


def test_other_axes_make_panels_and_lengths_make_lines():
    grid = {
        "projection.length": (1, 4),
        "projection.family": ("haar", "iid_haar"),
        "ppo.discount": (0.9, 0.99),
    }
    spec = find("length-curves").load()
    numbers = spec.compute(fake_dataset(grid, 3))
    panels = list(dict.fromkeys(numbers["panel"].tolist()))
    assert panels == [
        "GRU, Haar, discount 0.9",
        "GRU, Haar, discount 0.99",
        "GRU, independent Haar, discount 0.9",
        "GRU, independent Haar, discount 0.99",
    ]
    with book_style():
        figure = spec.draw(numbers)
    assert len(figure.axes) == 4
    for axes in figure.axes:
        colours = [line.get_color() for line in axes.lines][:2]
        assert colours == [length_colour(1), length_colour(4)]


def test_why_table_1_has_the_papers_returns_per_trial():
    numbers = find("why-table-1").load().compute(why_table_1(3))
    assert numbers["maps"].tolist() == ["tile_unit", "minus_tile", "random", "zero"]
    plain = (numbers["paper_task"] == "HigherLower") & (numbers["paper_length"] == 1)
    assert numbers["paper_mean"][plain] == pytest.approx([-1.84 / 16])
    slip = (numbers["family"] == "qr") & (numbers["length"] == 1)
    tile, minus = numbers["mean"][slip][:, 0], numbers["mean"][slip][:, 1]
    assert (tile + 0.3 < minus).all()


def test_invariant_names_the_agents_and_counts_steps():
    spec = find("invariant")
    numbers = spec.load().compute(dataset_for("invariant"), **spec.options)
    assert set(numbers["line"]) == {"frame", "RP", "FRP"}
    assert numbers["steps"].max() < 1  # millions


def test_adaptation_shows_the_last_evaluation_of_every_trial():
    spec = find("adaptation")
    numbers = spec.load().compute(fake_dataset(n_seeds=3), **spec.options)
    assert numbers["trials"].tolist() == list(range(1, 17))
    assert numbers["n_seeds"].tolist() == [[3] * 16]


def test_an_unknown_task_is_told_with_those_there_are(tmp_path):
    with pytest.raises(ValueError, match="Tasks there: HigherLower"):
        make_figure("cartpole-curves", tmp_path / "a.png", dataset=fake_dataset())


def test_saved_numbers_are_plain(tmp_path):
    make_figure("length-curves", tmp_path / "a.png", dataset=fake_dataset(n_seeds=2))
    numbers = load_numbers(tmp_path / "a.npz")
    assert str(numbers["figure"]) == "length-curves"


def test_memories_stand_in_rows_of_their_own():
    grid = {"memory": ("gru", "s5"), "encoder": ("frame", "none")}
    data = fake_dataset(grid, 3, maps=("random", "zero"), n_steps=64)
    numbers = curves.compute(data, "agents")
    assert numbers["panel"].tolist() == ["GRU", "GRU", "S5", "S5"]
    assert numbers["line"].tolist() == ["frame", "RP"] * 2
    with book_style():
        figure = curves.draw(numbers)
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels == ["", "million steps"]
    alone = curves.compute(data.where(memory="gru"), "agents")
    assert alone["panel"].tolist() == ["", ""]
