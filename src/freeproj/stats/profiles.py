"""Whole distributions of scores: profiles, and how often one method beats another.

A performance profile is the share of runs above each threshold. The probability of
improvement is that of a run of one method beating a run of the other in the same cell.
Both average over cells. (Agarwal et al., 2021.)
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.special import ndtri

from freeproj.stats.intervals import Interval, interval
from freeproj.stats.paired import BySeed, Cell, by_seed

__all__ = [
    "Improvement",
    "Profile",
    "performance_profile",
    "probability_of_improvement",
]


class Profile(NamedTuple):
    """Share of runs above each threshold, with its pointwise band."""

    thresholds: Float[np.ndarray, " thresholds"]
    share: Float[np.ndarray, " thresholds"]
    low: Float[np.ndarray, " thresholds"]
    high: Float[np.ndarray, " thresholds"]


class Improvement(NamedTuple):
    """P(first > second) for one run of each, ties counted by half."""

    probability: float  # nan without data
    interval: Interval | None  # 95 %
    n_cells: int


def performance_profile(
    cells: Mapping[Cell, BySeed], thresholds: ArrayLike, level: float = 0.95
) -> Profile:
    """Return the share of runs whose score exceeds each threshold.

    The band is Wilson's, for runs that are independent; cells count equally.
    """
    levels = np.asarray(thresholds, float)
    if levels.ndim != 1:
        raise ValueError(f"`thresholds` must be a row, got shape {levels.shape}.")
    rows = [np.array(list(by_seed(data).values())) for data in cells.values()]
    rows = [row for row in rows if row.size]
    if not rows:
        unknown = np.full(levels.size, np.nan)
        return Profile(levels, unknown, unknown, unknown)
    share = np.mean([(row[:, None] > levels).mean(axis=0) for row in rows], axis=0)
    n = len(rows) ** 2 / sum(1 / row.size for row in rows)  # runs, if cells were equal
    z = float(ndtri((1 + level) / 2))
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = np.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2) * z / (1 + z**2 / n)
    low, high = np.maximum(0, centre - reach), np.minimum(1, centre + reach)
    return Profile(levels, share, np.minimum(low, share), np.maximum(high, share))


def probability_of_improvement(
    first: Mapping[Cell, Mapping], second: Mapping[Cell, Mapping]
) -> Improvement:
    """Return how likely a run of `first` beats one of `second` in the same cell.

    The interval is Student's t on jackknife pseudo-values: each seed is left out of
    both methods and all cells at once. It describes; `verdict` decides.
    """
    shared = [cell for cell in first if cell in second]
    pairs = {cell: (by_seed(first[cell]), by_seed(second[cell])) for cell in shared}
    pairs = {cell: both for cell, both in pairs.items() if all(both)}
    if not pairs:
        return Improvement(float("nan"), None, 0)
    probability = _probability(list(pairs.values()))
    ends = _jackknife(list(pairs.values()), probability)
    return Improvement(probability, ends, len(pairs))


def _probability(pairs: list[tuple[dict, dict]]) -> float:
    """Mann and Whitney's U over n·m, ties by half, averaged over cells."""
    found = []
    for first, second in pairs:
        x, y = np.array([*first.values()])[:, None], np.array([*second.values()])
        found.append(float(((x > y) + 0.5 * (x == y)).mean()))
    return float(np.mean(found))


def _jackknife(pairs: list[tuple[dict, dict]], probability: float) -> Interval | None:
    seeds = sorted({seed for both in pairs for side in both for seed in side})
    rest = [
        [(_without(seed, first), _without(seed, second)) for first, second in pairs]
        for seed in seeds
    ]
    if not all(side for each in rest for both in each for side in both):
        return None  # a cell rests on one seed
    n = len(seeds)
    pseudo = [n * probability - (n - 1) * _probability(each) for each in rest]
    ends = interval(pseudo, method="t")
    if ends is None:
        return None
    return ends._replace(low=max(0.0, ends.low), high=min(1.0, ends.high))


def _without(seed: Hashable, scores: dict) -> dict:
    return {key: value for key, value in scores.items() if key != seed}
