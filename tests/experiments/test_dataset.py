"""A dataset has axes, reads each run once, and goes on without bad runs."""

import json
import math
import os
import shutil
from pathlib import Path

import numpy as np
import pandas
import pytest

from fake_study import write_study
from freeproj.experiments import store
from freeproj.experiments.dataset import Dataset, read_dataset
from freeproj.experiments.run import open_run
from freeproj.experiments.settings import flat, read_config
from freeproj.experiments.store import CACHE

OLD = Path(__file__).parents[1] / "golden" / "run_0_1_0"
RETURN = "test/tile/episodes/episode_return"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    shape = {"tasks": ("HigherLower",), "memories": ("gru",), "n_seeds": 3}
    write_study(folder, lengths=(1, 4), n_updates=8, **shape)
    lower = {"ppo.discount": 0.9}
    write_study(folder, lengths=(1, 4), n_updates=8, settings=lower, **shape)
    return folder


@pytest.fixture
def own(study, tmp_path):
    """The study as a folder of one's own to spoil."""
    return Path(shutil.copytree(study, tmp_path / "runs", dirs_exist_ok=True))


def same(one, other):
    assert len(one) == len(other)
    for a, b in zip(one.runs, other.runs, strict=True):
        assert (a.name, a.health, a.settings) == (b.name, b.health, b.settings)
        np.testing.assert_array_equal(a.seconds, b.seconds)
        np.testing.assert_array_equal(a.updates, b.updates)
        assert a.metrics.keys() == b.metrics.keys()
        for name in a.metrics:
            np.testing.assert_array_equal(a.metrics[name], b.metrics[name])


def test_axes_are_the_settings_that_differ(study):
    dataset = read_dataset(study)
    assert dataset.axes == ("projection.length", "ppo.discount")
    assert dataset.seeds == (0, 1, 2)
    assert (len(dataset), dataset.n_finished) == (12, 12)
    assert dataset.where(task="HigherLower", seed=[0, 1]).axes == dataset.axes
    assert dataset.where({"projection.length": 4}).axes == ("ppo.discount",)
    assert dataset.values("projection.n_generators") == (4, 256)
    with pytest.raises(ValueError, match=r"Did you mean `ppo.discount`"):
        dataset.where({"ppo.discout": 1})


def test_groups_cover_all_runs_once(study):
    dataset = read_dataset(study)
    groups = dataset.group_by(*dataset.axes)
    assert list(groups) == [(1, 0.9), (1, 0.99), (4, 0.9), (4, 0.99)]
    assert sum(map(len, groups.values())) == len(dataset)


def test_scores_are_those_of_the_log(study):
    dataset = read_dataset(study)
    for reduce, expected in [
        ("final", lambda v: v[-1]),
        ("last3", np.mean),
        ("max", max),
    ]:
        scores = dataset.scores(RETURN, reduce)
        assert scores.axes == dataset.axes
        for run, value in zip(dataset.runs, scores.values, strict=True):
            lines = (run.folder / "log.jsonl").read_text().splitlines()
            found = [json.loads(line).get(RETURN) for line in lines]
            assert value == pytest.approx(expected([f for f in found if f is not None]))
    assert scores.by_cell()[4, 0.9].keys() == {0, 1, 2}
    with pytest.raises(ValueError, match="Did you mean"):
        dataset.scores("test/tile/episodes/episode_retrun")


def test_a_last_evaluation_in_which_nothing_finished_is_no_data(own):
    run = read_dataset(own).runs[0]
    *rows, last = (run.folder / "log.jsonl").read_text().splitlines()
    nothing = {RETURN: None, "test/tile/episodes/n_finished": 0}
    last = json.dumps(json.loads(last) | nothing)
    (run.folder / "log.jsonl").write_text("\n".join([*rows, last]) + "\n")
    (run.folder / "final.json").write_text(last)
    dataset = read_dataset(own)
    assert math.isnan(dataset.scores(RETURN, "final").values[0])
    assert not math.isnan(dataset.scores(RETURN, "last3").values[0])


def test_curves_agree_with_scores(study):
    dataset = read_dataset(study)
    curve = dataset.curves(RETURN).cells[4, 0.9]
    np.testing.assert_array_equal(curve.updates, [4, 8])
    assert curve.values.shape == (3, 2)
    seeds = dataset.scores(RETURN, "final").by_cell()[4, 0.9]
    assert curve.values[:, -1].tolist() == list(seeds.values())


def test_files_come_back_bit_for_bit(study, tmp_path):
    dataset = read_dataset(study)
    back = read_dataset(dataset.save(tmp_path / "x.npz"))
    same(dataset, back)
    assert back.axes == dataset.axes


def test_tidy_tables_hold_every_number(study, tmp_path):
    dataset = read_dataset(study)
    frame = pandas.read_csv(dataset.to_csv(tmp_path / "x.csv"), na_values="")
    assert list(frame.columns) == list(dataset.to_pandas().columns)
    run = dataset.runs[0]
    for table in (frame, dataset.to_pandas()):
        found = table[(table.run == run.name) & (table.metric == RETURN)]
        column = run.metrics[RETURN]
        assert found.value.tolist() == column[~np.isnan(column)].tolist()


def test_a_file_that_is_none_is_refused_in_one_line(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"PK nothing")
    with pytest.raises(ValueError, match=r"x\.npz"):
        read_dataset(tmp_path / "x.npz")


