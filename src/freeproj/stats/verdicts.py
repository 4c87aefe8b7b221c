"""Verdicts: the one rule by which data decide a question.

A question expects the differences of some cells to be more than zero, less than zero,
or the same up to a margin. Every cell has a mean difference over paired seeds, and all
cells together have one more, the pool (the mean over cells). Each of these means has
one t interval, and the interval decides:

    more   above zero: holds         below zero: does not hold
    less   below zero: holds         above zero: does not hold
    same   within ±margin: holds     beyond the margin on one side: does not hold

Otherwise the data cannot tell. P-values and levels are corrected so that anything said
about one question is wrong in at most 5 % of studies. Half of that goes to the pool and
half to the cells, by Holm; if one half decides, it is passed on to the other. With h
Holm's p-value of a cell and q that of the pool, the corrected p-values are

    cell:  min(2h, max(h, 2q))          pool:  min(2q, max(q, 2 max h))

(a single cell is its own pool, with all of the 5 %). Where data were judged k times
while they came in, every p-value is multiplied by k first. The interval of a mean with
p-value p, corrected p*, has level 1 - 0.05 p/p*: it decides exactly if p* ≤ 0.05.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from freeproj.stats.intervals import FEWEST_SEEDS, Interval
from freeproj.stats.paired import BySeed, Cell, Mean, mean_of, pooled_mean
from freeproj.storage.checks import at_least, one_of

__all__ = ["EXPECTS", "LEVEL", "Judged", "Outcome", "Verdict", "combine", "holm"]
__all__ += ["rule_text", "verdict"]

LEVEL = 0.05  # how often a statement about one question may be wrong
EXPECTS = ("more", "less", "same")


class Outcome(StrEnum):
    """What may be said."""

    HOLDS = "holds"
    FAILS = "does not hold"
    OPEN = "cannot tell"


@dataclass(frozen=True)
class Judged:
    """One mean, and what its interval decides."""

    outcome: Outcome
    mean: float  # nan without pairs
    interval: Interval | None  # corrected; it decides. None below three seeds
    p: float  # corrected, against the nearest threshold; nan below three seeds
    n: int  # pairs of seeds
    level: float  # of the interval

    @property
    def reason(self) -> str:
        """How much this rests on, in one sentence."""
        seeds = f"{self.n} seed pair" + "s" * (self.n != 1)
        if self.n == 0:
            return "No seed pairs with data."
        if self.n < FEWEST_SEEDS:
            return f"Only {seeds}; at least {FEWEST_SEEDS} are needed for a verdict."
        return f"{seeds}, p = {self.p:.2g} (corrected)."


@dataclass(frozen=True)
class Verdict:
    """A question over many cells."""

    outcome: Outcome
    pooled: Judged
    cells: dict[Cell, Judged]
    left_out: tuple[Cell, ...] = ()


def verdict(
    cells: Mapping[Cell, BySeed],
    expects: str = "more",
    margin: float = 0.0,
    *,
    threshold: float = 0.0,
    looks: int = 1,
    left_out: Collection[Cell] = (),
    pool: bool = True,
) -> Verdict:
    """Judge whether the differences of all cells are as expected.

    It holds if the pool says so (for `same`: if every cell does) or every cell does,
    and no cell says the opposite. It does not hold if the pool or any cell says so.

    Args:
        cells: differences of paired seeds, by cell.
        expects: one of `EXPECTS`.
        margin: for `same`: differences up to here do not matter; stated beforehand.
        threshold: for `more` and `less`: what stands for zero.
        looks: how often the data were judged while they came in, this time included.
        left_out: cells that are not judged, such as those whose agents do not use
            their observation.
        pool: whether all cells together may decide as well; without it the cells have
            all of the 5 %.
    """
    one_of(EXPECTS, expects=expects)
    if expects == "same" and not margin > 0:
        raise ValueError(f"`margin` must be greater than 0 for `same`, got {margin}.")
    at_least(1, looks=looks)
    kept = {cell: data for cell, data in cells.items() if cell not in left_out}
    turns = (-margin, margin) if expects == "same" else (threshold, threshold)
    means, whole = {c: mean_of(data) for c, data in kept.items()}, pooled_mean(kept)
    alone = {c: looks * _p(mean, turns) for c, mean in means.items() if mean.n}
    of_pool, of_cells = _share(looks * _p(whole, turns), holm(alone), pool)
    judged = {
        cell: _judge(mean, of_cells.get(cell, math.nan), expects, turns)
        for cell, mean in means.items()
    }
    pooled = _judge(whole, of_pool, expects, turns)
    outcome = combine(each.outcome for each in judged.values())
    # The pool may settle what cells leave open, except that all of them are the same.
    settles = pool and (expects != "same" or pooled.outcome is Outcome.FAILS)
    if settles and outcome is Outcome.OPEN:
        outcome = pooled.outcome
    return Verdict(outcome, pooled, judged, tuple(left_out))


def combine(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome of "all of them hold"."""
    found = set(outcomes)
    if Outcome.FAILS in found:
        return Outcome.FAILS
    return Outcome.HOLDS if found == {Outcome.HOLDS} else Outcome.OPEN


