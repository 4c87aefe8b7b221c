"""No difference that matters: a mean within a margin that was stated beforehand.

"Not significant" is not "equal". Two one-sided t tests ask whether the mean difference
is above -margin and below +margin; both agree at 5 % exactly when the 90 % t interval
lies within ±margin.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from freeproj.stats.intervals import FEWEST_SEEDS, Interval, interval
from freeproj.stats.paired import BySeed, by_seed

__all__ = ["Equivalence", "equivalence"]


class Equivalence(NamedTuple):
    """Whether a mean difference lies within ±margin."""

    holds: bool  # at 5 %
    interval: Interval | None  # 90 %; None below three seeds
    margin: float | int
    p: float  # the larger of the two one-sided p-values; nan below three seeds


def equivalence(differences: BySeed, margin: float | int) -> Equivalence:
    """Test whether the mean of paired differences lies within ±margin."""
    if not margin > 0:
        raise ValueError(f"`margin` must be greater than 0, got {margin}.")
    values = np.array(list(by_seed(differences).values()))
    n = values.size
    if n < FEWEST_SEEDS:
        return Equivalence(False, None, margin, float("nan"))
    room = margin - abs(float(values.mean()))
    error = float(values.std(ddof=1)) / math.sqrt(n)
    with np.errstate(divide="ignore"):  # equal differences have no error
        p = float(stdtr(n - 1, -np.divide(room, error)))
    return Equivalence(p <= 0.05, interval(values, 0.9, method="t"), margin, p)
