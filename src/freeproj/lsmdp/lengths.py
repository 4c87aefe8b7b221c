"""Word lengths compared at a fixed number of words, over thousands of seeds at once.

Every seed has its own costs, shared by all lengths, and its own permutations, drawn
independently for every length: a comparison between lengths is paired by seed. The
first k seeds of a large run are the k seeds of a small one. (Section 4.4, appendix E.)

`constant` is the baseline z = const, whose policy is the passive dynamics: it uses no
solution at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from freeproj.lsmdp.aggregation import Distances, aggregate, distances
from freeproj.lsmdp.solving import sample_costs, solve
from freeproj.lsmdp.spaces import StateSpace
from freeproj.projection.words import generators_for

__all__ = ["Estimate", "LengthComparison", "compare_lengths", "paired_changes"]

_CHUNK = 2**22  # entries held at a time, 32 megabytes


@dataclass(frozen=True, eq=False)
class LengthComparison:
    """Distances by length and seed, with the baseline of the same seeds.

    The arrays of `distances` have shape (lengths, seeds), those of `constant` (seeds,).
    """

    space: StateSpace
    lengths: tuple[int, ...]
    distances: Distances
    constant: Distances

    @property
    def n_seeds(self) -> int:
        """Return the number of seeds, the unit of every interval."""
        return len(self.constant.kl)

    @property
    def table(self) -> Float[np.ndarray, "metrics columns seeds"]:
        """Return all distances, rows as in `METRICS`; z = const is the last column."""
        pairs = zip(self.distances, self.constant, strict=True)
        return np.stack([np.vstack(pair) for pair in pairs])


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
    generators = {length: generators_for(n_words, length) for length in lengths}
    costs = sample_costs(np.random.default_rng([seed, 0]), space, n_seeds)
    settings = {"temperature": temperature, "discount": discount}
    optimal = solve(space, costs, reading=reading, **settings)
    rows = [
        distances(optimal, _aggregates(optimal.desirability, n, length, seed))
        for length, n in generators.items()
    ]
    return LengthComparison(
        space=space,
        lengths=tuple(lengths),
        distances=Distances(*(np.stack(each) for each in zip(*rows, strict=True))),
        constant=distances(optimal, np.ones_like(optimal.desirability)),
    )


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
    if comparison.n_seeds < 2:
        return Estimate(values, values * np.nan, values * np.nan)
    n_seeds, rng = comparison.n_seeds, np.random.default_rng(seed)
    drawn = (rng.integers(n_seeds, size=n_seeds) for _ in range(n_resamples))
    counts = (np.bincount(each, minlength=n_seeds) for each in drawn)
    means = np.stack([table @ (count / n_seeds) for count in counts])
    changes = means / means[:, :, [column]] - 1
    tail = (1 - level) / 2
    return Estimate(values, *np.quantile(changes, [tail, 1 - tail], axis=0))


def _aggregates(
    desirability: Float[np.ndarray, "seeds d"], n: int, length: int, seed: int
) -> Float[np.ndarray, "seeds d"]:
    """Draw every seed's permutations and return z^ℓ, some seeds at a time."""
    d = desirability.shape[1]
    rng = np.random.default_rng([seed, length])
    step = max(1, _CHUNK // (max(n, d) * d))
    parts = []
    for start in range(0, len(desirability), step):
        part = desirability[start : start + step]
        rows = np.broadcast_to(np.arange(d), (len(part), n, d))
        parts.append(aggregate(part, rng.permuted(rows, axis=-1), length))
    return np.concatenate(parts)
