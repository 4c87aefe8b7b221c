"""From a dataset to the numbers of a figure: flat arrays, a row per curve.

Rows are cells; columns are updates or trials. No data is nan, with the number of seeds
behind every point beside it. Figures and the page draw these same numbers.
"""

from collections.abc import Callable, Sequence

import numpy as np

from freeproj.experiments.dataset import Dataset, RunRecord
from freeproj.experiments.measures import length_of, map_of, metric_of
from freeproj.findings.cells import Cells, Key, make_cells
from freeproj.stats.intervals import Band, band

__all__ = ["cell_columns", "curve_numbers", "need_runs", "trial_numbers"]

# What tells lines of one panel apart; every other axis but the task makes panels.
_LINE = ("projection.length", "projection.n_words", "projection.n_generators")
_LEVELS = ("n_trials", "chance", "blind", "ceiling")


def need_runs(dataset: Dataset, protocol: str = "projection") -> Cells:
    """Return the cells of a dataset; without any, the error says how to get some."""
    cells = make_cells(dataset, protocol)
    if not cells.runs:
        raise ValueError(
            f"No runs with the {protocol} held out; `freeproj sweep quick` makes some."
        )
    return cells


def curve_numbers(
    cells: Cells,
    split: str = "test",
    on: str = "",
    over: str = "updates",
) -> dict[str, np.ndarray]:
    """Return held-out (`test`) or training (`train`) returns over updates or `steps`.

    The test projection is by default each run's first one.
    """

    def values(run: RunRecord) -> tuple[np.ndarray, np.ndarray]:
        name = metric_of("train" if split == "train" else map_of(run, on))
        column = np.asarray(run.metrics.get(name, np.full(len(run.updates), np.nan)))
        column = column * length_of(run.settings) / length_of(run.settings, split)
        places = run.updates if over == "updates" else run.metrics[over].astype(int)
        return places, column

    return _rows(cells, values, over, split)


def trial_numbers(cells: Cells) -> dict[str, np.ndarray]:
    """Return the mean return of trial 1, 2, … in the last evaluation of every run."""

    def values(run: RunRecord) -> tuple[np.ndarray, np.ndarray]:
        table = run.metrics.get(f"test/{map_of(run)}/trial_returns")
        if table is None or table.ndim != 2:
            return np.zeros(0, int), np.zeros(0)
        seen = table[~np.isnan(table).all(axis=1)]
        last = seen[-1] if len(seen) else np.full(table.shape[1], np.nan)
        return np.arange(1, len(last) + 1), last

    return _rows(cells, values, "trials", "test")


def cell_columns(cells: Cells, keys: Sequence[Key]) -> dict[str, np.ndarray]:
    """Return what names a row: its task, its panel, its line, its word length."""
    others = [axis for axis in cells.axes if axis not in _LINE]
    levels = [cells.levels(key) for key in keys]
    columns = {
        "name": [cells.label(key) for key in keys],
        "task": [cells.task(key) for key in keys],
        "panel": [cells.label(key, "task", *_LINE) for key in keys],
        "line": [cells.label(key, *others) for key in keys],
        "length": [cells.length(key) for key in keys],
        "n_runs": [len(cells.runs[key]) for key in keys],
        **{name: [getattr(each, name) for each in levels] for name in _LEVELS},
    }
    return {name: np.array(column) for name, column in columns.items()}


def _rows(
    cells: Cells, values: Callable, name: str, split: str
) -> dict[str, np.ndarray]:
    """Return the bands of all cells; `values` has the places and returns of a run."""
    found = {key: [values(run) for run in runs] for key, runs in cells.runs.items()}
    seen = [x[~np.isnan(y)] for pairs in found.values() for x, y in pairs]
    places = np.unique(np.concatenate([np.zeros(0, int), *seen]))
    bands = {key: _band(pairs, places) for key, pairs in found.items()}
    keys = [key for key in bands if bands[key].n_seeds.any()]
    if not keys:
        raise ValueError("These runs have no returns of this kind yet.")
    maps = {map_of(run) for runs in cells.runs.values() for run in runs}
    return {
        **cell_columns(cells, keys),
        name: places,
        **{f: np.stack([getattr(bands[key], f) for key in keys]) for f in Band._fields},
        "split": np.array(split),
        "maps": np.array(sorted(maps)),
    }


def _band(pairs: Sequence[tuple[np.ndarray, np.ndarray]], places: np.ndarray) -> Band:
    table = np.full((len(pairs), len(places)), np.nan)
    for row, (x, y) in zip(table, pairs, strict=True):
        there = ~np.isnan(y)
        row[np.searchsorted(places, x[there])] = y[there]
    return band(table)
