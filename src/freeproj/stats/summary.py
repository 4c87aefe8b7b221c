"""Over seeds: mean, standard deviation, median, interquartile mean, intervals.

Seeds are the unit; tasks are the strata. Resampling draws seeds with replacement within
each task, never across tasks, and never draws tasks. An interval needs two seeds in
every task: of one seed nothing can be resampled, and the answer is nan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

__all__ = [
    "STATISTICS",
    "Interval",
    "Strata",
    "Summary",
    "bootstrap_interval",
    "iqm",
    "percentile_interval",
    "resample",
    "statistic_of",
    "strata_of",
    "summarise",
]

# Scores by task, or a sequence of them, one row of seeds each; or one row alone.
Strata = Mapping[str, Any] | Sequence[Any] | np.ndarray


class Interval(NamedTuple):
    """Both ends; nan where nothing could be resampled."""

    low: float
    high: float


class Summary(NamedTuple):
    """What the seeds of one cell say together."""

    n: int  # seeds with data: all the numbers below are theirs
    n_missing: int  # seeds without
    mean: float
    std: float  # with n - 1; nan for one seed
    median: float
    iqm: float
    interval: Interval  # 95 %, of the IQM


def iqm(values: ArrayLike) -> Float[np.ndarray, "..."] | np.floating:
    """Interquartile mean along the last axis: without the ⌊n/4⌋ smallest and largest.

    A row with nan in it has no order and gives nan; `summarise` leaves nan out.
    """
    values = np.sort(np.asarray(values, float), axis=-1)
    n = values.shape[-1]
    middle = values[..., n // 4 : n - n // 4].mean(axis=-1)
    return np.where(np.isnan(values[..., -1]), np.nan, middle)[()]


# Each takes a list of arrays (..., seeds), one per task, and keeps the leading axes.
STATISTICS: dict[str, Callable[[list[np.ndarray]], Any]] = {
    "mean": lambda strata: np.mean([s.mean(axis=-1) for s in strata], axis=0),
    "median": lambda strata: np.median(np.concatenate(strata, axis=-1), axis=-1),
    "iqm": lambda strata: iqm(np.concatenate(strata, axis=-1)),
    "task-median": lambda strata: np.median([s.mean(axis=-1) for s in strata], axis=0),
}


def summarise(
    values: ArrayLike, *, n_resamples: int = 10_000, seed: int = 0
) -> Summary:
    """Summarises one cell; seeds whose value is nan are counted and left out."""
    values = np.asarray(values, float)
    (seen,) = strata_of(values)
    n, nan = seen.size, float("nan")
    if n == 0:
        return Summary(0, values.size, nan, nan, nan, nan, Interval(nan, nan))
    return Summary(
        n=n,
        n_missing=values.size - n,
        mean=float(seen.mean()),
        std=float(seen.std(ddof=1)) if n > 1 else nan,
        median=float(np.median(seen)),
        iqm=float(iqm(seen)),
        interval=bootstrap_interval(seen, "iqm", n_resamples=n_resamples, seed=seed),
    )


def statistic_of(scores: Strata, statistic: str = "iqm") -> float:
    """Returns one of `STATISTICS` over tasks and seeds; nan if a task has no data.

    "mean" is the mean of the tasks' means, "median" and "iqm" pool all seeds,
    "task-median" is the median of the tasks' means. Returns of different tasks are
    comparable only after scaling, for instance (x - chance) / (ceiling - chance).
    """
    strata = strata_of(scores)
    if not all(stratum.size for stratum in strata):
        return float("nan")
    return float(_find(statistic)(strata))


def bootstrap_interval(
    scores: Strata,
    statistic: str = "iqm",
    *,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Percentile interval of a statistic by the stratified bootstrap over seeds."""
    strata = strata_of(scores)
    if min(stratum.size for stratum in strata) < 2:
        return Interval(float("nan"), float("nan"))
    rng = np.random.default_rng(seed)
    drawn = _find(statistic)([resample(rng, s, n_resamples) for s in strata])
    low, high = percentile_interval(drawn, confidence)
    return Interval(float(low), float(high))


def strata_of(scores: Strata) -> list[Float[np.ndarray, " n_seeds"]]:
    """Returns one row of seeds per task, without nan; a flat array is one task."""
    if isinstance(scores, Mapping):
        rows = list(scores.values())
    elif np.ndim(scores[0] if len(scores) else 0.0) == 0:
        rows = [scores]
    else:
        rows = list(scores)
    strata = [np.asarray(row, float) for row in rows]
    for stratum in strata:
        if stratum.ndim != 1:
            raise ValueError(
                "`scores` must hold one row of seeds per task, got an entry of shape "
                f"{stratum.shape}; for a matrix of seeds x tasks pass its transpose."
            )
    return [stratum[~np.isnan(stratum)] for stratum in strata]


def resample(
    rng: np.random.Generator, values: Float[np.ndarray, " n"], n_resamples: int
) -> Float[np.ndarray, "n_resamples n"]:
    """Draws n seeds with replacement, `n_resamples` times."""
    if n_resamples < 1:
        raise ValueError(f"`n_resamples` must be at least 1, got {n_resamples}.")
    return values[rng.integers(values.size, size=(n_resamples, values.size))]


def percentile_interval(
    drawn: Float[np.ndarray, "n_resamples *shape"],  # noqa: F821
    confidence: float,
) -> Float[np.ndarray, "2 *shape"]:  # noqa: F821
    """Returns the interval that leaves (1 - confidence)/2 outside at either end."""
    if not 0 < confidence < 1:
        raise ValueError(f"`confidence` must lie in (0, 1), got {confidence}.")
    tail = (1 - confidence) / 2
    return np.quantile(drawn, [tail, 1 - tail], axis=0)


def _find(statistic: str) -> Callable[[list[np.ndarray]], Any]:
    if statistic not in STATISTICS:
        raise ValueError(f"No statistic {statistic!r}. Known: {', '.join(STATISTICS)}.")
    return STATISTICS[statistic]
