"""What a study can tell: the smallest effect it would find, and the seeds it needs.

Differences between paired seeds have standard deviation sd. With n seeds, m cells and
level α for the whole question, a cell is surely found if its p-value is below α/(2m)
(half of α goes to the pool, see `freeproj.stats.verdicts`), which happens with
probability `power` when its mean difference is about (t_{1-α/4m} + t_power) · sd/√n.

Equivalence is harder: if nothing differs, all of m intervals lie within ±margin with
probability `power` when margin is about (t_{1-α/2} + t_{1-(1-power)/2m}) · sd/√n.
"""

import bisect
import math
from typing import Any

from scipy.special import stdtrit

from freeproj.stats.intervals import FEWEST_SEEDS
from freeproj.stats.verdicts import LEVEL
from freeproj.storage.checks import at_least, within

__all__ = ["power_line", "seeds_needed", "smallest_effect"]

_MOST = 100_000  # seeds; more than that is never


def smallest_effect(
    n_seeds: int,
    sd: float | int = 1.0,
    n_cells: int = 1,
    power: float = 0.8,
    *,
    same: bool = False,
    level: float = LEVEL,
) -> float:
    """Return the smallest mean difference found in one cell with this power.

    With `same`, the smallest margin within which all cells are shown to be the same,
    if they do not differ at all. Infinite below three seeds, which get no interval.
    The unit is `sd`, the standard deviation of the paired differences.
    """
    at_least(0, n_seeds=n_seeds)
    at_least(1, n_cells=n_cells)
    within("(0, 1)", power=power)
    if n_seeds < FEWEST_SEEDS:
        return math.inf
    share, found = level / (2 * n_cells) if n_cells > 1 else level, power
    if same:
        share, found = level, 1 - (1 - power) / (2 * n_cells)
    quantiles = stdtrit(n_seeds - 1, [1 - share / 2, found])
    return float(quantiles.sum()) / math.sqrt(n_seeds) * sd


def seeds_needed(effect: float, sd: float, n_cells: int = 1, **how: Any) -> int | None:
    """Return how many seeds have this `smallest_effect`; None if 100,000 have not."""
    if not effect > 0 or math.isnan(sd):
        return None

    def enough(n: int) -> bool:
        return smallest_effect(n, sd, n_cells, **how) <= effect

    n = bisect.bisect_left(range(_MOST + 1), True, FEWEST_SEEDS, key=enough)
    return n if n <= _MOST else None


def power_line(n_seeds: int, n_cells: int, power: float = 0.8) -> str:
    """Return one line on what a study of so many seeds and cells can find."""
    seeds = f"{n_seeds} seed" + "s" * (n_seeds != 1)
    start = f"{seeds}, {n_cells} comparison" + "s" * (n_cells != 1)
    least = smallest_effect(n_seeds, n_cells=n_cells, power=power)
    if math.isinf(least):
        needed = f"at least {FEWEST_SEEDS} paired seeds are needed"
        return f"{start}: too few seeds for a verdict; {needed}."
    found = f"a difference of {least:.2g} standard deviations (of the paired"
    return f"{start}: {found} differences) is found with {power:.0%} power."
