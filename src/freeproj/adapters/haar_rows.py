"""The first k rows of λ(w) for Haar matrices that are never formed.

A Haar matrix U need only be known where it has been used. Let P hold the rows that U
was applied to so far, and Q = P U their images. The part of a new row that lies in the
span of P goes to the same combination of Q. The part orthogonal to P goes, by the
invariance of the Haar measure, to a uniformly random direction orthogonal to Q. So a
word of ℓ letters costs ℓ frames of k x d Gaussian numbers, not n matrices of d x d, and
the distribution is exact.
"""

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

__all__ = ["HaarRows"]

_Rows = Float[np.ndarray, "k d"]


class HaarRows:
    """Haar matrices U_1, U_2, … of O(d), revealed row by row as they are used."""

    def __init__(self, rng: np.random.Generator, dim: int):
        self.rng, self.dim = rng, dim
        self._seen: dict[int, tuple[_Rows, ...]] = {}

    def rows(self, word: ArrayLike, n_rows: int) -> _Rows:
        """Return the first rows of λ(w) = U_{i_1} ··· U_{i_ℓ}."""
        rows = np.eye(n_rows, self.dim)
        for letter in np.asarray(word).tolist():
            rows = self.apply(rows, letter)
        return rows

    def apply(self, rows: _Rows, letter: int) -> _Rows:
        """Return R U for a letter, R Uᵀ for its inverse; R has orthonormal rows."""
        if abs(letter) not in self._seen:
            images = _orthonormal(self.rng.standard_normal(rows.shape), self.dim)
            self._seen[abs(letter)] = (rows, images)[:: 1 if letter > 0 else -1]
            return images
        inputs, outputs = self._seen[abs(letter)][:: 1 if letter > 0 else -1]
        weights = rows @ inputs.T
        fresh, coordinates = _basis(rows - weights @ inputs)
        gaussian = self.rng.standard_normal(fresh.shape)
        gaussian -= (gaussian @ outputs.T) @ outputs
        images = _orthonormal(gaussian, self.dim - len(outputs))
        seen = np.concatenate([inputs, fresh]), np.concatenate([outputs, images])
        self._seen[abs(letter)] = seen[:: 1 if letter > 0 else -1]
        return weights @ outputs + coordinates @ images


def _basis(rows: _Rows) -> tuple[Float[np.ndarray, "m d"], Float[np.ndarray, "k m"]]:
    """Return an orthonormal basis of the span of the rows, and their coordinates."""
    squares, vectors = np.linalg.eigh(rows @ rows.T)
    kept = squares > 1e-12  # the rest is rounding: rows have at most unit length
    lengths = np.sqrt(squares[kept])
    return (vectors[:, kept] / lengths).T @ rows, vectors[:, kept] * lengths


def _orthonormal(rows: _Rows, free: int) -> _Rows:
    """Return Qᵀ of rowsᵀ = Q R with a positive diagonal of R.

    The rows are Gaussian in a space of `free` dimensions.
    """
    if 4 * len(rows) < free:  # well conditioned, and six times faster
        return np.linalg.inv(np.linalg.cholesky(rows @ rows.T)) @ rows
    q, r = np.linalg.qr(rows.T)
    return (q * np.where(np.diagonal(r) < 0, -1, 1)).T
