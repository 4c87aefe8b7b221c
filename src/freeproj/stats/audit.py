"""Does the agent look? Compare returns with the observation and without it.

Every evaluation is also played with the observation blanked. A cell whose return does
not depend on the observation says nothing about projections and gets no verdict.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from freeproj.stats.intervals import Interval, interval
from freeproj.stats.paired import BySeed, by_seed, differences

__all__ = ["Audit", "audit"]


class Audit(NamedTuple):
    """Return seeing minus blanked, over pairs of seeds (or one agent's episodes)."""

    uses_observation: bool | None  # None: too few pairs to tell
    difference: float  # nan without pairs
    interval: Interval | None  # 95 %, of the difference
    n: int


def audit(
    seeing: BySeed,
    blanked: BySeed,
    margin: float | int = 0.0,
) -> Audit:
    """Compare returns with and without the observation, in pairs.

    The agent uses its observation if the interval of the mean difference lies outside
    ±margin, on either side: looking may also hurt.

    Args:
        seeing: returns by seed, or a row of returns paired by position.
        margin: differences up to here count as none, for instance 2 % of the headroom.
    """
    if margin < 0:
        raise ValueError(f"`margin` must be at least 0, got {margin}.")
    found = differences(by_seed(seeing), by_seed(blanked))
    values = np.array(list(found.values()))
    ends = interval(values)
    uses = None if ends is None else ends.low > margin or ends.high < -margin
    mean = float(values.mean()) if values.size else float("nan")
    return Audit(uses, mean, ends, values.size)