def holm(p_values: Mapping[Cell, float]) -> dict[Cell, float]:
    """Return Holm's corrected p-values; nan (too few seeds) is not counted."""
    known = {cell: p for cell, p in p_values.items() if not math.isnan(p)}
    found, largest = dict.fromkeys(p_values, math.nan), 0.0
    for place, cell in enumerate(sorted(known, key=known.__getitem__)):
        largest = max(largest, known[cell] * (len(known) - place))
        found[cell] = min(1.0, largest)
    return found


def rule_text(expects: str, margin: str = "the margin", pool: bool = True) -> str:
    """Say when a question with these expectations holds, and when it does not."""
    wanted, other = ("below", "above") if expects == "less" else ("above", "below")
    rule = "Holds if the interval of every comparison lies"
    if expects == "same":
        rule += f" within ±{margin}; does not hold if one lies wholly beyond it."
    elif not pool:
        rule += f" {wanted} what is asked; does not hold if one lies wholly {other} it."
    else:
        rule = (
            "Holds if the interval of the pooled difference, or of every comparison, "
            f"lies {wanted} zero and none lies {other}; does not hold if the pooled "
            f"one or any comparison lies {other} zero."
        )
    corrected = f"Intervals are corrected so that at most {LEVEL:.0%} of studies say"
    return f"{rule} {corrected} anything wrong."


def _p(mean: Mean, turns: tuple[float, float]) -> float:
    """Return the p-value against the nearest threshold."""
    return mean.p(min(turns, key=lambda threshold: abs(mean.value - threshold)))


def _share(
    pool: float, cells: Mapping[Cell, float], shared: bool
) -> tuple[float, dict[Cell, float]]:
    """Return corrected p-values of the pool and of the cells, see above."""
    if len(cells) < 2 or not shared:
        return min(1.0, pool), dict(cells)
    if math.isnan(pool):  # a cell with too few seeds leaves no pool
        return pool, {cell: min(1.0, 2 * p) for cell, p in cells.items()}
    whole = min(1.0, 2 * pool, max(pool, 2 * max(cells.values())))
    return whole, {c: min(1.0, 2 * p, max(p, 2 * pool)) for c, p in cells.items()}


def _judge(mean: Mean, corrected: float, expects: str, turns: tuple) -> Judged:
    p, (lower, upper) = _p(mean, turns), turns
    level = 1 - LEVEL * (p / corrected if corrected > 0 else 1.0)
    ends = mean.interval(level)
    if ends is None:
        return Judged(Outcome.OPEN, mean.value, None, math.nan, mean.n, math.nan)
    holds, fails = ends.low > upper, ends.high < lower
    if expects == "less":
        holds, fails = fails, holds
    if expects == "same":
        holds, fails = lower < ends.low and ends.high < upper, holds or fails
    outcome = Outcome.HOLDS if holds else Outcome.FAILS if fails else Outcome.OPEN
    if not corrected <= LEVEL:
        outcome = Outcome.OPEN
    return Judged(outcome, mean.value, ends, corrected, mean.n, level)
