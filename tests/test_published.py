"""The results that ship: complete, balanced, small, and read like any runs."""

from pathlib import Path

import numpy as np
import pytest

import freeproj.published
from freeproj.experiments.dataset import read_dataset
from freeproj.published import load, names, published
from freeproj.report.paper.numbers import PAPER_TASKS
from freeproj.report.tables.maps import map_records


@pytest.fixture(scope="module")
def why():
    return published("why-table-1")


def test_every_study_says_what_it_rests_on():
    for name in names():
        summary = published(name).summary
        for key in ("command", "version", "machine", "date"):
            assert summary[key], (name, key)
        assert summary["cpu_hours"] > 0
        assert min(summary["seeds_per_cell"].values()) >= 3


def test_why_table_1_has_ten_seeds_in_every_cell_of_all_five_tasks(why):
    assert set(why.seeds_by_task) == set(PAPER_TASKS)
    assert set(why.seeds_by_task.values()) == {10}
    assert len(why.dataset) == 560
    assert not why.dataset.set_aside


def test_a_published_study_is_a_dataset_like_any_other(why):
    again = read_dataset("published:why-table-1")
    metric = "test/random/episodes/episode_return"
    assert again.scores(metric).by_cell() == why.dataset.scores(metric).by_cell()
    assert len(load()) == sum(len(published(name).dataset) for name in names())


def test_returns_of_cells_are_per_trial_with_intervals_around_their_means(why):
    chosen = why.dataset.where(task="RepeatPrevious", redraw_every=0)
    records = map_records(chosen)
    assert len(records) == 8
    for record in records:
        assert set(record.maps) == {"tile_unit", "minus_tile", "random", "zero"}
        for found in record.maps.values():
            assert found.n == why.seeds_by_task["RepeatPrevious"]
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
    assert 0 < sum(sizes) <= 3_000_000
