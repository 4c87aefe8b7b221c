"""Pictures drawn from folders of runs: what is drawn is what the logs say."""

from __future__ import annotations

import numpy as np
import pytest

from fake_study import write_study
from freeproj.report.figures import REGISTRY, find, make_figure
from freeproj.report.figures.style import book_style
from freeproj.report.paper.baselines import episode_levels, trials_of
from freeproj.report.paper.run_numbers import adaptation_numbers, curve_numbers
from freeproj.stats import learning_curves

FROM_RUNS = [name for name, spec in REGISTRY.items() if spec.needs_runs]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return write_study(
        tmp_path_factory.mktemp("runs"),
        tasks=("StatelessCartPole", "HigherLower"),
        lengths=(1, 4),
        n_seeds=2,
        n_updates=12,
        unfinished=(0,),
    )


def drawn(name, runs, **options):
    spec = find(name)
    numbers = spec.load().compute(runs=str(runs), **{**spec.options, **options})
    with book_style():
        return numbers, spec.load().draw(numbers)


def row(numbers, **wanted):
    keep = np.logical_and.reduce(
        [numbers[key] == value for key, value in wanted.items()]
    )
    (index,) = np.flatnonzero(keep)
    return index


@pytest.mark.parametrize("name", FROM_RUNS)
def test_each_is_drawn_in_every_format_from_its_numbers(runs, tmp_path, name):
    make_figure(name, tmp_path / "f.png", options={"runs": str(runs)})
    for again in ("g.png", "g.svg", "g.pdf"):
        make_figure(name, tmp_path / again, numbers_from=tmp_path / "f.npz")
        assert (tmp_path / again).stat().st_size > 1000
    assert (tmp_path / "g.png").read_bytes() == (tmp_path / "f.png").read_bytes()


@pytest.mark.parametrize("name", FROM_RUNS)
def test_without_runs_the_error_says_how_to_get_some(tmp_path, name):
    with pytest.raises(ValueError, match="freeproj sweep quick --out runs"):
        make_figure(name, tmp_path / "f.png")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="holds no runs"):
        make_figure(name, tmp_path / "f.png", options={"runs": str(tmp_path / "empty")})


def test_a_curve_is_the_mean_of_its_seeds(runs):
    numbers, _ = drawn("length-curves", runs)
    table = gather(runs).table.where(
        task="HigherLower", memory="s5", length=4, split="test", counting="episodes"
    )
    at = row(numbers, task="HigherLower", memory="s5", length=4)
    expected = [
        table.where(update=int(update)).mean_return.mean()
        for update in numbers["updates"]
    ]
    np.testing.assert_allclose(numbers["mean"][at], expected)
    assert set(numbers["n_seeds"][at]) == {2}


def test_a_run_that_stopped_is_counted_where_it_has_data(runs):
    numbers, _ = drawn("length-curves", runs)
    at = row(numbers, task="StatelessCartPole", memory="gru", length=1)
    assert numbers["updates"].tolist() == [4, 8, 12]
    assert numbers["n_seeds"][at].tolist() == [2, 1, 1]
    assert np.isnan(numbers["low"][at]).tolist() == [False, True, True]


def test_updates_in_which_nothing_ended_are_nan_with_count_zero(runs):
    numbers, figure = drawn("length-curves", runs, split="train")
    ended = numbers["updates"] % 3 == 0
    assert (numbers["n_seeds"][:, ~ended] == 0).all()
    assert np.isnan(numbers["mean"][:, ~ended]).all()
    line = figure.axes[1].get_lines()[0]
    assert line.get_xdata().tolist() == [3, 6, 9, 12]


def test_cartpole_curves_show_rp_and_frp_in_training_and_in_test(runs):
    numbers, figure = drawn("cartpole-curves", runs)
    shown = zip(numbers["split"], numbers["memory"], numbers["length"], strict=True)
    assert set(shown) == {
        (split, memory, length)
        for split in ("train", "test")
        for memory in ("gru", "s5")
        for length in (1, 4)
    }
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "FRP ℓ=4, GRU (2 seeds)" in labels
    assert "chance" in labels


def test_a_task_that_was_not_run_is_an_error_that_names_those_that_were(runs):
    with pytest.raises(ValueError, match="Tasks there: HigherLower, StatelessCartPole"):
        drawn("cartpole-curves", runs, task="Minesweeper")


def test_adaptation_is_that_of_the_last_evaluation(runs):
    numbers, _ = drawn("adaptation", runs)
    last = [
        each.returns
        for each in gather(runs).adaptations
        if each[:2] == ("HigherLower", "gru") and each.length == 1 and each.update == 12
    ]
    at = row(numbers, task="HigherLower", memory="gru", length=1)
    np.testing.assert_allclose(numbers["mean"][at], np.mean(last, axis=0))
    assert numbers["trials"].tolist() == list(range(1, 17))


def test_a_table_as_picture_has_the_cells_of_the_table(runs):
    numbers, figure = drawn("table-results", runs)
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {cell.strip() for cell in numbers["cells"].flat} - {""} <= texts
    ours = numbers["record_source"] == "ours"
    assert np.isfinite(numbers["record_chance_mmer"][ours]).sum() == 8


def test_chance_of_an_episode_is_that_of_its_trials(runs):
    levels = episode_levels("StatelessCartPole", 16)
    assert levels.chance == pytest.approx(16 * levels.trial_chance)
    assert levels.blind_name == "left and right in turn"
    assert levels.blind == pytest.approx(3.0, abs=0.01)
    assert trials_of(gather(runs).runs) == {"StatelessCartPole": 16, "HigherLower": 16}


def test_tasks_without_stored_numbers_have_no_lines():
    assert np.isnan(episode_levels("HigherLower+RepeatFirst", 16).chance)
    assert np.isnan(episode_levels("HigherLower", None).chance)


def test_no_curves_are_empty_arrays(tmp_path):
    table = gather(tmp_path).table
    assert curve_numbers(learning_curves(table))["mean"].shape == (0, 0)
    assert adaptation_numbers([])["mean"].shape == (0, 0)
