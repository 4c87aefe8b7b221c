"""Limit laws to draw over the spectra of block matrices, and their exact moments.

For letters (ℓ = 1) of O(d), d → ∞, the 2^k x 2^k block matrix holds free Haar unitaries
u, and K has the law of |u_1 + … + u_N|²/N with N = 2^k: the square of the law that
Kesten and McKay found on the N-regular tree. The paper names Marchenko–Pastur (ratio
1), which is the limit N → ∞. At N = 16 the two differ visibly: the second moment is
31/16, not 2, and the right edge 15/4, not 4. A uniform shuffle of longer words comes
close to the same law.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

__all__ = [
    "kesten_mckay_density",
    "kesten_mckay_moment",
    "marchenko_pastur_density",
    "marchenko_pastur_moment",
]


def kesten_mckay_density(
    x: ArrayLike | float, n_blocks: int = 16
) -> Float[np.ndarray, "..."]:
    """Return √((x₊-x)/x) / (2π(1-x/N)) on (0, x₊), x₊ = 4(1-1/N), and 0 elsewhere."""
    _check_blocks(n_blocks)
    edge = 4 * (1 - 1 / n_blocks)
    density = _square_root_law(x, edge) / (1 - np.minimum(x, edge) / n_blocks)
    return np.asarray(density)


def kesten_mckay_moment(order: int, n_blocks: int = 16) -> Fraction:
    """Return the exact moment m_k = (1/k) Σ_j C(2k, k-1-j) C(k+j-1, j) (-1/N)^j.

    N^k·m_k counts the closed walks of 2k steps on the N-regular tree.
    """
    _check_blocks(n_blocks)
    k = _checked_order(order)
    if k == 0:
        return Fraction(1)
    ways = (math.comb(2 * k, k - 1 - j) * math.comb(k + j - 1, j) for j in range(k))
    terms = (way * Fraction(-1, n_blocks) ** j for j, way in enumerate(ways))
    return sum(terms, Fraction(0)) / k


def marchenko_pastur_density(x: ArrayLike | float) -> Float[np.ndarray, "..."]:
    """Return √((4-x)/x) / (2π) on (0, 4), ratio 1, and 0 elsewhere."""
    return _square_root_law(x, 4.0)


def marchenko_pastur_moment(order: int) -> int:
    """Return the Catalan number C(2k, k)/(k+1)."""
    k = _checked_order(order)
    return math.comb(2 * k, k) // (k + 1)


def _square_root_law(x: ArrayLike | float, edge: float) -> Float[np.ndarray, "..."]:
    """Return √((edge-x)/x) / (2π) on (0, edge) and 0 elsewhere."""
    x = np.asarray(x, dtype=float)
    inside = (x > 0) & (x < edge)
    y = np.where(inside, x, edge)
    return np.asarray(np.sqrt((edge - y) / y) / (2 * np.pi))


def _check_blocks(n_blocks: int) -> None:
    if n_blocks < 2:
        raise ValueError(f"`n_blocks` must be at least 2, got {n_blocks}.")


def _checked_order(order: int) -> int:
    if order < 0:
        raise ValueError(f"`order` must not be negative, got {order}.")
    return order
