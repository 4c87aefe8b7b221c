"""Laws of reading folders of runs."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from freeproj.experiments.run import open_run
from freeproj.experiments.settings import read_config
from freeproj.report.gathering import cell_task, find_runs, gather

EVALUATED = {
    "update": 1,
    "train/episode_return": 1.5,
    "train/n_finished": 3,
    "train/n_unfinished": 8,
    "test/window/episode_return": None,
    "test/window/n_finished": 0,
    "test/window/n_unfinished": 8,
    "test/episodes/episode_return": 2.5,
    "test/episodes/n_finished": 8,
    "test/episodes/n_unfinished": 0,
    "test/trial_returns": [0.5, None],
    "test/trial_counts": [8, 0],
}
UNEVALUATED = {
    "update": 2,
    "train/episode_return": None,
    "train/n_finished": 0,
    "train/n_unfinished": 8,
}


def write_run(folder, log=(EVALUATED, UNEVALUATED), **settings):
    """Makes the folder of a run with a given log, without any training."""
    run = open_run(folder, read_config("smoke", settings))
    lines = "".join(json.dumps(row) + "\n" for row in log)
    (run.folder / "log.jsonl").write_text(lines)
    return run


def test_every_evaluation_of_the_log_is_one_row(tmp_path):
    write_run(tmp_path, seed=3)
    rows = list(gather(tmp_path).table.rows())
    found = {(r.update, r.split, r.counting): r.mean_return for r in rows}
    assert found.pop((1, "train", "window")) == 1.5
    assert math.isnan(found.pop((1, "test", "window")))
    assert found.pop((1, "test", "episodes")) == 2.5
    assert math.isnan(found.pop((2, "train", "window")))
    assert not found
    assert {(r.task, r.memory, r.n_generators, r.length, r.seed) for r in rows} == {
        ("StatelessCartPole", "gru", 4, 4, 3)
    }


def test_trials_keep_their_counts_and_nans(tmp_path):
    write_run(tmp_path)
    (trials,) = gather(tmp_path).adaptations
    np.testing.assert_array_equal(trials.returns, [0.5, np.nan])
    np.testing.assert_array_equal(trials.counts, [8, 0])


def test_runs_are_found_at_any_depth_and_other_files_left_alone(tmp_path):
    write_run(tmp_path / "a" / "b", seed=1)
    write_run(tmp_path, seed=0)
    (tmp_path / "notes.txt").write_text("not a run")
    assert [run.config.seed for run in find_runs(tmp_path)] == [0, 1]


def test_an_empty_folder_is_an_empty_table(tmp_path):
    gathered = gather(tmp_path)
    assert len(gathered.table) == 0
    assert gathered.n_finished == 0


def test_two_studies_in_one_folder_are_refused_by_name(tmp_path):
    write_run(tmp_path)
    write_run(tmp_path, **{"ppo.learning_rate": 0.01})
    with pytest.raises(ValueError, match="same cell and seed with other settings"):
        gather(tmp_path)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        gather(tmp_path / "nowhere")


def test_a_held_out_task_names_the_cell():
    config = read_config("smoke", {"evaluation.task": "HigherLower"})
    assert cell_task(config) == "HigherLower"
    joint = read_config("smoke", {"task": ["RepeatFirst", "HigherLower"]})
    assert cell_task(joint) == "RepeatFirst+HigherLower"
