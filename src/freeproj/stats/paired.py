"""Two methods run with the same seeds: differences, and their mean with an interval.

The seed is the unit. Cells that share seeds are *not* independent: the same seed starts
with the same weights in every cell. So where cells are pooled, a seed's deviations are
added over its cells before they are squared.

A cell's data are a mapping from seed to number, or a row whose position is the seed.
"""

import math
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from freeproj.stats.intervals import FEWEST_SEEDS, Interval, interval
from freeproj.storage.checks import at_least

__all__ = ["Audit", "BySeed", "Cell", "HalfChoice", "Mean", "audit", "by_seed"]
__all__ += ["differences", "half_choice", "mean_of", "pooled_mean"]

Cell = Any  # anything hashable: a tuple of axis values, a task
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
        if self.error == 0:
            return 0.0 if away else 1.0
        return float(2 * stdtr(self.freedom, -away / self.error))


def by_seed(data: BySeed) -> dict[Any, float]:
    """Return the numbers by seed, without those that are nan."""
    items = data.items() if isinstance(data, Mapping) else enumerate(data)
    return {seed: float(value) for seed, value in items if not math.isnan(value)}


def differences(first: Mapping[Any, float], second: Mapping[Any, float]) -> dict:
    """Return first minus second for every seed with data on both sides, in order."""
    shared = sorted(first.keys() & second.keys())
    return by_seed({seed: first[seed] - second[seed] for seed in shared})


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
    if not tables:
        return Mean(math.nan, math.nan, 0, 0)
    seeds = sorted(set().union(*tables))
    values = np.array([[each.get(seed, math.nan) for each in tables] for seed in seeds])
    n = (~np.isnan(values)).sum(axis=0)
    means = np.nanmean(values, axis=0)
    error = math.nan
    if n.min() >= FEWEST_SEEDS:
        shares = np.nan_to_num(values - means) / np.sqrt(n * (n - 1)) / len(n)
        error = math.sqrt(float((shares.sum(axis=1) ** 2).sum()))
    return Mean(float(means.mean()), error, len(seeds), int(n.min()) - 1)


class Audit(NamedTuple):
    """Return seeing minus blanked, over pairs of seeds (or one agent's episodes)."""

    uses_observation: bool | None  # None: too few pairs to tell
    difference: float  # nan without pairs
    interval: Interval | None  # 95 %, of the difference
    n: int


def audit(seeing: BySeed, blanked: BySeed, margin: float | int = 0.0) -> Audit:
    """Compare returns with the observation and without it, in pairs.

    A cell whose return does not depend on the observation says nothing about
    projections. The agent uses its observation if the interval of the mean difference
    lies outside ±margin, on either side: looking may also hurt. Returns are by seed,
    or rows that are paired by position.
    """
    at_least(0, margin=margin)
    values = np.array([*differences(by_seed(seeing), by_seed(blanked)).values()])
    ends = interval(values)
    uses = None if ends is None else ends.low > margin or ends.high < -margin
    return Audit(uses, mean_of(list(values)).value, ends, values.size)


class HalfChoice(NamedTuple):
    """The option chosen on each half of the seeds, and its gains on the other half."""

    choices: tuple[Hashable, Hashable]  # by the even places, by the odd ones
    gains: dict[Any, float]  # chosen minus reference, by held-out seed

    @property
    def mean(self) -> float:
        """The mean gain; nan without data."""
        return float(np.mean(list(self.gains.values()))) if self.gains else math.nan


def half_choice(
    options: Mapping[Hashable, Mapping[Any, float]], reference: Mapping[Any, float]
) -> HalfChoice:
    """Choose the best option on half of the seeds, measure it on the other; both ways.

    The best of several options is good by chance alone; gains on seeds that had no
    part in the choice are judged like any others. Scores are by seed. Seeds are split
    alternately; only seeds with data for every option and the reference count.
    """
    if not options:
        raise ValueError("`options` must hold at least one option.")
    tables = [differences(scores, reference) for scores in options.values()]
    seeds = sorted(set.intersection(*map(set, tables)))
    if len(seeds) < 2:
        return HalfChoice((None, None), {})
    values = np.array([[table[seed] for table in tables] for seed in seeds])
    even, odd = (int(values[half::2].sum(axis=0).argmax()) for half in (0, 1))
    gains = {
        seed: float(row[even if place % 2 else odd])
        for place, (seed, row) in enumerate(zip(seeds, values, strict=True))
    }
    names = tuple(options)
    return HalfChoice((names[even], names[odd]), gains)
