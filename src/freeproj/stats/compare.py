"""Two methods against each other, and one method against a scale.

`probability_of_improvement` and `performance_profile` compare groups of seeds task by
task; `compare_pairs` uses that two methods ran with the same seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from freeproj.stats.seeds import SeedScore, best_lengths, group_by_cell, seed_scores
from freeproj.stats.summary import (
    Interval,
    Strata,
    bootstrap_interval,
    percentile_interval,
    resample,
    strata_of,
)

__all__ = [
    "Improvement",
    "PairedComparison",
    "Profile",
    "compare_free_with_plain",
    "compare_pairs",
    "performance_profile",
    "probability_of_improvement",
]

_EXACT_PAIRS = 16  # up to here all 2^n sign flips are tried
_DRAWN_FLIPS = 2**16


class Improvement(NamedTuple):
    """P(x > y) for one seed of each, ties by half, averaged over tasks."""

    probability: float
    interval: Interval


class PairedComparison(NamedTuple):
    """Differences first - second, seed by seed."""

    n: int  # pairs with data on both sides
    n_unpaired: int  # seeds that only one side has, or has data for
    mean_difference: float
    interval: Interval  # 95 %, of the mean difference
    n_better: int
    n_equal: int
    n_worse: int
    p_value: float  # two-sided, by flipping signs; nan without pairs


class Profile(NamedTuple):
    """Fraction of runs above each threshold, averaged over tasks, with its band."""

    thresholds: Float[np.ndarray, " n_thresholds"]
    fraction: Float[np.ndarray, " n_thresholds"]
    low: Float[np.ndarray, " n_thresholds"]
    high: Float[np.ndarray, " n_thresholds"]


def probability_of_improvement(
    first: Strata,
    second: Strata,
    *,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Improvement:
    """Tells how likely a seed of `first` beats one of `second` on the same task.

    Both sides are resampled independently. Mappings are matched by task name.
    """
    pairs = _matched(first, second)
    if not all(x.size and y.size for x, y in pairs):
        return Improvement(float("nan"), Interval(float("nan"), float("nan")))
    probability = float(np.mean([_beats(x, y) for x, y in pairs]))
    if min(min(x.size, y.size) for x, y in pairs) < 2:
        return Improvement(probability, Interval(float("nan"), float("nan")))
    rng = np.random.default_rng(seed)
    drawn = np.mean(
        [
            _beats(resample(rng, x, n_resamples), resample(rng, y, n_resamples))
            for x, y in pairs
        ],
        axis=0,
    )
    low, high = percentile_interval(drawn, confidence)
    return Improvement(probability, Interval(float(low), float(high)))


def compare_pairs(
    first: Mapping[int, float], second: Mapping[int, float], *, seed: int = 0
) -> PairedComparison:
    """Compares two methods by the seeds that both have; the mappings are seed: score.

    The p-value is that of the mean difference under random signs: all 2^n of them for
    up to 16 pairs, 65536 drawn ones beyond. With n pairs it is at least 2^(1-n).
    """
    seeds = first.keys() | second.keys()
    nan = float("nan")
    differences = np.array([first.get(s, nan) - second.get(s, nan) for s in seeds])
    differences = np.sort(differences[~np.isnan(differences)])
    n = differences.size
    return PairedComparison(
        n=n,
        n_unpaired=len(seeds) - n,
        mean_difference=float(differences.mean()) if n else nan,
        interval=bootstrap_interval(differences, "mean", seed=seed),
        n_better=int((differences > 0).sum()),
        n_equal=int((differences == 0).sum()),
        n_worse=int((differences < 0).sum()),
        p_value=_sign_flip_p_value(differences, seed) if n else nan,
    )


def compare_free_with_plain(
    table: Any,
    *,
    score: str = "mmer",
    by: str = "test-mmer",
    protocol: str = "projection",
    counting: str = "window",
) -> dict[tuple[str, str], PairedComparison]:
    """Compares FRP at its best ℓ > 1 with RP (ℓ = 1), per (task, memory), by seed.

    With `by="test-mmer"`, the paper's choice, FRP is the luckiest of several lengths;
    the criteria on training returns do not favour it.
    """
    if score not in ("mmer", "raw"):
        raise ValueError(f"`score` must be mmer or raw, got {score!r}.")
    same = {"protocol": protocol, "counting": counting}
    cells = group_by_cell(seed_scores(table, split="test", **same))
    choices = best_lengths(table, by=by, only_free=True, **same)
    comparisons = {}
    for pair, choice in choices.items():
        plain = [cell for cell in cells if cell[:2] == pair and cell.length == 1]
        if len(plain) > 1:
            raise ValueError(
                f"{pair[0]} with {pair[1]} has RP runs of {len(plain)} values of "
                "`n_generators`; keep one of them."
            )
        if plain and choice.best is not None and choice.best in cells:
            comparisons[pair] = compare_pairs(
                _by_seed(cells[choice.best], score), _by_seed(cells[plain[0]], score)
            )
    return comparisons


def performance_profile(
    scores: Strata,
    thresholds: ArrayLike,
    *,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Profile:
    """Returns the fraction of runs whose score exceeds each threshold, with a band."""
    strata, levels = strata_of(scores), np.asarray(thresholds, float)
    if levels.ndim != 1:
        raise ValueError(f"`thresholds` must be a row, got shape {levels.shape}.")
    unknown = np.full(levels.size, np.nan)
    if not all(stratum.size for stratum in strata):
        return Profile(levels, unknown, unknown, unknown)
    fraction = np.mean([_above(stratum, levels) for stratum in strata], axis=0)
    if min(stratum.size for stratum in strata) < 2:
        return Profile(levels, fraction, unknown, unknown)
    rng = np.random.default_rng(seed)
    drawn = [_above(resample(rng, each, n_resamples), levels) for each in strata]
    low, high = percentile_interval(np.mean(drawn, axis=0), confidence)
    return Profile(levels, fraction, low, high)


def _matched(first: Strata, second: Strata) -> list[tuple[np.ndarray, np.ndarray]]:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        if first.keys() != second.keys():
            odd = ", ".join(sorted(first.keys() ^ second.keys()))
            raise ValueError(f"Both sides must have the same tasks; one lacks {odd}.")
        second = {task: second[task] for task in first}
    pairs = strata_of(first), strata_of(second)
    if len(pairs[0]) != len(pairs[1]):
        raise ValueError(
            "Both sides must have the same tasks, got "
            f"{len(pairs[0])} and {len(pairs[1])} of them."
        )
    return list(zip(*pairs, strict=True))


def _beats(
    x: Float[np.ndarray, "*batch n"], y: Float[np.ndarray, "*batch m"]
) -> Float[np.ndarray, "*batch"] | np.floating:
    """Mann and Whitney's U over n·m: the fraction of pairs with x > y, ties by half."""
    x, y = x[..., :, None], y[..., None, :]
    return ((x > y) + 0.5 * (x == y)).mean(axis=(-2, -1))


def _above(
    values: Float[np.ndarray, "*batch n"], levels: Float[np.ndarray, " n_thresholds"]
) -> Float[np.ndarray, "*batch n_thresholds"]:
    # One threshold at a time: the cube of all comparisons would be large.
    return np.stack([(values > level).mean(axis=-1) for level in levels], axis=-1)


def _by_seed(scores: list[SeedScore], score: str) -> dict[int, float]:
    return {each.seed: getattr(each, score) for each in scores}


def _sign_flip_p_value(differences: Float[np.ndarray, " n"], seed: int) -> float:
    n = differences.size
    if n <= _EXACT_PAIRS:
        bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    else:
        bits = np.random.default_rng(seed).integers(2, size=(_DRAWN_FLIPS, n))
        bits[0] = 0  # the data themselves are one of the flips
    sums = np.abs((1 - 2 * bits) @ differences)
    # Sums that differ by rounding alone are equal.
    reached = np.abs(differences.sum()) * (1 - 1e-12)
    return float((sums >= reached).mean())
