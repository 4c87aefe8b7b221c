"""Two methods run with the same seeds: differences, and their mean with an interval.

The seed is the unit. Cells that share seeds are *not* independent: the same seed starts
with the same weights in every cell. So where cells are pooled, a seed's deviations are
added over its cells before they are squared.

A cell is anything hashable: a tuple of axis values, a task. Its data are a mapping from
seed to number, or a row whose position is the seed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from freeproj.stats.intervals import FEWEST_SEEDS, Interval

__all__ = ["BySeed", "Cell", "Mean", "by_seed", "differences", "mean_of", "pooled_mean"]

Cell = Any  # anything hashable
BySeed = Mapping[Any, float] | np.ndarray | list | tuple


class Mean(NamedTuple):
    """A mean over seeds with its standard error."""

    value: float  # nan without seeds
    error: float  # nan below three seeds
    n: int  # seeds
    freedom: int  # degrees of freedom of the error

    def interval(self, level: float) -> Interval | None:
        """Return the t interval at a level; None below three seeds."""
        if math.isnan(self.error):
            return None
        reach = float(stdtrit(self.freedom, (1 + level) / 2)) * self.error
        return Interval(self.value - reach, self.value + reach, self.n, "t")

    def p(self, threshold: float = 0.0) -> float:
        """Return the two-sided p-value of "the mean is the threshold"; nan below three.

        It is at most 1 - level exactly if the interval at that level leaves it out.
        """
        away = abs(self.value - threshold)
        if math.isnan(self.error):
            return math.nan
        if self.error == 0:
            return 0.0 if away else 1.0
        return float(2 * stdtr(self.freedom, -away / self.error))


def by_seed(data: BySeed) -> dict[Any, float]:
    """Return the numbers by seed, without those that are nan."""
    items = data.items() if isinstance(data, Mapping) else enumerate(data)
    found = {seed: float(value) for seed, value in items}
    return {seed: value for seed, value in found.items() if not math.isnan(value)}


def differences(first: Mapping[Any, float], second: Mapping[Any, float]) -> dict:
    """Return first minus second for every seed with data on both sides, in order."""
    shared = sorted(first.keys() & second.keys())
    found = {seed: float(first[seed] - second[seed]) for seed in shared}
    return {seed: value for seed, value in found.items() if not math.isnan(value)}


def mean_of(data: BySeed) -> Mean:
    """Return the mean of one cell's numbers."""
    return pooled_mean({"": data})


def pooled_mean(cells: Mapping[Cell, BySeed]) -> Mean:
    """Return the mean over cells of the cells' means; cells without data are left out.

    With the same seeds in every cell the error is that of the seeds' means; with
    different ones the variance is Σ s²/n over cells. The degrees of freedom are those
    of the smallest cell.
    """
    tables = [table for data in cells.values() if (table := by_seed(data))]
    seeds = sorted({seed for table in tables for seed in table})
    if not tables:
        return Mean(math.nan, math.nan, 0, 0)
    values = np.array(
        [[table.get(seed, math.nan) for table in tables] for seed in seeds]
    )
    n = (~np.isnan(values)).sum(axis=0)
    means = np.nanmean(values, axis=0)
    error = math.nan
    if n.min() >= FEWEST_SEEDS:
        shares = np.nan_to_num(values - means) / np.sqrt(n * (n - 1)) / len(n)
        error = math.sqrt(float((shares.sum(axis=1) ** 2).sum()))
    return Mean(float(means.mean()), error, len(seeds), int(n.min()) - 1)
