"""Many tests at once: Holm, max-T, and choosing an option without favouring it.

The best of several options looks good by luck alone. Either every option is tested and
the p-values are corrected (`holm`, or `max_t`, which uses that options share seeds), or
the option is chosen on one half of the seeds and tested on the other (`split_choice`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from freeproj.stats.paired import (
    BySeed,
    Cell,
    Flipped,
    flip_signs,
    sign_patterns,
    tail,
)

__all__ = ["SplitChoice", "holm", "max_t", "split_choice"]


class SplitChoice(NamedTuple):
    """The option chosen on each half of the seeds, tested on the other half."""

    choices: tuple[Hashable, Hashable]  # by the even seeds, by the odd ones
    mean: float  # chosen minus reference on held-out seeds; nan without data
    p: float  # two-sided; every flip repeats the choice
    n: int  # seeds with data for every option

    @property
    def stable(self) -> bool:
        """Whether both halves chose the same option."""
        return self.choices[0] == self.choices[1]


def holm(p_values: ArrayLike) -> Float[np.ndarray, " n"]:
    """Return Holm's adjusted p-values; nan (no data) stays nan and is not counted.

    If exactly those with an adjusted value of at most α are rejected, any false
    rejection has probability at most α, whatever the correlation.
    """
    p = np.asarray(p_values, float)
    adjusted = np.full(p.shape, np.nan)
    order = [i for i in np.argsort(p) if not np.isnan(p[i])]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(steps)) if order else []
    return adjusted


def max_t(cells: Mapping[Cell, BySeed] | Flipped) -> dict[Cell, float]:
    """Return p-values of all cells, corrected by the maximum under joint flips.

    Westfall and Young's step-down: the k-th largest |Σd / √Σd²| is compared with the
    maximum over the cells that are not larger; all cells share the flips. This is less
    strict than Holm where cells are correlated, as options that share a reference are.
    Cells without data are left out.
    """
    flipped = cells if isinstance(cells, Flipped) else flip_signs(cells)
    sizes = np.abs(flipped.scores)
    order = np.argsort(-sizes[0], kind="stable")
    # From the smallest cell up, the maximum grows by one cell at a time.
    largest = np.maximum.accumulate(sizes[:, order[::-1]], axis=1)[:, ::-1]
    steps = [tail(column) for column in largest.T]
    adjusted = np.maximum.accumulate(steps) if steps else []
    found = {flipped.cells[i]: float(p) for i, p in zip(order, adjusted, strict=True)}
    return {cell: found[cell] for cell in flipped.cells}


def split_choice(
    options: Mapping[Hashable, Mapping[Any, float]],
    reference: Mapping[Any, float],
) -> SplitChoice:
    """Choose the best option on half of the seeds, test it on the other; both ways.

    Seeds are split alternately. The two halves' results are not independent (each half
    chooses for the other), so the p-value flips each seed's differences in *all*
    options together and repeats the choice under every flip.

    Args:
        options: scores by option, then by seed.
        reference: scores of what the chosen option is compared with, by seed.
    """
    if not options:
        raise ValueError("`options` must hold at least one option.")
    seeds = sorted(set(reference).intersection(*(set(s) for s in options.values())))
    rows = [[s[seed] - reference[seed] for s in options.values()] for seed in seeds]
    values = np.array(rows, float).reshape(len(seeds), len(options))
    values = values[~np.isnan(values).any(axis=1)]
    names, n = tuple(options), len(values)
    if n < 2:
        return SplitChoice((None, None), float("nan"), float("nan"), n)
    signs = sign_patterns(n)
    even, odd = (signs[:, half::2] @ values[half::2] for half in (0, 1))
    by_even, by_odd = even.argmax(axis=1), odd.argmax(axis=1)
    # Flipping all signs at once is a pattern of its own here: it changes the choice.
    low_even, low_odd = even.argmin(axis=1), odd.argmin(axis=1)
    row = np.arange(len(signs))
    gains = np.concatenate(
        [
            odd[row, by_even] + even[row, by_odd],
            -(odd[row, low_even] + even[row, low_odd]),
        ]
    )
    chosen = (names[by_even[0]], names[by_odd[0]])
    return SplitChoice(chosen, float(gains[0]) / n, tail(np.abs(gains)), n)
