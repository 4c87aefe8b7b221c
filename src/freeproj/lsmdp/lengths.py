"""Word lengths compared at a fixed number of words, over thousands of seeds at once.

Every seed has its own costs, shared by all lengths, and its own permutations, drawn
independently for every length: a comparison between lengths is paired by seed. The
first k seeds of a large run are the k seeds of a small one. (Section 4.4, appendix E.)

`constant` is the baseline z = const, whose policy is the passive dynamics: it uses no
solution at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from freeproj.lsmdp.aggregation import aggregate, distances
from freeproj.lsmdp.solving import sample_costs, solve
from freeproj.lsmdp.spaces import StateSpace
from freeproj.projection.words import generators_for

__all__ = ["Estimate", "LengthComparison", "compare_lengths", "paired_changes"]

_CHUNK = 2**22  # entries held at a time, 32 megabytes


class LengthComparison(NamedTuple):
    """All distances: rows as in `METRICS`, columns the lengths, then z = const."""

    lengths: tuple[int, ...]
    table: Float[np.ndarray, "metrics columns seeds"]


class Estimate(NamedTuple):
    """A mean over seeds with its bootstrap interval; nan with fewer than two seeds."""

    value: Float[np.ndarray, "metrics columns"]
    low: Float[np.ndarray, "metrics columns"]
    high: Float[np.ndarray, "metrics columns"]


def compare_lengths(
    space: StateSpace,
    *,
    lengths: Sequence[int] = (1, 2, 4, 8),
    n_words: int = 256,
    n_seeds: int = 10,
    seed: int = 0,
    reading: str = "goal",
    temperature: float = 1.0,
    discount: float = 0.9,
) -> LengthComparison:
    """Return the distances of z^ℓ from z* for each length, all at n^ℓ = n_words."""
    if n_seeds < 1:
        raise ValueError(f"`n_seeds` must be at least 1, got {n_seeds}.")
    if len(lengths) == 0 or len(set(lengths)) != len(lengths):
        raise ValueError(f"`lengths` must be distinct, one or more, got {lengths}.")
    d, count = space.n_states, [generators_for(n_words, length) for length in lengths]
    costs = sample_costs(np.random.default_rng([seed, 0]), space, n_seeds)
    rngs = [np.random.default_rng([seed, length]) for length in lengths]
    settings = {"reading": reading, "temperature": temperature, "discount": discount}
    step, parts = max(1, _CHUNK // (max(*count, d) * d)), []
    for start in range(0, n_seeds, step):
        optimal = solve(space, costs[start : start + step], **settings)
        z, columns = optimal.desirability, []
        for length, n, rng in zip(lengths, count, rngs, strict=True):
            rows = np.broadcast_to(np.arange(d), (len(z), n, d))
            columns.append(aggregate(z, rng.permuted(rows, axis=-1), length))
        columns.append(np.ones_like(z))
        found = [distances(optimal, column) for column in columns]
        parts.append(np.stack(found, axis=1))
    return LengthComparison(tuple(lengths), np.concatenate(parts, axis=-1))


def paired_changes(
    comparison: LengthComparison,
    *,
    reference: int = 1,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return mean(ℓ)/mean(reference) - 1 per metric and column, seeds kept in pairs.

    Columns are the lengths, then z = const. Both means are taken over the same
    resampled seeds, so what a seed's costs contribute to both cancels.
    """
    if reference not in comparison.lengths:
        known = ", ".join(map(str, comparison.lengths))
        raise ValueError(
            f"`reference` must be a length compared ({known}), got {reference}."
        )
    if not 0 < level < 1:
        raise ValueError(f"`level` must lie in (0, 1), got {level}.")
    column, table = comparison.lengths.index(reference), comparison.table
    values = table.mean(axis=-1)
    values = values / values[:, [column]] - 1
    n_seeds, rng = table.shape[-1], np.random.default_rng(seed)
    if n_seeds < 2:
        return Estimate(values, values * np.nan, values * np.nan)
    drawn = (rng.integers(n_seeds, size=n_seeds) for _ in range(n_resamples))
    counts = (np.bincount(each, minlength=n_seeds) for each in drawn)
    means = np.stack([table @ (count / n_seeds) for count in counts])
    changes = means / means[:, :, [column]] - 1
    tail = (1 - level) / 2
    return Estimate(values, *np.quantile(changes, [tail, 1 - tail], axis=0))