def test_bad_runs_are_set_aside_and_named(own):
    runs = [run.folder for run in read_dataset(own).runs]
    (own / "elsewhere").mkdir()
    (own / "elsewhere" / "config.toml").write_text("[server]\nport = 80\n")
    log = (runs[0] / "log.jsonl").read_text().splitlines()
    (runs[0] / "log.jsonl").write_text("\n".join([log[0], "{torn", *log[1:]]) + "\n")
    (runs[1] / "config.toml").write_text("task = ")
    (runs[2] / "diverged.json").write_text('{"reason": "loss/value is nan"}')
    (runs[3] / "log.jsonl").write_text('{"update": 1, "loss/value": null}\n')
    (runs[4] / "log.jsonl").write_text('{"update": "one"}\n{"update": 2}\n')
    shutil.copytree(runs[5], own / "copy")
    (own / "config.toml").write_text("x = 1")  # beside the runs: hides none of them
    dataset = read_dataset(own)
    assert len(dataset) == 7
    found = {each.path.name: (each.health, each.reason) for each in dataset.set_aside}
    assert found["elsewhere"][0] == found[runs[1].name][0] == "foreign"
    assert found[runs[0].name][0] == found[runs[4].name][0] == "damaged"
    assert "line 2" in found[runs[0].name][1]
    assert found[runs[2].name] == ("diverged", "loss/value is nan")
    assert found[runs[3].name] == ("diverged", "loss/value is not finite at update 1")
    assert {"copy", runs[5].name} & found.keys()
    assert dataset.health_counts() == {
        "finished": 7, "foreign": 3, "damaged": 2, "diverged": 2, "duplicate": 1
    }  # fmt: skip
    same(dataset, read_dataset(own))  # and so they are in the cache


def test_a_second_reading_opens_no_run(own, monkeypatch):
    first = read_dataset(own)
    assert (own / CACHE).exists()
    monkeypatch.setattr(store, "read_record", lambda folder: pytest.fail(str(folder)))
    second = read_dataset(own)
    same(first, second)
    assert [run.folder for run in second.runs] == [run.folder for run in first.runs]


def test_a_changed_run_is_read_again(own):
    run = read_dataset(own).runs[0]
    before = run.metrics[RETURN]
    for name in ("log.jsonl", "final.json"):
        text = (run.folder / name).read_text().replace("0.", "1.")
        (run.folder / name).write_text(text)
        os.utime(run.folder / name, ns=(1, 1))
    again = read_dataset(own).runs[0]
    assert not np.array_equal(again.metrics[RETURN], before, equal_nan=True)


def test_a_spoilt_cache_is_as_none(own):
    first = read_dataset(own)
    whole = (own / CACHE).read_bytes()
    rng = np.random.default_rng(0)
    for cut in (0, 10, len(whole) // 2, None):
        spoilt = bytearray(whole[:cut])
        if cut is None:
            spoilt[int(rng.integers(200, len(whole) - 200))] ^= 0xFF
        (own / CACHE).write_bytes(bytes(spoilt))
        same(first, read_dataset(own))


def test_a_folder_that_cannot_be_written_is_read_without_a_cache(own, monkeypatch):
    def refuse(*_):
        raise PermissionError("read-only")

    (own / CACHE).unlink(missing_ok=True)
    monkeypatch.setattr(store, "save_records", refuse)
    assert len(read_dataset(own)) == 12
    assert not (own / CACHE).exists()


def test_a_run_of_0_1_has_todays_columns():
    (run,) = read_dataset(OLD).runs
    (OLD / CACHE).unlink()
    assert run.health == "finished"
    assert run.settings["running_episodes"] == "rematch"
    assert run.settings["evaluation.maps"] == ("tile_unit",)
    assert not math.isnan(run.metrics[RETURN.replace("tile", "tile_unit")][-1])
    assert run.metrics["test/tile_unit/trial_returns"].shape == (3, 4)
    assert run.seconds > 0


@pytest.mark.parametrize("running", ["keep", "rematch", "restart"])
def test_settings_are_read_as_the_run_was_made(tmp_path, running):
    config = read_config("smoke", {"running_episodes": running, "redraw_every": 0})
    open_run(tmp_path, config)
    (run,) = read_dataset(tmp_path).runs
    read = {key: run.settings[key] for key in flat(config)}
    assert read == flat(config)


def test_a_users_task_is_not_imported(tmp_path):
    run = open_run(tmp_path, read_config("smoke"))
    text = (run.folder / "config.toml").read_text()
    text = text.replace('"StatelessCartPole"', '"nosuch_module:Thing"')
    (run.folder / "config.toml").write_text(text)
    assert read_dataset(tmp_path).values("task") == ("nosuch_module:Thing",)


def test_nothing_there_is_said_in_one_line(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder"):
        read_dataset(tmp_path / "nosuch")
    empty = read_dataset(tmp_path)
    assert (len(empty), empty.axes, empty.set_aside) == (0, (), ())
    assert repr(empty) == "Dataset of 0 runs (none), 0 seeds; axes: none"
    assert isinstance(empty, Dataset)


def test_a_run_says_what_it_is_in_one_line(study):
    run = read_dataset(study).runs[0]
    assert repr(run).startswith(f"RunRecord({run.name}: finished, ")
    assert "\n" not in repr(run)
    assert len(repr(run)) < 120
