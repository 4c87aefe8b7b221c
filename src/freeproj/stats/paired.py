"""Two methods run with the same seeds: differences, and tests by flipping signs.

If two methods are equally good, a seed's difference is as likely to be d as -d. A test
statistic is therefore compared with its values under all 2^n sign patterns (exact up to
2^14 patterns, otherwise that many random ones). Cells that share seeds are *not*
independent: the same seed also starts with the same weights in every cell. So a seed's
differences are flipped together in all cells. That is valid whatever the correlation.

A cell is anything hashable: a tuple of axis values, a task. Its data are a mapping from
seed to number, or a row whose position is the seed.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

from freeproj.stats.intervals import FEWEST_SEEDS, Interval, interval

__all__ = [
    "BySeed",
    "Cell",
    "Flipped",
    "Paired",
    "Pooled",
    "by_seed",
    "differences",
    "fewest_pairs",
    "flip_signs",
    "paired",
    "pooled_sign_flip",
    "sign_flip",
    "sign_patterns",
    "tail",
]

_PATTERNS = 2**14

Cell = Hashable
BySeed = Mapping[Any, float] | np.ndarray | list | tuple


class Paired(NamedTuple):
    """First minus second, over the seeds that both have."""

    mean: float  # nan without pairs
    interval: Interval | None  # 95 %; None below three pairs
    p: float  # two-sided, by sign flips; nan without pairs
    n: int
    seeds: tuple  # of the pairs
    n_unpaired: int  # seeds that only one side has data for


class Pooled(NamedTuple):
    """All cells together: is there a difference in one direction?"""

    mean: float  # mean over cells of the cells' mean differences, in their unit
    effect: float  # the same with each cell's differences divided by their size
    p: float  # two-sided; nan without data
    interval: Interval | None  # 95 %, of `mean`, seeds being the unit
    n_cells: int
    n_seeds: int


class Flipped(NamedTuple):
    """Differences of all cells on a common set of seeds, and their flipped sums."""

    cells: tuple
    seeds: tuple
    values: Float[np.ndarray, "seeds cells"]  # nan where a cell lacks the seed
    scores: Float[np.ndarray, "patterns cells"]  # Σ ±d / √Σd²; the first as observed

    def p_values(self) -> dict[Cell, float]:
        """Return the two-sided p-value of each cell by itself."""
        sizes = np.abs(self.scores)
        return {cell: tail(sizes[:, i]) for i, cell in enumerate(self.cells)}


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


def paired(first: Mapping[Any, float], second: Mapping[Any, float]) -> Paired:
    """Compare two methods by the seeds that both have.

    With n pairs the p-value is at least 2^(1-n): fewer than six pairs never reach 5 %.
    """
    found = sign_flip(differences(first, second))
    n_all = len(first.keys() | second.keys())
    return found._replace(n_unpaired=n_all - found.n)


def sign_flip(data: BySeed) -> Paired:
    """Test by sign flips whether paired differences have mean zero."""
    found = by_seed(data)
    values = np.array(list(found.values()))
    if not found:
        return Paired(float("nan"), None, float("nan"), 0, (), 0)
    p = flip_signs({"": found}).p_values()[""]
    return Paired(
        float(values.mean()), interval(values), p, len(found), tuple(found), 0
    )


def pooled_sign_flip(cells: Mapping[Cell, BySeed] | Flipped) -> Pooled:
    """Test all cells at once: is there a common direction?

    The statistic is the sum over cells of Σd / √Σd², so that no cell's unit counts more
    than another's. It detects an effect that all cells share; effects of opposite sign
    cancel.
    """
    flipped = cells if isinstance(cells, Flipped) else flip_signs(cells)
    if not flipped.cells:
        nan = float("nan")
        return Pooled(nan, nan, nan, None, 0, 0)
    total = flipped.scores.sum(axis=1)
    means = np.nanmean(flipped.values, axis=0)
    sizes = np.sqrt(np.nanmean(flipped.values**2, axis=0))
    scaled = np.divide(means, sizes, out=np.zeros_like(means), where=sizes > 0)
    return Pooled(
        mean=float(means.mean()),
        effect=float(scaled.mean()),
        p=tail(np.abs(total)),
        interval=_pooled_interval(flipped.values),
        n_cells=len(flipped.cells),
        n_seeds=len(flipped.seeds),
    )


def flip_signs(cells: Mapping[Cell, BySeed]) -> Flipped:
    """Flip each seed's differences, together in all cells, and sum them per cell.

    Cells without data are left out.
    """
    tables = {cell: by_seed(data) for cell, data in cells.items()}
    tables = {cell: table for cell, table in tables.items() if table}
    seeds = sorted({seed for table in tables.values() for seed in table})
    nan = float("nan")
    rows = [[table.get(seed, nan) for table in tables.values()] for seed in seeds]
    values = np.array(rows, float).reshape(len(seeds), len(tables))
    sizes = np.sqrt(np.nansum(values**2, axis=0))
    # Cells whose differences are all zero stay at zero under every pattern.
    scaled = np.nan_to_num(values) / np.where(sizes > 0, sizes, 1)
    scores = sign_patterns(len(seeds)) @ scaled
    return Flipped(tuple(tables), tuple(seeds), values, scores)


def sign_patterns(n: int, seed: int = 0) -> Float[np.ndarray, "patterns n"]:
    """Return sign patterns of n seeds, the one that flips nothing first.

    All of them up to a common sign (tests are two-sided) where there are at most 2^14,
    otherwise that many drawn at random.
    """
    if n and 2 ** (n - 1) <= _PATTERNS:
        bits = (np.arange(2 ** (n - 1))[:, None] >> np.arange(n)) & 1
    else:
        bits = np.random.default_rng(seed).integers(2, size=(_PATTERNS, n))
        bits[0] = 0  # the data themselves are one of the patterns
    return 1.0 - 2.0 * bits


def fewest_pairs(level: float) -> int:
    """Return the fewest pairs with which a sign-flip p-value can reach a level."""
    return 1 + math.ceil(-math.log2(level))


def tail(sizes: Float[np.ndarray, " patterns"]) -> float:
    """Return the share of patterns at least as large as the first, the observed one."""
    # Sums that differ by rounding alone are equal.
    return float((sizes >= sizes[0] * (1 - 1e-9)).mean())


def _pooled_interval(values: Float[np.ndarray, "seeds cells"]) -> Interval | None:
    """t interval of the mean over cells; a seed's deviations are added over its cells.

    With the same seeds in every cell this is the t interval of the seeds' means; with
    different ones the variance is Σ s²/n over cells. The degrees of freedom are those
    of the smallest cell.
    """
    n = (~np.isnan(values)).sum(axis=0)
    if n.min() < FEWEST_SEEDS:
        return None
    means = np.nanmean(values, axis=0)
    shares = np.nan_to_num(values - means) / np.sqrt(n * (n - 1)) / len(n)
    error = math.sqrt(float((shares.sum(axis=1) ** 2).sum()))
    reach = float(stdtrit(n.min() - 1, 0.975)) * error
    centre = float(means.mean())
    return Interval(centre - reach, centre + reach, len(values), "t")
