"""Verdicts: the one place that decides what tables, cards and headlines may say.

A claim says that one method exceeds another in every one of some cells. Each cell has
paired differences and a sign-flip p-value; all cells together have one more, the pooled
test, which is the headline. Where there is nothing to find, anything said about a claim
is wrong in at most 5 % of the studies. Half of that goes to the pooled test and half to
the cells, by Holm; if one of the two decides, its half is passed on to the other. With
h Holm's p-value of a cell and q the pooled one, the adjusted p-values are

    cell:    min(2h, max(h, 2q))
    pooled:  min(2q, max(q, 2 max h))

A cell decides if its adjusted p-value is at most 5 % and its interval, whose level is
corrected by the same factor, lies on one side of zero. With a margin stated beforehand,
a cell within ±margin (`equivalence`, Holm over cells) shows no difference beyond it.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from freeproj.stats.equivalence import equivalence
from freeproj.stats.intervals import Interval, interval
from freeproj.stats.multiple import holm, max_t
from freeproj.stats.paired import (
    BySeed,
    Cell,
    Pooled,
    by_seed,
    fewest_pairs,
    flip_signs,
    pooled_sign_flip,
)

__all__ = ["LEVEL", "CellVerdict", "Outcome", "Verdict", "pairs_needed", "verdict"]

LEVEL = 0.05  # how often a statement about one claim may be wrong

_NAN = float("nan")
_SIGNS = {"greater": 1, "less": -1, "two-sided": 0}


class Outcome(StrEnum):
    """What may be said."""

    HOLDS = "holds"
    FAILS = "does not hold"
    SAME = "no difference beyond margin"
    OPEN = "cannot tell"


@dataclass(frozen=True)
class CellVerdict:
    """One cell of a claim."""

    outcome: Outcome
    mean: float  # nan without pairs
    interval: Interval | None  # corrected for the number of looks, as `p_adjusted` is
    p: float  # of this cell alone
    p_adjusted: float
    n: int  # pairs of seeds
    reason: str  # one sentence


@dataclass(frozen=True)
class Verdict:
    """A claim over many cells."""

    outcome: Outcome
    pooled: Pooled
    p_adjusted: float  # of the pooled test
    cells: dict[Cell, CellVerdict]
    left_out: tuple[Cell, ...]
    reason: str  # one sentence

    @property
    def counts(self) -> dict[Outcome, int]:
        """How many cells have each outcome, only those that occur."""
        found = [cell.outcome for cell in self.cells.values()]
        return {word: found.count(word) for word in Outcome if word in found}


_NO_DATA = CellVerdict(
    Outcome.OPEN, _NAN, None, _NAN, _NAN, 0, "No seed pairs with data."
)


def verdict(
    cells: Mapping[Cell, BySeed],
    margin: float | int | Mapping[Cell, float] | None = None,
    alternative: str = "greater",
    *,
    correction: str = "holm",
    left_out: Collection[Cell] = (),
) -> Verdict:
    """Judge the claim "the differences are greater than zero, in every cell".

    It holds if the pooled test says so and no cell says the opposite, or if every cell
    says so. It does not hold if the pooled test or any cell says the opposite. There is
    no difference beyond the margin if every cell says that.

    Args:
        cells: differences of paired seeds, by cell.
        margin: what counts as no difference, for all cells or by cell.
        alternative: what the claim says of the differences: `greater`, `less`, or
            `two-sided` (that there are any).
        correction: over cells, `holm` or `max-t` (joint flips of shared seeds).
        left_out: cells that are not judged, such as those whose agents do not use
            their observation.
    """
    if alternative not in _SIGNS:
        known = ", ".join(_SIGNS)
        raise ValueError(f"`alternative` must be one of {known}, got {alternative!r}.")
    if correction not in ("holm", "max-t"):
        raise ValueError(f"`correction` must be holm or max-t, got {correction!r}.")
    judged = {cell: by_seed(cells[cell]) for cell in cells if cell not in left_out}
    flipped = flip_signs(judged)
    alone = flipped.p_values()
    pooled = pooled_sign_flip(flipped)
    corrected = max_t(flipped) if correction == "max-t" else _holm(alone)
    p_pooled, adjusted = _share(pooled.p, corrected)
    same, sign = _within_margin(judged, margin), _SIGNS[alternative]
    needed = pairs_needed(len(alone), correction)
    judge = functools.partial(_judge, sign=sign, n_cells=len(alone), needed=needed)
    found = {
        cell: judge(data, alone[cell], adjusted[cell], cell in same)
        if data
        else _NO_DATA
        for cell, data in judged.items()
    }
    outcome = _combine(found, pooled.effect if p_pooled <= LEVEL else 0.0, sign)
    reason = _claim_reason(found, pooled, p_pooled)
    return Verdict(outcome, pooled, p_pooled, found, tuple(left_out), reason)


def pairs_needed(n_cells: int = 1, correction: str = "holm") -> int:
    """Return the fewest seeds with which one of so many cells can get a verdict."""
    if n_cells < 2:
        return fewest_pairs(LEVEL)
    return fewest_pairs(LEVEL / 2 / (n_cells if correction == "holm" else 1))


def _holm(p_values: Mapping[Cell, float]) -> dict[Cell, float]:
    return dict(zip(p_values, holm(list(p_values.values())).tolist(), strict=True))


def _share(
    pooled: float, corrected: Mapping[Cell, float]
) -> tuple[float, dict[Cell, float]]:
    """Return adjusted p-values of the pooled test and of the cells, see above."""
    if len(corrected) < 2:  # one cell is its own pool
        return pooled, dict(corrected)
    whole = min(1.0, 2 * pooled, max(pooled, 2 * max(corrected.values())))
    single = {c: min(1.0, 2 * p, max(p, 2 * pooled)) for c, p in corrected.items()}
    return whole, single


def _within_margin(
    cells: Mapping[Cell, BySeed], margin: float | int | Mapping[Cell, float] | None
) -> set[Cell]:
    """Return the cells that show no difference beyond their margin."""
    if margin is None:
        return set()
    margins = margin if isinstance(margin, Mapping) else dict.fromkeys(cells, margin)
    tested = [cell for cell in cells if cell in margins]
    found = _holm({cell: equivalence(cells[cell], margins[cell]).p for cell in tested})
    return {cell for cell, p in found.items() if p <= LEVEL}


def _judge(
    data: dict,
    p: float,
    adjusted: float,
    same: bool,
    *,
    sign: int,
    n_cells: int,
    needed: int,
) -> CellVerdict:
    """Judge one cell that has data."""
    values = np.array(list(data.values()))
    mean = float(values.mean())
    ends = interval(values, 1 - LEVEL * min(1.0, p / adjusted))
    if same:
        outcome = Outcome.SAME
    elif adjusted <= LEVEL and ends is not None and 0 not in ends:
        outcome = Outcome.FAILS if sign * mean < 0 else Outcome.HOLDS
    else:
        outcome = Outcome.OPEN
    n = values.size
    corrected = f", {adjusted:.2g} corrected for {n_cells} cells" * (n_cells > 1)
    reason = f"{_count(n, 'seed pair')}, sign-flip p = {p:.2g}{corrected}."
    if outcome is Outcome.OPEN and n < needed:
        reason = (
            f"Only {_count(n, 'seed pair')}; at least {needed} are needed for a "
            f"verdict on {_count(n_cells, 'cell')} (sign-flip p = {p:.2g})."
        )
    return CellVerdict(outcome, mean, ends, p, adjusted, n, reason)


def _combine(cells: Mapping[Cell, CellVerdict], pooled: float, sign: int) -> Outcome:
    """Judge the claim; `pooled` is the pooled effect, zero where it decides nothing."""
    found = {cell.outcome for cell in cells.values()}
    if found == {Outcome.SAME}:
        return Outcome.SAME
    if Outcome.FAILS in found or sign * pooled < 0:
        return Outcome.FAILS
    if pooled != 0 or found == {Outcome.HOLDS}:
        return Outcome.HOLDS
    return Outcome.HOLDS if sign == 0 and Outcome.HOLDS in found else Outcome.OPEN


def _claim_reason(
    cells: Mapping[Cell, CellVerdict], pooled: Pooled, adjusted: float
) -> str:
    if not pooled.n_cells:
        return "No paired seeds in any cell."
    words = [cell.outcome for cell in cells.values()]
    counts = ", ".join(f"{words.count(w)} {w}" for w in Outcome if w in words)
    over = f"{_count(pooled.n_cells, 'cell')} and {_count(pooled.n_seeds, 'seed')}"
    return f"Pooled over {over}: p = {adjusted:.2g}. Cells: {counts}."


def _count(n: int, what: str) -> str:
    return f"{n} {what}" + "s" * (n != 1)
