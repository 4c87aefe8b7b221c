"""Draw the words and matrices of a `FreeProjection` from NumPy's generators.

Settings, words and families are those of `freeproj.projection`; from the same bases and
word the matrix is the same. Families of group elements (`haar`, `qr`, `permutation`)
are drawn and multiplied in NumPy: JAX is imported but never started, so nothing is
compiled and worker processes may be forked. Every other family, including your own, is
drawn by its own functions.
"""

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from freeproj.projection import words
from freeproj.projection.projection import FreeProjection

__all__ = ["checked", "draw_bases", "draw_word", "haar", "keeps_norms", "matrix"]
__all__ += ["table"]

_MOST = 2**23  # entries of a table of the matrices of all words: 64 MB

_Rng = np.random.Generator
_Words = Int[np.ndarray, "n_words length"]

_GROUPED = ("haar", "qr", "permutation")
_ISOMETRIES = (*_GROUPED, "iid_haar", "hadamard", "identity")


def checked(projection: Any, obs_dim: int) -> FreeProjection:
    """Refuse what is not a `FreeProjection`, or too small for `obs_dim` entries.

    A number d stands for `FreeProjection(4, 4, d)`: words of the paper's n and ℓ.
    """
    if type(projection) is int:
        projection = FreeProjection(4, 4, projection)
    if not isinstance(projection, FreeProjection):
        kind = type(projection).__name__
        raise TypeError(f"`projection` must be a FreeProjection, got {kind}.")
    projection.check_observation(obs_dim)
    return projection


def keeps_norms(law: FreeProjection) -> bool:
    """Whether every λ(w) is known to keep all norms."""
    return law.family in _ISOMETRIES


def draw_bases(law: FreeProjection, rng: _Rng) -> np.ndarray:
    """Draw what all words share: U_1, …, U_n, or the family's own table."""
    n, dim = law.n_generators, law.dim
    if law.family in ("haar", "qr"):
        return haar(rng, n, dim, signed=law.family == "haar")
    if law.family == "permutation":
        rows = np.tile(np.arange(dim, dtype=np.int32), (n, 1))
        return rng.permuted(rows, axis=1)
    import jax

    bases = np.asarray(law.draw_bases(jax.random.key(rng.integers(2**63))))
    return bases.astype(np.float64) if bases.dtype.kind == "f" else bases


def draw_word(law: FreeProjection, rng: _Rng) -> Int[np.ndarray, " length"]:
    """Draw a word, uniformly."""
    # Sixty-four bits more than needed: the bias is too small for any sample to show.
    n_bytes = law.n_words.bit_length() // 8 + 9
    index = int.from_bytes(rng.bytes(n_bytes), "little") % law.n_words
    return words.word_at(index, law.n_generators, law.length, inverses=law.inverses)


def matrix(
    law: FreeProjection, word: ArrayLike, bases: np.ndarray, obs_dim: int
) -> Float[np.ndarray, "d_in d_obs"]:
    """Return M_o for observations of `obs_dim` entries."""
    letters = np.asarray(word)
    if law.family not in _GROUPED:
        return np.asarray(law.matrix(letters, bases, obs_dim))
    corner = np.eye(law.dim, obs_dim, dtype=np.result_type(bases, np.float32))
    for letter in reversed(letters.tolist()):
        base = bases[abs(letter) - 1]
        if base.ndim == 1:  # a permutation: U has its ones at (σ(j), j)
            corner = corner[base if letter < 0 else np.argsort(base)]
        else:
            corner = (base.T if letter < 0 else base) @ corner
    fitted = np.zeros((law.input_dim, obs_dim), corner.dtype)
    fitted[: law.dim] = law.scale * corner[: law.input_dim]
    return fitted


def table(
    law: FreeProjection, bases: np.ndarray, obs_dim: int
) -> tuple[_Words, Float[np.ndarray, "n_words d_in d_obs"]] | None:
    """Return all words by their index, with M_o of each; None if they are too many."""
    if law.n_words * law.input_dim * obs_dim > _MOST:
        return None
    letters = words.enumerate_words(law.n_generators, law.length, inverses=law.inverses)
    if law.family not in _GROUPED:
        return letters, np.asarray(law.matrices(bases, obs_dim))
    return letters, np.stack([matrix(law, word, bases, obs_dim) for word in letters])


def haar(
    rng: _Rng, n_generators: int, dim: int, *, signed: bool = True
) -> Float[np.ndarray, "n d d"]:
    """Draw Haar matrices of O(d), or uncorrected QR (not Haar) if not `signed`."""
    q, r = np.linalg.qr(rng.standard_normal((n_generators, dim, dim)))
    signs = np.sign(np.diagonal(r, axis1=-2, axis2=-1))[:, None, :]
    return q * signs if signed else q
