"""The projection in NumPy, for pipelines that have no use for JAX.

`NumpyProjection` has the settings of `FreeProjection` and the same conventions: given
the same bases and the same word it returns the same matrix. Only the random draws
differ, since they come from NumPy's generators. Nothing here imports JAX.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike, DTypeLike

__all__ = ["NumpyProjection", "as_numpy", "haar", "permutations"]

_MAX_TABLE = 2**16  # matrices of a family that must be kept one by one


@dataclasses.dataclass(frozen=True)
class NumpyProjection:
    """The law of M_o = scale · T_2 λ(w) T_1; see `FreeProjection` for the settings."""

    n_generators: int
    length: int
    dim: int = 128
    input_dim: int = 0  # stands for `dim`; replaced below
    scale: float = math.sqrt(2)
    family: str = "haar"
    inverses: bool = False

    def __post_init__(self):
        if self.input_dim == 0:
            object.__setattr__(self, "input_dim", self.dim)
        for name in ("n_generators", "length", "dim", "input_dim"):
            value = getattr(self, name)
            if value < 1:
                raise ValueError(f"`{name}` must be at least 1, got {value}.")
        if not (self.scale > 0 and math.isfinite(self.scale)):
            raise ValueError(f"`scale` must be positive and finite, got {self.scale}.")
        _check_family(self)

    @classmethod
    def with_words(cls, n_words: int, length: int, **settings: Any) -> NumpyProjection:
        """Returns the projection with n_words = n^ℓ positive words; n is computed."""
        root = max(1, round(n_words ** (1 / max(length, 1))))
        if root**length != n_words:
            low = root if root**length < n_words else root - 1
            raise ValueError(
                f"`n_words` must be a power n^{length} for words of length {length}, "
                f"got {n_words}; the nearest are {low**length} (n = {low}) and "
                f"{(low + 1) ** length} (n = {low + 1})."
            )
        return cls(root, length, **settings)

    @property
    def n_words(self) -> int:
        """The number of words: n^ℓ, or 2n(2n-1)^(ℓ-1) with inverses."""
        n, ell = self.n_generators, self.length
        return 2 * n * (2 * n - 1) ** (ell - 1) if self.inverses else n**ell

    @property
    def orthogonal(self) -> bool:
        """Tells whether every λ(w) keeps all norms."""
        return self.family != "gaussian"

    def draw_bases(
        self, rng: np.random.Generator, dtype: DTypeLike = np.float64
    ) -> np.ndarray:
        """Draws what all words share: U_1, …, U_n, or the family's own table."""
        bases = _FAMILIES[self.family].draw_bases(rng, self)
        return bases.astype(dtype) if bases.dtype.kind == "f" else bases

    def draw_word(self, rng: np.random.Generator) -> Int[np.ndarray, " length"]:
        """Draws a word, uniformly."""
        n = self.n_generators
        if not self.inverses:
            return rng.integers(1, n + 1, self.length, dtype=np.int32)
        # On the cycle a_1, …, a_n, a_1^-1, …, a_n^-1 an inverse lies n steps on.
        first = rng.integers(2 * n, size=1)
        steps = n + 1 + rng.integers(2 * n - 1, size=self.length - 1)
        places = np.cumsum(np.concatenate([first, steps])) % (2 * n)
        return np.where(places < n, places + 1, n - 1 - places).astype(np.int32)

    def matrix(
        self, word: ArrayLike, bases: np.ndarray, obs_dim: int
    ) -> Float[np.ndarray, "d_in d_obs"]:
        """Returns M_o for observations of `obs_dim` entries."""
        if not 1 <= obs_dim <= self.dim:
            raise ValueError(
                f"Observations must have 1 to {self.dim} entries (the projection's "
                f"`dim`), got {obs_dim}; choose a larger `dim`."
            )
        letters = self._checked(word)
        corner = _FAMILIES[self.family].columns(letters, bases, obs_dim, self)
        rows = min(self.input_dim, self.dim)
        missing = self.input_dim - rows
        return np.pad(
            corner[:rows] * corner.dtype.type(self.scale), ((0, missing), (0, 0))
        )

    def place(self, word: ArrayLike) -> int:
        """Returns a positive word's lexicographic index."""
        index = 0
        for letter in np.asarray(word).tolist():
            index = index * self.n_generators + letter - 1
        return index

    def project(
        self,
        word: ArrayLike,
        bases: np.ndarray,
        observations: Float[np.ndarray, "*batch d_obs"],
    ) -> Float[np.ndarray, "*batch d_in"]:
        """Returns M_o ξ for each observation ξ."""
        return observations @ self.matrix(word, bases, observations.shape[-1]).T

    def _checked(self, word: ArrayLike) -> Int[np.ndarray, " length"]:
        letters, n = np.asarray(word), self.n_generators
        low = -n if self.inverses else 1
        shaped = letters.dtype.kind in "iu" and letters.shape == (self.length,)
        if not shaped or not ((low <= letters) & (letters <= n) & (letters != 0)).all():
            raise ValueError(
                f"`word` must be {self.length} letters in {low}..{n}, not 0, got "
                f"{letters.tolist()}."
            )
        return letters


