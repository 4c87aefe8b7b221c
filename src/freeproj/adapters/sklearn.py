"""scikit-learn: the projection as a transformer.

    model = make_pipeline(FreeRandomProjection(32, length=2), LogisticRegression())

Rows of X are observations, so the result is X Mᵀ, where M = √(d/k) T_2 λ(w) T_1 has k
rows. With k = d no distance changes; with fewer rows distances are kept on average.
Only M is stored: Haar matrices are never formed (`HaarRows`).
"""

import math
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from sklearn.random_projection import (
    BaseRandomProjection,
    johnson_lindenstrauss_min_dim,
)
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from freeproj.adapters.numpy_core import draw_bases, draw_word, matrix
from freeproj.projection.projection import FreeProjection
from freeproj.storage.checks import at_least

__all__ = ["FreeRandomProjection", "HaarRows"]

_Rows = Float[np.ndarray, "k d"]
_TAKEN: Any = {"accept_sparse": ("csr", "csc"), "dtype": (np.float64, np.float32)}


class FreeRandomProjection(BaseRandomProjection):
    """Project by the matrix of a random word in random orthogonal matrices.

    Args:
        n_components: k, the number of output features; None: as many as input
            features; "auto": as many as keep all distances within a factor 1 ± `eps`
            with high probability (Johnson–Lindenstrauss).
        n_generators: n, the number of base matrices.
        length: ℓ, the letters of the word; 1 is one Haar matrix.
        dim: d, the size of the base matrices; None: the larger number of input and
            output features.
        scale: None stands for √(d / n_components).
        family: `haar`, `permutation`, or another family of `FreeProjection`.
        inverses: allow inverse letters in the word.
        eps: the distortion for `n_components="auto"`.
        compute_inverse_components: keep the pseudo-inverse, for `inverse_transform`.
        random_state: a seed, or NumPy's old generator.

    Fitted attributes: `components_` (n_components_, n_features_in_), `word_`,
    `n_components_`, and `inverse_components_` if asked for.
    """

    # scikit-learn wants a constructor that accepts anything; `fit` checks the values.
    def __init__(
        self,
        n_components: Any = None,
        n_generators: Any = 4,
        length: Any = 4,
        *,
        dim: Any = None,
        scale: Any = None,
        family: Any = "haar",
        inverses: Any = False,
        eps: Any = 0.1,
        compute_inverse_components: Any = False,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.n_generators, self.length, self.dim = n_generators, length, dim
        self.scale, self.family, self.inverses = scale, family, inverses
        self.compute_inverse_components = compute_inverse_components
        self.eps, self.random_state = eps, random_state

    def fit(self, X: Any, y: Any = None) -> "FreeRandomProjection":
        """Draw word and matrix for the number of features of X."""
        X = validate_data(self, X, **_TAKEN)
        self.n_components_ = self._n_features_out = self._size(*X.shape)
        drawn = self._make_random_matrix(self.n_components_, X.shape[1])
        self.components_ = drawn.astype(X.dtype)
        if self.compute_inverse_components:
            self.inverse_components_ = self._compute_inverse_components()
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return X Mᵀ, dense."""
        check_is_fitted(self)
        X = validate_data(self, X, **_TAKEN, reset=False)
        return safe_sparse_dot(X, self.components_.T, dense_output=True)

    def _make_random_matrix(self, n_components: int, n_features: int) -> Any:
        """Draw the word, and what its matrix needs of the base matrices."""
        law = self._law(n_components, n_features)
        seed = check_random_state(self.random_state).randint(2**31)
        rng = np.random.default_rng(seed)
        self.word_ = draw_word(law, rng)
        if law.family != "haar":
            return matrix(law, self.word_, draw_bases(law, rng), n_features)
        rows = HaarRows(rng, law.dim).rows(self.word_, law.input_dim)
        return law.scale * rows[:, :n_features]

    def _size(self, n_samples: int, n_features: int) -> int:
        out = n_features if self.n_components is None else self.n_components
        if out == "auto":
            out = int(johnson_lindenstrauss_min_dim(n_samples, eps=self.eps))
            if out > n_features:
                raise ValueError(
                    f"`n_components` = 'auto' asks for {out} components at `eps` = "
                    f"{self.eps}, but X has {n_features} features; raise `eps`."
                )
        at_least(1, n_components=out)
        return out

    def _law(self, out: int, n_features: int) -> FreeProjection:
        dim = max(n_features, out) if self.dim is None else self.dim
        if dim < max(n_features, out):
            raise ValueError(
                f"`dim` must be at least the {n_features} features of X and the {out} "
                f"components, got {dim}."
            )
        scale = math.sqrt(dim / out) if self.scale is None else float(self.scale)
        sizes = self.n_generators, self.length, dim, out
        return FreeProjection(*sizes, scale, self.family, self.inverses)


class HaarRows:
    """Haar matrices U_1, U_2, … of O(d), revealed row by row as they are used.

    A Haar matrix U need only be known where it has been used. Let P hold the rows that
    U was applied to so far, and Q = P U their images. The part of a new row that lies
    in the span of P goes to the same combination of Q. The part orthogonal to P goes,
    by the invariance of the Haar measure, to a uniformly random direction orthogonal to
    Q. So a word of ℓ letters costs ℓ frames of k x d Gaussian numbers, not n matrices
    of d x d, and the distribution is exact.
    """

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
    """Return Qᵀ of rowsᵀ = Q R with R_ii > 0, of Gaussian rows in `free` dimensions."""
    if 4 * len(rows) < free:  # well conditioned, and six times faster
        return np.linalg.inv(np.linalg.cholesky(rows @ rows.T)) @ rows
    q, r = np.linalg.qr(rows.T)
    return (q * np.where(np.diagonal(r) < 0, -1, 1)).T
