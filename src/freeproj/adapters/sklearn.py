"""scikit-learn: the projection as a transformer.

    model = make_pipeline(FreeRandomProjection(32, length=2), LogisticRegression())

Rows of X are observations, so the result is X Mᵀ, where M = √(d/k) T_2 λ(w) T_1 has k
rows. With k = d no distance changes; with fewer rows distances are kept on average.
Only M is stored: Haar matrices are never formed (`haar_rows`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.random_projection import johnson_lindenstrauss_min_dim
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from freeproj.adapters.haar_rows import HaarRows
from freeproj.adapters.numpy_core import draw_bases, draw_word, matrix
from freeproj.projection.projection import FreeProjection

__all__ = ["FreeRandomProjection"]

_DTYPES = (np.float64, np.float32)
_SPARSE = ("csr", "csc")


class FreeRandomProjection(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
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
        self.n_generators = n_generators
        self.length = length
        self.dim = dim
        self.scale = scale
        self.family = family
        self.inverses = inverses
        self.eps = eps
        self.compute_inverse_components = compute_inverse_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> FreeRandomProjection:
        """Draw word and matrix for the number of features of X."""
        X = validate_data(self, X, accept_sparse=_SPARSE, dtype=_DTYPES)
        law = self._law(*X.shape)
        seed = check_random_state(self.random_state).randint(2**31)
        rng = np.random.default_rng(seed)
        self.word_ = draw_word(law, rng)
        if law.family == "haar":  # no more of the base matrices than the word needs
            rows = HaarRows(rng, law.dim).rows(self.word_, law.input_dim)
            drawn = law.scale * rows[:, : X.shape[1]]
        else:
            drawn = matrix(law, self.word_, draw_bases(law, rng), X.shape[1])
        self.components_ = drawn.astype(X.dtype)
        self.n_components_ = self._n_features_out = law.input_dim
        if self.compute_inverse_components:
            self.inverse_components_ = np.linalg.pinv(self.components_)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return X Mᵀ, dense."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=_SPARSE, dtype=_DTYPES, reset=False)
        return safe_sparse_dot(X, self.components_.T, dense_output=True)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return the points of least norm that project to X."""
        check_is_fitted(self)
        X = check_array(X, dtype=_DTYPES, accept_sparse=_SPARSE)  # pyright: ignore
        if X.shape[1] != self.n_components_:
            raise ValueError(
                f"X has {X.shape[1]} features, but inverse_transform needs "
                f"{self.n_components_}, the number of components."
            )
        kept = self.compute_inverse_components
        inverse = self.inverse_components_ if kept else np.linalg.pinv(self.components_)
        return safe_sparse_dot(X, inverse.T, dense_output=True)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _law(self, n_samples: int, n_features: int) -> FreeProjection:
        out = n_features if self.n_components is None else self.n_components
        if out == "auto":
            out = int(johnson_lindenstrauss_min_dim(n_samples, eps=self.eps))
            if out > n_features:
                raise ValueError(
                    f"`n_components` = 'auto' asks for {out} components at `eps` = "
                    f"{self.eps}, but X has {n_features} features; raise `eps`."
                )
        dim = max(n_features, out) if self.dim is None else self.dim
        if out < 1:
            raise ValueError(f"`n_components` must be at least 1, got {out}.")
        if dim < max(n_features, out):
            raise ValueError(
                f"`dim` must be at least the {n_features} features of X and the {out} "
                f"components, got {dim}."
            )
        scale = math.sqrt(dim / out) if self.scale is None else float(self.scale)
        return FreeProjection(
            n_generators=self.n_generators,
            length=self.length,
            dim=dim,
            input_dim=out,
            scale=scale,
            family=self.family,
            inverses=self.inverses,
        )
