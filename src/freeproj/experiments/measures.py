"""Numbers of a dataset: one for each run, curves over updates, two-way tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from freeproj.experiments.records import RunRecord

__all__ = [
    "Cell",
    "Curve",
    "Curves",
    "Pivot",
    "Scores",
    "align",
    "present",
    "reduction",
]

Cell = tuple[Any, ...]


class Scores(NamedTuple):
    """One number for each run; nan where there is no data."""

    axes: tuple[str, ...]
    cells: tuple[Cell, ...]  # the values of the axes, run by run
    seeds: tuple[int, ...]
    values: Float[np.ndarray, " runs"]

    def by_cell(self) -> dict[Cell, dict[int, float]]:
        """Return cell -> seed -> value, without runs that have no data."""
        found: dict[Cell, dict[int, float]] = {cell: {} for cell in self.cells}
        for cell, seed, value in zip(self.cells, self.seeds, self.values, strict=True):
            if not math.isnan(value):
                found[cell][seed] = float(value)
        return found


class Curve(NamedTuple):
    """A cell's values over updates, a row for each seed; nan where there is no data."""

    updates: Int[np.ndarray, " n"]
    seeds: tuple[int, ...]
    values: Float[np.ndarray, "seeds n"]


class Curves(NamedTuple):
    """Values over updates for each cell."""

    axes: tuple[str, ...]
    cells: Mapping[Cell, Curve]


class Pivot(NamedTuple):
    """Means over runs for each pair of values; nan and count 0 if there are none."""

    rows: tuple[Any, ...]
    columns: tuple[Any, ...]
    means: Float[np.ndarray, "rows columns"]
    counts: Int[np.ndarray, "rows columns"]


def present(run: RunRecord, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the updates at which a metric was measured, and its values there.

    A mean over no finished episode is nan, yet it was measured: its `n_finished` is 0.
    """
    column = run.metrics.get(metric)
    if column is None:
        return np.zeros(0, int), np.zeros(0)
    count = run.metrics.get(metric.rpartition("/")[0] + "/n_finished", column)
    there = ~np.isnan(count if count.ndim == 1 else count[:, 0])
    return run.updates[there], column[there]


def align(runs: Sequence[RunRecord], metric: str) -> Curve:
    """Put the values of one cell's runs side by side, by update."""
    parts = [present(run, metric) for run in runs]
    updates = np.unique(np.concatenate([found for found, _ in parts]))
    values = np.full((len(parts), len(updates)), math.nan)
    for row, (found, column) in zip(values, parts, strict=True):
        row[np.searchsorted(updates, found)] = column
    return Curve(updates, tuple(run.seed for run in runs), values)


def reduction(
    name: str | Callable[[np.ndarray], float],
) -> Callable[[np.ndarray], float]:
    """Return the function from values to one number: a known name, or your own."""
    if not isinstance(name, str):
        return name
    if name not in _REDUCTIONS:
        known = ", ".join(_REDUCTIONS)
        raise ValueError(f"`reduce` must be one of {known}, got {name!r}.")
    return _REDUCTIONS[name]


def _of_found(function: Callable[[np.ndarray], Any], values: np.ndarray) -> float:
    found = values[~np.isnan(values)]
    return float(function(found)) if found.size else math.nan


_REDUCTIONS: Mapping[str, Callable[[np.ndarray], float]] = {
    "final": lambda values: float(values[-1]) if len(values) else math.nan,
    "last3": lambda values: _of_found(np.mean, values[-3:]),
    "max": lambda values: _of_found(np.max, values),
}
