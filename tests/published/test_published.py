"""The results that ship: complete, balanced, small, and read like any runs."""

from pathlib import Path

import numpy as np
import pytest

import freeproj.published
from freeproj.experiments.dataset import read_dataset
from freeproj.experiments.settings import flat
from freeproj.experiments.study import read_study
from freeproj.findings.numbers import PAPER_TASKS
from freeproj.learning.config import TrainConfig
from freeproj.published import load, names, summary
from freeproj.report.tables.maps import map_records


@pytest.fixture(scope="module")
def why():
    return load("why-table-1")


def test_every_study_says_what_it_rests_on():
    for name in names():
        told = summary(load(name))
        for key in ("study", "command", "version", "machine", "date"):
            assert told[key], (name, key)
        assert told["cpu_hours"] > 0
        assert min(few for few, _ in told["seeds_per_configuration"].values()) >= 3


def test_why_table_1_has_twenty_seeds_where_a_verdict_rests_on_it_and_else_ten(why):
    seeds = summary(why)["seeds_per_configuration"]
    assert set(seeds) == set(PAPER_TASKS)
    assert seeds["StatelessCartPole"] == [10, 20]
    arms = why.group_by("task", "memory", "redraw_every")
    for (task, memory, _), group in arms.items():
        cells = group.group_by("projection.family", "projection.length")
        few = memory == "s5" or task in ("Minesweeper", "RepeatFirst")
        assert len(cells) == 8
        assert {len(cell) for cell in cells.values()} == {10 if few else 20}
    assert len(arms) == 2 * (2 * 3 + 2)
    assert len(why) == 1760
    assert not why.set_aside


@pytest.mark.parametrize("name", names())
def test_published_runs_are_those_of_the_study_that_ships(name):
    configs = [flat(config) for config in read_study(name).runs()]
    of_study = {_key(settings) for settings in configs}
    since = flat(TrainConfig())  # settings that are younger than the runs
    for run in load(name).runs:
        settings = {key: run.settings.get(key, since[key]) for key in configs[0]}
        assert _key(settings) in of_study


def _key(settings):
    """All settings as texts; tasks are written in two ways, several ones in three."""
    texts = {
        key: str(list(value) if isinstance(value, tuple | list) else value)
        for key, value in settings.items()
    }
    tasks = settings["task"]
    joined = tasks if isinstance(tasks, str) else "+".join(tasks)
    texts["task"] = joined.rsplit(":", 1)[-1]
    return tuple(sorted(texts.items()))


def test_a_published_study_is_a_dataset_like_any_other(why):
    again = read_dataset("published:why-table-1")
    metric = "test/random/episodes/episode_return"
    assert again.scores(metric).by_cell() == why.scores(metric).by_cell()
    assert len(load()) == sum(len(load(name)) for name in names())


def test_returns_of_cells_are_per_trial_with_intervals_around_their_means(why):
    chosen = why.where(task="RepeatPrevious", redraw_every=0, memory="gru")
    records = map_records(chosen)
    assert len(records) == 8
    for record in records:
        assert set(record.maps) == {"tile_unit", "minus_tile", "random", "zero"}
        for found in record.maps.values():
            assert found.n == 20
            assert -1 <= found.interval.low <= found.mean <= found.interval.high <= 1
    by_hand = chosen.where(**{"projection.family": "qr", "projection.length": 1})
    last = [
        run.metrics["test/tile_unit/episodes/episode_return"][-3:].mean() / 16
        for run in by_hand.runs
    ]
    (record,) = [
        each
        for each in records
        if each.settings["projection.family"] == "qr"
        and each.settings["projection.length"] == 1
    ]
    assert record.maps["tile_unit"].mean == pytest.approx(np.mean(last))
    assert record.flat()["paper_raw"] == pytest.approx(-11.61 / 16)


def test_the_files_stay_small():
    folder = Path(freeproj.published.__file__).parent
    sizes = [path.stat().st_size for path in folder.glob("*.npz")]
    assert 0 < sum(sizes) <= 4_000_000
