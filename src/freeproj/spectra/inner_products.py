"""Inner products of words, equation (3.1) of the paper, and their terms of order 1/d.

    ⟨λ(v), λ(w)⟩ = Tr(λ(v)^T λ(w))/d ;    E⟨λ(v), λ(w)⟩ → 1 if v = w, else 0.

Over O(d) the next term is 1/d if v^-1 w is a square in the free group, and 0 otherwise
(Magee–Puder: only a Möbius band bounds a word once at that order). That is why moments
at finite d lie beside their limits.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Array, Float, Int
from numpy.typing import ArrayLike

from freeproj.projection import words
from freeproj.spectra.checks import Number

__all__ = ["expected_inner_product", "inner_product"]

_Bases = Float[Array | np.ndarray, "n d d"] | Int[Array | np.ndarray, "n d"]


def inner_product(v: ArrayLike, w: ArrayLike, bases: _Bases) -> float:
    """Return ⟨λ(v), λ(w)⟩ = Tr(λ(v)^T λ(w))/d for given bases. (Equation 3.1.)

    Letters count from 1, and -k is the inverse of k, as in `freeproj.projection.words`.
    Integer bases are permutations.
    """
    bases = np.asarray(bases)
    if bases.dtype.kind in "iu":
        bases = (np.arange(bases.shape[-1])[:, None] == bases[:, None, :]).astype(float)
    product = np.eye(bases.shape[-1])
    for letter in _quotient(v, w).tolist():
        base = bases[abs(letter) - 1]
        product = product @ (base if letter > 0 else base.T)
    return float(np.trace(product) / len(product))


def expected_inner_product(v: ArrayLike, w: ArrayLike, dim: Number = np.inf) -> float:
    """Return E⟨λ(v), λ(w)⟩ over Haar bases from O(d), up to O(1/d²).

    1 if v = w in the free group, 1/d if v^-1 w is a square, else 0.
    """
    quotient = _quotient(v, w)
    if len(quotient) == 0:
        return 1.0
    # g u g^-1 is a square if and only if u is one.
    while quotient[0] == -quotient[-1]:
        quotient = quotient[1:-1]
    half = len(quotient) // 2
    return float(np.array_equal(quotient[:half], quotient[half:]) / dim)


def _quotient(v: ArrayLike, w: ArrayLike) -> Int[np.ndarray, " length"]:
    return words.reduce(np.concatenate([words.inverse(v), np.asarray(w, int)]))
