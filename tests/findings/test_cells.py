"""Cells: what the runs vary, and nothing else."""

import math

import pytest

from fake_dataset import fake_dataset
from freeproj.experiments.dataset import Dataset
from freeproj.findings.cells import make_cells
from freeproj.findings.figure_numbers import curve_numbers


def test_axes_are_what_differs_beside_task_memory_and_length():
    grid = {"projection.length": (1, 4), "ppo.discount": (0.9, 0.99)}
    cells = make_cells(fake_dataset(grid, n_seeds=2))
    assert cells.axes == ("task", "memory", "projection.length", "ppo.discount")
    assert len(cells.runs) == 4
    assert all(len(runs) == 2 for runs in cells.runs.values())


def test_a_setting_that_follows_from_others_is_no_axis():
    grid = {"projection.length": (1, 2, 4)}
    words_fixed = make_cells(fake_dataset(grid, n_seeds=1))
    matrices_fixed = make_cells(
        fake_dataset(grid, n_seeds=1, **{"projection.n_generators": 4})
    )
    for cells in (words_fixed, matrices_fixed):
        assert cells.axes == ("task", "memory", "projection.length")


def test_two_numbers_of_words_never_share_a_label():
    grid = {"projection.n_words": (16, 256), "projection.length": (1, 2)}
    cells = make_cells(fake_dataset(grid, n_seeds=1))
    assert "projection.n_words" in cells.axes
    labels = [cells.label(key) for key in cells.runs]
    assert len(set(labels)) == 4
    numbers = curve_numbers(cells)
    assert len(set(numbers["line"].tolist())) == 4


def test_families_compare_lengths_of_the_same_other_settings():
    grid = {"projection.length": (1, 2, 4), "redraw_every": (0, 1)}
    cells = make_cells(fake_dataset(grid, n_seeds=1))
    families = cells.families()
    assert len(families) == 2
    for lengths in families.values():
        assert list(lengths) == [1, 2, 4]
        assert len({cells.get(key, "redraw_every") for key in lengths.values()}) == 1


def test_scores_are_means_of_the_last_three_evaluations():
    data = fake_dataset(n_seeds=1)
    cells = make_cells(data)
    (key,) = cells.runs
    returns = data.runs[0].metrics["test/tile_unit/episodes/episode_return"]
    assert cells.scores(key)[0] == pytest.approx(returns[-3:].mean())
    returns[-1] = math.nan  # nothing finished in the last: it is one of the three
    metric = "test/tile_unit/episodes/episode_return"
    assert cells.scores(key)[0] == data.scores(metric).values[0]
    assert cells.scores(key)[0] == pytest.approx(returns[-3:-1].mean())


def test_held_out_tasks_are_cells_of_their_own():
    both = fake_dataset({"evaluation.task": ("", "RepeatFirst")}, n_seeds=1)
    assert [key[0] for key in make_cells(both).runs] == ["HigherLower"]
    assert [key[0] for key in make_cells(both, "task").runs] == ["RepeatFirst"]


def test_levels_of_ones_own_task_run_no_code():
    cells = make_cells(fake_dataset(n_seeds=1, task="no_such_module:Thing"))
    (key,) = cells.runs
    assert math.isnan(cells.levels(key).headroom)
    assert cells.label(key) == "Thing, GRU, ℓ = 1"


def test_a_budget_that_follows_from_the_other_settings_is_no_axis():
    short = fake_dataset({"redraw_every": (0, 1)}, 1)
    long = fake_dataset({"redraw_every": (0,)}, 1, task="RepeatFirst", n_updates=80)
    both = Dataset((*short.runs, *long.runs))
    assert both.axes == ("task", "redraw_every")
    assert make_cells(both).axes[3:] == ("redraw_every",)


def test_returns_are_per_trial_where_tests_have_more_trials_than_training():
    dataset = fake_dataset(
        n_seeds=2,
        trial_return=lambda settings, name: 0.5,
        noise=0.0,
        **{"n_trials": 1, "evaluation.n_trials": 4},
    )
    cells = make_cells(dataset)
    for name in ("random", "train"):
        assert cells.mean_return(name) == pytest.approx(0.5)
    (key,) = cells.runs
    assert cells.levels(key).n_trials == 4
    for split in ("test", "train"):
        curve = curve_numbers(cells, split)
        assert curve["mean"] / curve["n_trials"] == pytest.approx(0.5)
