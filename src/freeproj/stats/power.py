"""What a study can tell: the smallest effect it would find, and the seeds it needs.

Differences between paired seeds have standard deviation sd. With n seeds, m cells and
level α for the whole question, a cell is surely found if its p-value is below α/(2m)
(half of α goes to the pool, see `freeproj.stats.verdicts`), which happens with
probability `power` when its mean difference is about (t_{1-α/4m} + t_power) · sd/√n.

Equivalence is harder: if nothing differs, all of m intervals lie within ±margin with
probability `power` when margin is about (t_{1-α/2} + t_{1-(1-power)/2m}) · sd/√n.
"""

from __future__ import annotations

import math

from scipy.special import stdtrit

from freeproj.stats.intervals import FEWEST_SEEDS
from freeproj.stats.verdicts import LEVEL

__all__ = ["power_line", "seeds_needed", "smallest_effect", "smallest_margin"]

_MOST = 100_000  # seeds; more than that is never


def smallest_effect(
    n_seeds: int,
    sd: float | int = 1.0,
    n_cells: int = 1,
    power: float = 0.8,
    *,
    level: float = LEVEL,
) -> float:
    """Return the smallest mean difference found in one cell with this power.

    Infinite below three seeds, which get no interval.

    Args:
        sd: standard deviation of the paired differences; 1 makes it the unit.
        n_cells: how many cells the claim looks at.
    """
    share = level / (2 * n_cells) if n_cells > 1 else level
    return _reach(n_seeds, n_cells, power, share, power) * sd


def smallest_margin(
    n_seeds: int,
    sd: float | int = 1.0,
    n_cells: int = 1,
    power: float = 0.8,
    *,
    level: float = LEVEL,
) -> float:
    """Return the smallest margin within which all cells are shown to be the same.

    The power is that for cells that do not differ at all.
    """
    return _reach(n_seeds, n_cells, power, level, 1 - (1 - power) / (2 * n_cells)) * sd


def seeds_needed(
    effect: float,
    sd: float,
    n_cells: int = 1,
    power: float = 0.8,
    *,
    same: bool = False,
    level: float = LEVEL,
) -> int | None:
    """Return how many seeds find an effect, or with `same` show a margin to hold.

    None if not even a hundred thousand would do.
    """
    found = smallest_margin if same else smallest_effect
    if not effect > 0 or math.isnan(sd):
        return None
    low, high = FEWEST_SEEDS - 1, _MOST
    if not found(high, sd, n_cells, power, level=level) <= effect:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        enough = found(middle, sd, n_cells, power, level=level) <= effect
        low, high = (low, middle) if enough else (middle, high)
    return high


def power_line(n_seeds: int, n_cells: int, power: float = 0.8) -> str:
    """Return one line on what a study of so many seeds and cells can find."""
    seeds = "1 seed" if n_seeds == 1 else f"{n_seeds} seeds"
    cells = "1 comparison" if n_cells == 1 else f"{n_cells} comparisons"
    alone = smallest_effect(n_seeds, n_cells=n_cells, power=power)
    if math.isinf(alone):
        return (
            f"{seeds}, {cells}: too few seeds for a verdict; at least {FEWEST_SEEDS} "
            "paired seeds are needed."
        )
    return (
        f"{seeds}, {cells}: a difference of {alone:.2g} standard deviations (of the "
        f"paired differences) is found with {power:.0%} power."
    )


def _reach(
    n_seeds: int, n_cells: int, power: float, share: float, found: float
) -> float:
    """Return (t_{1-share/2} + t_found)/√n, infinite below three seeds."""
    if n_seeds < 0 or n_cells < 1:
        raise ValueError(
            "`n_seeds` must be at least 0 and `n_cells` at least 1, got "
            f"{n_seeds} and {n_cells}."
        )
    if not 0 < power < 1:
        raise ValueError(f"`power` must lie in (0, 1), got {power}.")
    if n_seeds < FEWEST_SEEDS:
        return math.inf
    quantiles = stdtrit(n_seeds - 1, [1 - share / 2, found])
    return float(quantiles.sum()) / math.sqrt(n_seeds)
