"""Averages of permuted solutions, and how far they lie from the optimum.

Renaming the states by a permutation U turns the solution z* into Uz*. The paper's
aggregate over all words of one length is the power of one mean:

    z^ℓ = n^-ℓ Σ_w λ(w) z* = ((U_1 + … + U_n)/n)^ℓ z*.

Its policy π^ℓ is formed with the true passive dynamics. (Section 4.4.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from freeproj.lsmdp.solving import Solution, policy

__all__ = ["METRICS", "Distances", "aggregate", "distances", "mean_permutation"]


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
        raise ValueError(
            "`permutations` must be integers of shape (..., n, d), got "
            f"{permutations.dtype} of shape {permutations.shape}."
        )
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
    if length < 1:
        raise ValueError(f"`length` must be at least 1, got {length}.")
    mean = mean_permutation(permutations)
    if mean.shape[:-1] != desirability.shape:
        *seeds, d = desirability.shape
        raise ValueError(
            f"`permutations` must have shape {(*seeds, 'n', d)} for z of shape "
            f"{desirability.shape}, got {np.shape(permutations)}."
        )
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
