"""Averages of permuted solutions, and how far from the optimum each length is.

Renaming the states by a permutation U turns the solution z* into Uz*. The paper's
aggregate over all words of one length is the power of one mean:

    z^ℓ = n^-ℓ Σ_w λ(w) z* = ((U_1 + … + U_n)/n)^ℓ z*.

Its policy π^ℓ is formed with the true passive dynamics. Lengths are compared at a fixed
number of words: every seed has its own costs, shared by all lengths, and permutations
drawn independently for every length. The first k seeds of a large run are those of a
small one. z = const, whose policy is the passive dynamics, is the baseline. (Section
4.4, appendix E.)
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from freeproj.lsmdp.solving import Solution, policy, sample_costs, solve
from freeproj.lsmdp.spaces import StateSpace
from freeproj.projection.words import generators_for
from freeproj.storage.checks import at_least, within

__all__ = ["METRICS", "Distances", "Estimate", "LengthComparison", "aggregate"]
__all__ += ["compare_lengths", "distances", "mean_permutation", "paired_changes"]

_CHUNK = 2**22  # entries held at a time, 32 megabytes


class Distances(NamedTuple):
    """Four distances from the optimum, one number per seed (and length).

    `kl` is Σ_s KL(π*(·|s) ‖ π^ℓ(·|s)) and `policy_l1` is Σ|π* - π^ℓ|, both summed over
    states: divide by their number for the mean. `z_l2` and `z_l1` compare z of unit
    Euclidean length.
    """

    kl: Float[np.ndarray, "*seeds"]
    policy_l1: Float[np.ndarray, "*seeds"]
    z_l2: Float[np.ndarray, "*seeds"]
    z_l1: Float[np.ndarray, "*seeds"]


METRICS = Distances._fields


def mean_permutation(permutations: ArrayLike) -> Float[np.ndarray, "*seeds d d"]:
    """Return (U_1 + … + U_n)/n with U[σ(j), j] = 1, for permutations (..., n, d)."""
    permutations = np.asarray(permutations)
    if permutations.ndim < 2 or permutations.dtype.kind not in "iu":
        rule = "must be integers of shape (..., n, d)"
        found = f"{permutations.dtype} of shape {permutations.shape}"
        raise ValueError(f"`permutations` {rule}, got {found}.")
    *seeds, n, d = permutations.shape
    # Count how often each state j (column) goes to i (row), all seeds at once.
    rows = permutations.reshape(-1, n, d)
    places = rows + d * np.arange(len(rows) * d).reshape(-1, 1, d)
    outside = (rows < 0).any() or (rows >= d).any()
    counts = np.bincount([] if outside else places.ravel(), minlength=len(rows) * d * d)
    table = counts.reshape(*seeds, d, d).swapaxes(-1, -2)
    # A row that is no permutation leaves some state with too many or too few.
    if (table.sum(axis=-1) != n).any():
        rule = f"each of the states 0..{d - 1} once in every row"
        raise ValueError(f"`permutations` must hold {rule}.")
    return table / n


def aggregate(
    desirability: Float[np.ndarray, "*seeds d"], permutations: ArrayLike, length: int
) -> Float[np.ndarray, "*seeds d"]:
    """Return z^ℓ for permutations of shape (..., n, d); no word is written out."""
    at_least(1, length=length)
    mean = mean_permutation(permutations)
    if mean.shape[:-1] != desirability.shape:
        *seeds, d = desirability.shape
        rule = f"must have shape {(*seeds, 'n', d)} for z of shape {desirability.shape}"
        raise ValueError(f"`permutations` {rule}, got {np.shape(permutations)}.")
    z = desirability[..., None]
    for _ in range(length):
        z = mean @ z
    return z[..., 0]


def distances(
    optimal: Solution, desirability: Float[np.ndarray, "*seeds d"]
) -> Distances:
    """Return the four distances of z and its policy from the optimal ones."""
    best, z = optimal.desirability, desirability
    best_policy, own = policy(optimal.passive, best), policy(optimal.passive, z)
    # Both are positive along the same edges: nothing to clip.
    ratio = np.divide(best_policy, own, out=np.ones_like(own), where=own > 0)
    first, second = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (best, z))
    gap = first - second
    return Distances(
        kl=np.sum(best_policy * np.log(ratio), axis=(-1, -2)),
        policy_l1=np.sum(np.abs(best_policy - own), axis=(-1, -2)),
        z_l2=np.linalg.norm(gap, axis=-1),
        z_l1=np.sum(np.abs(gap), axis=-1),
    )


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
    at_least(1, n_seeds=n_seeds)
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
        rule = f"must be a length compared {comparison.lengths}"
        raise ValueError(f"`reference` {rule}, got {reference}.")
    within("(0, 1)", level=level)
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
