"""Choosing the best of several options without favouring it.

The best of several options looks good by chance alone. So an option is chosen on one
half of the seeds and measured on the other, both ways; what comes out is one difference
per seed, judged like any other.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

__all__ = ["HalfChoice", "half_choice"]


class HalfChoice(NamedTuple):
    """The option chosen on each half of the seeds, and its gains on the other half."""

    choices: tuple[Hashable, Hashable]  # by the even places, by the odd ones
    gains: dict[Any, float]  # chosen minus reference, by held-out seed

    @property
    def mean(self) -> float:
        """The mean gain; nan without data."""
        return float(np.mean(list(self.gains.values()))) if self.gains else np.nan


def half_choice(
    options: Mapping[Hashable, Mapping[Any, float]], reference: Mapping[Any, float]
) -> HalfChoice:
    """Choose the best option on half of the seeds, measure it on the other; both ways.

    Seeds are split alternately; only seeds with data for every option count.

    Args:
        options: scores by option, then by seed.
        reference: scores of what the chosen option is compared with, by seed.
    """
    if not options:
        raise ValueError("`options` must hold at least one option.")
    seeds = sorted(set(reference).intersection(*(set(s) for s in options.values())))
    rows = [[s[seed] - reference[seed] for s in options.values()] for seed in seeds]
    values = np.array(rows, float).reshape(len(seeds), len(options))
    places = np.flatnonzero(~np.isnan(values).any(axis=1)).tolist()
    values, kept = values[places], [seeds[place] for place in places]
    if len(kept) < 2:
        return HalfChoice((None, None), {})
    names = tuple(options)
    even, odd = (int(values[half::2].sum(axis=0).argmax()) for half in (0, 1))
    gains = {
        seed: float(row[odd if place % 2 == 0 else even])
        for place, (seed, row) in enumerate(zip(kept, values, strict=True))
    }
    return HalfChoice((names[even], names[odd]), gains)
