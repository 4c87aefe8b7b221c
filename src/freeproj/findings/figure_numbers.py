"""From a dataset to the numbers of a figure: flat arrays, a row per cell.

Columns are updates or trials (curves, with the number of seeds behind every point), or
test projections (returns per trial, with intervals). No data is nan.
"""

from collections.abc import Callable, Sequence

import numpy as np

from freeproj.experiments.dataset import Dataset, RunRecord
from freeproj.experiments.measures import length_of, map_of, metric_of
from freeproj.findings.cells import Cells, Key, make_cells
from freeproj.findings.labels import map_title, settings_text
from freeproj.findings.numbers import PAPER_RESULTS
from freeproj.findings.selection import haar_and_qr, stored
from freeproj.stats.intervals import Band, Summary, band, summarise

__all__ = ["MAPS", "curve_numbers", "map_numbers", "need_runs", "paper_numbers"]
__all__ += ["storage_cells", "trial_numbers", "trial_summary", "why_cells"]

# What tells lines of one panel apart; every other axis but the task makes panels.
_LINE = ("projection.length", "projection.n_words", "projection.n_generators")
_LEVELS = ("n_trials", "chance", "blind", "ceiling")
# In this order, as far as they were played; tile_unit is the release's.
MAPS = ("tile_unit", "minus_tile_unit", "tile", "minus_tile", "random", "zero")


def need_runs(dataset: Dataset, protocol: str = "projection") -> Cells:
    """Return the cells of a dataset; without any, the error says how to get some."""
    needs = f"runs with the {protocol} held out; `freeproj sweep quick` makes some"
    return _suited(make_cells(dataset, protocol), needs)


def curve_numbers(
    cells: Cells, split: str = "test", on: str = "", over: str = "updates"
) -> dict[str, np.ndarray]:
    """Return held-out (`test`) or `train` returns over updates or `steps`."""

    def values(run: RunRecord) -> tuple[np.ndarray, np.ndarray]:
        name = metric_of("train" if split == "train" else map_of(run, on))
        column = run.metrics.get(name, np.full(len(run.updates), np.nan))
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


def why_cells(dataset: Dataset) -> Cells:
    """Return the cells of uncorrected QR and Haar that were tested on several maps."""
    cells = make_cells(haar_and_qr(dataset, "minus_tile")).per_agent()
    panels = {key: (cells.task(key), _setting(cells, key)) for key in cells.runs}
    raw = {panels[key] for key in cells.runs if _family(cells, key) == "qr"}
    if raw:  # Haar stands beside uncorrected QR, not alone
        cells = cells.where(lambda key: panels[key] in raw)
    maps = '["tile_unit", "minus_tile", "random"]'
    return _suited(
        cells, f"projection.family = haar or qr, tested on evaluation.maps = {maps}"
    )


def storage_cells(dataset: Dataset) -> Cells:
    """Return the cells with n fixed matrices, n the same for several word lengths."""
    return _suited(
        make_cells(stored(dataset)).per_agent(),
        "redraw_every = 0 with one projection.n_generators and several values of "
        "projection.length",
    )


def map_numbers(cells: Cells, with_training: bool = False) -> dict[str, np.ndarray]:
    """Return mean and interval per trial, a row per cell, a column per test map."""
    keys = list(cells.runs)
    played = {name for key in keys for name in cells.maps(key)}
    maps = [name for name in MAPS if name in played] + ["train"] * with_training
    redrawn = (cells.get(key, "redraw_every", 1) != 0 for key in keys)
    found = [[trial_summary(cells, key, name) for name in maps] for key in keys]
    columns = {
        "family": [_family(cells, key) for key in keys],
        "bases": ["redrawn" if each else "fixed" for each in redrawn],
        "setting": [_setting(cells, key) for key in keys],
        "maps": maps,
        "map_titles": [map_title(name) for name in maps],
        "mean": [[each.mean for each in row] for row in found],
        "low": [[each.ends[0] for each in row] for row in found],
        "high": [[each.ends[1] for each in row] for row in found],
        "n_seeds": [[each.n for each in row] for row in found],
    }
    columns = {name: np.array(column) for name, column in columns.items()}
    return _cell_columns(cells, keys) | columns


def paper_numbers(cells: Cells) -> dict[str, np.ndarray]:
    """Return the paper's raw returns per trial (of 16): task, memory, ℓ, value."""
    pairs = {(cells.task(k), str(cells.get(k, "memory"))): None for k in cells.runs}
    rows = [
        (task, memory, found)
        for task, memory in pairs
        for name in ("RP", "FRP")
        if (found := PAPER_RESULTS.get((task, name, memory)))
    ]
    return {
        "paper_task": np.array([task for task, _, _ in rows], str),
        "paper_memory": np.array([memory for _, memory, _ in rows], str),
        "paper_length": np.array([found.length for *_, found in rows], int),
        "paper_mean": np.array([found.raw / 16 for *_, found in rows], float),
    }


def trial_summary(cells: Cells, key: Key, on: str = "", **how: str) -> Summary:
    """Summarise a cell's returns per trial; no interval ends above the ceiling."""
    levels = cells.levels(key)
    scores = cells.scores(key, on, **how).values()
    found = summarise([score / levels.n_trials for score in scores])
    ends, ceiling = found.interval, levels.ceiling / levels.n_trials
    if ends is None or not ends.high > ceiling:
        return found
    return found._replace(interval=ends._replace(high=ceiling))


def _cell_columns(cells: Cells, keys: Sequence[Key]) -> dict[str, np.ndarray]:
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


def _rows(cells: Cells, values: Callable, name: str, split: str) -> dict:
    """Return the bands of all cells; `values` has the places and returns of a run."""
    found = {key: [values(run) for run in runs] for key, runs in cells.runs.items()}
    seen = [x[~np.isnan(y)] for pairs in found.values() for x, y in pairs]
    places = np.unique(np.concatenate([np.zeros(0, int), *seen]))
    bands = {}
    for key, pairs in found.items():
        table = np.full((len(pairs), len(places)), np.nan)
        for row, (x, y) in zip(table, pairs, strict=True):
            there = ~np.isnan(y)
            row[np.searchsorted(places, x[there])] = y[there]
        bands[key] = band(table)
    keys = [key for key in bands if bands[key].n_seeds.any()]
    if not keys:
        raise ValueError("These runs have no returns of this kind yet.")
    maps = {map_of(run) for runs in cells.runs.values() for run in runs}
    return {
        **_cell_columns(cells, keys),
        name: places,
        **{f: np.stack([getattr(bands[key], f) for key in keys]) for f in Band._fields},
        "split": np.array(split),
        "maps": np.array(sorted(maps)),
    }


def _suited(cells: Cells, needs: str) -> Cells:
    if not cells.runs:
        raise ValueError(f"No run suits this figure: it needs {needs}.")
    return cells


def _family(cells: Cells, key: Key) -> str:
    return str(cells.get(key, "projection.family", "haar"))


def _setting(cells: Cells, key: Key) -> str:
    """Return what else tells panels apart: the memory, and any further axis."""
    apart = ("task", "projection.length", "projection.family", "redraw_every")
    return settings_text(cells.settings(key, *apart))
