"""Intervals over seeds: of a mean, of a curve; and what seeds say together.

Below ten seeds an interval is Student's t; from ten on it is the studentised bootstrap,
which also follows skewed scores. Fewer than three seeds get no interval: show points.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from freeproj.storage.checks import one_of, within

__all__ = ["FEWEST_SEEDS", "METHODS", "Band", "Interval", "Summary", "band", "interval"]
__all__ += ["iqm", "summarise"]

FEWEST_SEEDS = 3  # below: points, no interval
METHODS = ("t", "studentised bootstrap")

_BOOTSTRAP_SEEDS = 10
_RESAMPLES = 5000


class Interval(NamedTuple):
    """Both ends, how many seeds they rest on, and how they were found."""

    low: float
    high: float
    n: int
    method: str  # one of `METHODS`

    def __contains__(self, value: object) -> bool:
        return bool(isinstance(value, int | float) and self.low <= value <= self.high)


class Summary(NamedTuple):
    """What the seeds of one cell say together."""

    n: int  # seeds with data: all the numbers below are theirs
    n_missing: int  # seeds without data
    mean: float
    std: float  # with n - 1; nan for one seed
    median: float
    iqm: float
    interval: Interval | None  # 95 %, of the mean

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval; nan if there is none."""
        return self.interval[:2] if self.interval else (math.nan, math.nan)


class Band(NamedTuple):
    """The mean over seeds at each point of a curve, with its interval."""

    mean: Float[np.ndarray, " points"]  # nan where no seed has data
    low: Float[np.ndarray, " points"]  # nan below three seeds
    high: Float[np.ndarray, " points"]
    n_seeds: Int[np.ndarray, " points"]


def interval(
    values: ArrayLike, level: float = 0.95, *, method: str | None = None, seed: int = 0
) -> Interval | None:
    """Return the interval of the mean of independent seeds.

    Seeds without data (nan) are left out. The method is one of `METHODS`, by default
    the one that suits the number of seeds. The bootstrap (whose draws have a seed) is
    used for levels up to 95 %; further out its tails rest on too few resamples.
    """
    within("(0, 1)", level=level)
    if method is not None:
        one_of(METHODS, method=method)
    seen = _with_data(values)
    n = seen.size
    if n < FEWEST_SEEDS:
        return None
    centre, error = _estimate(seen)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method is None:
        method = METHODS[n >= _BOOTSTRAP_SEEDS and level <= 0.95]
    if method == "t" or error == 0:
        quantiles = stdtrit(n - 1, tails)
    else:
        quantiles = np.quantile(_resampled(seen, seed), tails)
    low, high = centre - quantiles[::-1] * error
    return Interval(float(low), float(high), n, method)


def iqm(values: ArrayLike) -> Float[np.ndarray, "..."] | np.floating:
    """Interquartile mean along the last axis: without the ⌊n/4⌋ smallest and largest.

    A row with nan in it has no order and gives nan; `summarise` leaves nan out.
    """
    values = np.sort(np.asarray(values, float), axis=-1)
    n = values.shape[-1]
    middle = values[..., n // 4 : n - n // 4].mean(axis=-1)
    return np.where(np.isnan(values[..., -1]), np.nan, middle)[()]


def summarise(values: ArrayLike) -> Summary:
    """Summarise one cell; seeds whose value is nan are counted and left out."""
    seen, n_all = _with_data(values), np.size(values)
    if not seen.size:
        return Summary(0, n_all, math.nan, math.nan, math.nan, math.nan, None)
    std = float(seen.std(ddof=1)) if seen.size > 1 else math.nan
    middle = float(seen.mean()), std, float(np.median(seen)), float(iqm(seen))
    return Summary(seen.size, n_all - seen.size, *middle, interval(seen))


def band(values: Float[np.ndarray, "seeds points"], level: float = 0.95) -> Band:
    """Return the mean over seeds with a t interval at each point; nan is left out.

    The band is pointwise: each interval covers the mean at its point, not the curve.
    """
    values = np.asarray(values, float)
    seen = ~np.isnan(values)
    n = seen.sum(axis=0)
    total = np.where(seen, values, 0).sum(axis=0)
    mean = np.where(n > 0, total / np.maximum(n, 1), np.nan)
    squares = np.where(seen, values - mean, 0) ** 2
    enough = n >= FEWEST_SEEDS
    freedom = np.where(enough, n - 1, 1)
    error = np.sqrt(squares.sum(axis=0) / freedom / np.maximum(n, 1))
    reach = np.where(enough, stdtrit(freedom, (1 + level) / 2) * error, np.nan)
    return Band(mean, mean - reach, mean + reach, n)


def _with_data(values: ArrayLike) -> Float[np.ndarray, " n"]:
    values = np.asarray(values, float)
    if values.ndim != 1:
        raise ValueError(
            f"`values` must be one row, a number per seed, got shape {values.shape}."
        )
    return values[~np.isnan(values)]


def _estimate(values: Float[np.ndarray, "*batch n"]) -> tuple:
    """Return the mean along the last axis and its standard error."""
    spread = values.std(axis=-1, ddof=1)
    return values.mean(axis=-1), spread / np.sqrt(values.shape[-1])


def _resampled(
    values: Float[np.ndarray, " n"], seed: int
) -> Float[np.ndarray, " draws"]:
    """Draw the studentised error (m* - m) / s*, seeds being drawn with replacement."""
    n = values.size
    draws = np.random.default_rng(seed).integers(n, size=(_RESAMPLES, n))
    centres, errors = _estimate(values[draws])
    usable = errors > 0  # a draw of equal values has no scale
    return (centres[usable] - _estimate(values)[0]) / errors[usable]
