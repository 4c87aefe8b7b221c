"""From a folder of runs to the numbers of a picture: flat arrays, a row per curve.

Rows are cells (task, memory, n, ℓ), columns are updates or trials. No data is nan, with
the number of seeds behind every point beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from freeproj.report.gathering import Adaptation, Gathered, gather
from freeproj.report.paper.numbers import PAPER_TASKS
from freeproj.stats import Band, Cell, Curve, mean_band

__all__ = [
    "adaptation_numbers",
    "curve_numbers",
    "ordered_tasks",
    "read_runs",
    "row_of",
]


def read_runs(runs: str | Path) -> Gathered:
    """Reads a folder that must hold runs; the error says how to get some."""
    gathered = gather(runs)
    if not gathered.runs:
        raise ValueError(
            f"{runs} holds no runs; `freeproj sweep quick --out {runs}` makes some."
        )
    return gathered


def ordered_tasks(tasks: Sequence[str]) -> list[str]:
    """Returns the tasks once each, in the paper's order, then the others by name."""
    found = set(tasks)
    return [task for task in PAPER_TASKS if task in found] + sorted(
        found.difference(PAPER_TASKS)
    )


def curve_numbers(curves: Sequence[Curve]) -> dict[str, np.ndarray]:
    """Returns curves as matrices over the union of their updates."""
    none = np.zeros(0, int)  # no curves: no updates
    updates = np.unique(np.concatenate([none, *(curve.updates for curve in curves)]))
    places = [np.searchsorted(updates, curve.updates) for curve in curves]
    bands = [curve.band for curve in curves]
    return {
        **_cell_columns([curve.cell for curve in curves]),
        "split": np.array([curve.split for curve in curves], str),
        "n_runs": np.array([curve.n_runs for curve in curves], int),
        "updates": updates,
        **_band_rows(bands, places, len(updates)),
    }


def adaptation_numbers(adaptations: Sequence[Adaptation]) -> dict[str, np.ndarray]:
    """Returns the mean return of trial 1, 2, … in the last evaluation of every run."""
    last: dict[tuple[Cell, int], Adaptation] = {}
    for each in sorted(adaptations, key=lambda each: each.update):
        cell = Cell(each.task, each.memory, each.n_generators, each.length)
        last[cell, each.seed] = each
    cells = sorted({cell for cell, _ in last})
    n_trials = max((len(each.returns) for each in last.values()), default=0)
    groups = [
        [each for (cell, _), each in last.items() if cell == wanted] for wanted in cells
    ]
    bands = [mean_band(_padded(group, n_trials)) for group in groups]
    everywhere = [np.arange(n_trials)] * len(cells)
    return {
        **_cell_columns(cells),
        "n_runs": np.array([len(group) for group in groups], int),
        "first_update": np.array([min(e.update for e in g) for g in groups], int),
        "last_update": np.array([max(e.update for e in g) for g in groups], int),
        "trials": np.arange(1, n_trials + 1),
        **_band_rows(bands, everywhere, n_trials),
    }


def row_of(numbers, **wanted) -> int | None:
    """Returns the first row whose columns have these values, or None."""
    keep = np.ones(len(numbers["task"]), bool)
    for name, value in wanted.items():
        keep &= numbers[name] == value
    return int(np.argmax(keep)) if keep.any() else None


def _cell_columns(cells: Sequence[Cell]) -> dict[str, np.ndarray]:
    return {
        "task": np.array([cell.task for cell in cells], str),
        "memory": np.array([cell.memory for cell in cells], str),
        "n_generators": np.array([cell.n_generators for cell in cells], int),
        "length": np.array([cell.length for cell in cells], int),
    }


def _band_rows(
    bands: Sequence[Band], places: Sequence[np.ndarray], n_points: int
) -> dict[str, np.ndarray]:
    rows = {name: np.full((len(bands), n_points), np.nan) for name in Band._fields[:-1]}
    counts = np.zeros((len(bands), n_points), int)
    for row, (band, place) in enumerate(zip(bands, places, strict=True)):
        for name, matrix in rows.items():
            matrix[row, place] = getattr(band, name)
        counts[row, place] = band.n_seeds
    return {**rows, "n_seeds": counts}


def _padded(group: Sequence[Adaptation], n_trials: int) -> np.ndarray:
    values = np.full((len(group), n_trials), np.nan)
    for row, each in enumerate(group):
        values[row, : len(each.returns)] = each.returns
    return values