def as_numpy(projection: Any) -> NumpyProjection:
    """Returns the same settings as a `NumpyProjection`, from a `FreeProjection` too."""
    if isinstance(projection, NumpyProjection):
        return projection
    names = [field.name for field in dataclasses.fields(NumpyProjection)]
    if not all(hasattr(projection, name) for name in names):
        raise TypeError(
            "`projection` must be a FreeProjection or a NumpyProjection, got "
            f"{type(projection).__name__}."
        )
    return NumpyProjection(**{name: getattr(projection, name) for name in names})


def haar(
    rng: np.random.Generator, n_generators: int, dim: int
) -> Float[np.ndarray, "n d d"]:
    """Draws independent matrices from the uniform (Haar) law on O(d)."""
    q, r = np.linalg.qr(rng.standard_normal((n_generators, dim, dim)))
    # QR alone is not Haar: its column signs follow the algorithm, not the law.
    return q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[:, None, :]


def permutations(
    rng: np.random.Generator, n_generators: int, dim: int
) -> Int[np.ndarray, "n d"]:
    """Draws independent uniform permutations of d points, as index rows."""
    rows = np.tile(np.arange(dim, dtype=np.int32), (n_generators, 1))
    return rng.permuted(rows, axis=1)


# Families of matrices: how to draw the bases, and the first columns of λ(w).


class _Family(NamedTuple):
    draw_bases: Callable[[np.random.Generator, NumpyProjection], np.ndarray]
    columns: Callable[[np.ndarray, np.ndarray, int, NumpyProjection], np.ndarray]


def _haar_columns(letters, bases, columns, _projection) -> np.ndarray:
    product = None
    for letter in letters[::-1].tolist():
        base = bases[abs(letter) - 1]
        factor = base.T if letter < 0 else base
        product = factor[:, :columns] if product is None else factor @ product
    assert product is not None
    return product


def _permutation_columns(letters, bases, columns, projection) -> np.ndarray:
    image = np.arange(columns)
    for letter in letters[::-1].tolist():
        base = bases[abs(letter) - 1]
        image = (np.argsort(base) if letter < 0 else base)[image]
    return (np.arange(projection.dim)[:, None] == image).astype(np.float64)


def _table_columns(letters, bases, columns, projection) -> np.ndarray:
    return bases[projection.place(letters), :, :columns]


def _hadamard_columns(letters, bases, columns, projection) -> np.ndarray:
    left, right = bases[projection.place(letters)]
    unit = np.ones((1, 1))
    while len(unit) < projection.dim:
        unit = np.block([[unit, unit], [unit, -unit]]) / math.sqrt(2)
    return (left[:, None] * unit[:, :columns] * right[:columns]).astype(bases.dtype)


def _draw_gaussian(rng, p) -> np.ndarray:
    return rng.standard_normal((p.n_words, p.dim, p.dim)) / math.sqrt(p.dim)


_FAMILIES = {
    "haar": _Family(lambda rng, p: haar(rng, p.n_generators, p.dim), _haar_columns),
    "permutation": _Family(
        lambda rng, p: permutations(rng, p.n_generators, p.dim), _permutation_columns
    ),
    "iid_haar": _Family(lambda rng, p: haar(rng, p.n_words, p.dim), _table_columns),
    "gaussian": _Family(_draw_gaussian, _table_columns),
    "hadamard": _Family(
        lambda rng, p: rng.choice([-1.0, 1.0], (p.n_words, 2, p.dim)), _hadamard_columns
    ),
    "identity": _Family(
        lambda rng, p: np.zeros(0), lambda letters, bases, k, p: np.eye(p.dim, k)
    ),
}


def _check_family(projection: NumpyProjection) -> None:
    family = projection.family
    if family not in _FAMILIES:
        raise ValueError(f"No family {family!r}. Known: {', '.join(_FAMILIES)}.")
    if projection.inverses and family not in ("haar", "permutation"):
        raise ValueError(
            "`inverses` needs a family of group elements (haar, permutation), got "
            f"{family!r}."
        )
    tabled = family in ("iid_haar", "gaussian", "hadamard")
    if tabled and projection.n_words > _MAX_TABLE:
        raise ValueError(
            f"The family {family!r} keeps every matrix, so `n_words` must be at most "
            f"{_MAX_TABLE}, got {projection.n_words}; `haar` has no limit."
        )
    if family == "hadamard" and projection.dim & (projection.dim - 1):
        raise ValueError(
            f"The family 'hadamard' needs a `dim` that is a power of 2, got "
            f"{projection.dim}."
        )
