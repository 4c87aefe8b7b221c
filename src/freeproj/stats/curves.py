"""Curves over seeds: a mean and a 95 % band at each update, or at each trial.

A point without data in any seed is nan with count 0; a band needs two seeds. Bands are
pointwise: each says where the mean lies at that point, not where the whole curve does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from freeproj.stats.seeds import Cell
from freeproj.stats.summary import percentile_interval
from freeproj.stats.table import CHOICES, Table, as_table

__all__ = ["Band", "Curve", "learning_curves", "mean_band"]


class Band(NamedTuple):
    """The mean over seeds with its interval, and how many seeds have data."""

    mean: Float[np.ndarray, " points"]
    low: Float[np.ndarray, " points"]
    high: Float[np.ndarray, " points"]
    n_seeds: Int[np.ndarray, " points"]


class Curve(NamedTuple):
    """The evaluations of one cell, in the order of updates."""

    cell: Cell
    split: str
    updates: Int[np.ndarray, " points"]
    band: Band
    n_runs: int


def mean_band(
    values: Float[np.ndarray, "seeds points"],
    *,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Band:
    """Returns the mean over seeds with a bootstrap interval; nan is left out.

    Whole seeds are drawn, the same ones for all points.
    """
    values = np.asarray(values, float)
    seen = ~np.isnan(values)
    n_seeds = seen.sum(axis=0)
    filled = np.where(seen, values, 0.0)
    mean = _ratio(filled.sum(axis=0), n_seeds)
    if len(values) < 2:
        unknown = np.full(mean.shape, np.nan)
        return Band(mean, unknown, unknown, n_seeds)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(values), [1 / len(values)] * len(values), n_resamples)
    means = _ratio(drawn @ filled, drawn @ seen)
    # A draw without any seed that has data at a point says nothing about that point.
    means = np.where(np.isnan(means), mean, means)
    low, high = percentile_interval(means, confidence)
    enough = n_seeds >= 2
    return Band(
        mean, np.where(enough, low, np.nan), np.where(enough, high, np.nan), n_seeds
    )


def learning_curves(
    table: Any,
    *,
    split: str = "test",
    protocol: str = "projection",
    counting: str = "window",
    running_maximum: bool = False,
) -> list[Curve]:
    """Returns the curve of every cell, of one split, protocol and way to count.

    Args:
        running_maximum: the largest mean return so far, which ends at MMER, instead of
            the mean return at that update.
    """
    wanted = {"split": split, "protocol": protocol, "counting": counting}
    for name, value in wanted.items():
        if value not in CHOICES[name]:
            known = ", ".join(CHOICES[name])
            raise ValueError(f"`{name}` must be one of {known}, got {value!r}.")
    table = as_table(table).where(**wanted)
    names = ("task", "memory", "n_generators", "length")
    columns = (getattr(table, name).tolist() for name in names)
    keys = [Cell(*key) for key in zip(*columns, strict=True)]
    cells = sorted(set(keys))
    rows = {cell: np.array([key == cell for key in keys], bool) for cell in cells}
    return [
        _curve(cell, split, table.take(rows[cell]), running_maximum) for cell in cells
    ]


def _curve(cell: Cell, split: str, table: Table, running_maximum: bool) -> Curve:
    updates, columns = np.unique(table.update, return_inverse=True)
    seeds, rows = np.unique(table.seed, return_inverse=True)
    values = np.full((len(seeds), len(updates)), np.nan)
    values[rows, columns] = table.mean_return
    if running_maximum:
        values = np.fmax.accumulate(values, axis=1)
    return Curve(cell, split, updates, mean_band(values), len(seeds))


def _ratio(total: np.ndarray, count: np.ndarray) -> np.ndarray:
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
