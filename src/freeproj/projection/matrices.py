"""Random bases of a group, and the matrix of a word.

Bases U_1, …, U_n are drawn from O(d) (`haar`, an array of n matrices) or from S(d)
(`permutations`, an array of n index rows); λ(a_i) = U_i extends to every word as a
homomorphism: λ(vw) = λ(v)λ(w), λ(w^-1) = λ(w)^T. Vectors are columns, λ(w)ξ.
A permutation σ is the row σ(0), …, σ(d-1) and stands for U[σ(j), j] = 1, so that
products are compositions by indexing. (Section 3.1 of the paper.)

Every function takes traced words and bases, in float32 or float64. Letters are checked
where they are concrete: JAX clamps indices that are out of range silently.
"""

import functools
import operator

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int, PRNGKeyArray

from freeproj.storage.checks import at_least

__all__ = ["block", "block_all", "frames", "haar", "permutations", "represent"]

_AnyArray = Array | np.ndarray
_Word = Int[_AnyArray, " length"]
_Bases = Float[_AnyArray, "n d d"] | Int[_AnyArray, "n d"]
_Corner = Float[Array, "rows columns"]


@functools.partial(jax.jit, static_argnames=("n_generators", "dim", "signed"))
def haar(
    key: PRNGKeyArray, n_generators: int, dim: int, signed: bool = True
) -> Float[Array, "n d d"]:
    """Draw independent matrices from the uniform (Haar) distribution on O(d).

    If not `signed` they are Q of Gaussian matrices G = QR *without* the signs of R, a
    common mistake. Column k then points away from its own coordinate: the diagonal has
    mean -√(2/(πd)) at its top, -0.07 at d = 128, where Haar matrices have 0.
    """
    at_least(1, n_generators=n_generators, dim=dim)
    draw = functools.partial(_haar_matrix, dim=dim, signed=signed)
    keys = jax.random.split(key, n_generators)
    # Sixteen at a time: the intermediates stay in cache.
    return jax.lax.map(draw, keys, batch_size=16)


@functools.partial(
    jax.jit, static_argnames=("n_generators", "dim", "columns", "signed")
)
def frames(
    key: PRNGKeyArray, n_generators: int, dim: int, columns: int, signed: bool = True
) -> Float[Array, "n d columns"]:
    """Draw the first columns of independent Haar matrices, and only these.

    The distribution is that of `haar(...)[:, :, :columns]`, at `columns`/d of the work:
    all that words of one letter need.
    """
    at_least(1, n_generators=n_generators, dim=dim)
    _check_corner(dim, columns, dim)
    draw = functools.partial(_frame, dim=dim, columns=columns, signed=signed)
    return jax.lax.map(draw, jax.random.split(key, n_generators), batch_size=64)


def permutations(key: PRNGKeyArray, n_generators: int, dim: int) -> Int[Array, "n d"]:
    """Draw independent uniform permutations of d points, as index rows."""
    at_least(1, n_generators=n_generators, dim=dim)
    rows = jnp.broadcast_to(jnp.arange(dim, dtype=jnp.int32), (n_generators, dim))
    return jax.random.permutation(key, rows, axis=1, independent=True)


def represent(word: _Word, bases: _Bases) -> Float[Array, "d d"] | Int[Array, " d"]:
    """Return λ(w) = U_{i_1} ··· U_{i_ℓ}; a negative letter gives an inverse."""
    bases = jnp.asarray(bases)
    letters = _checked_letters(word, len(bases))
    factors = [_factor(letter, bases) for letter in letters]
    if not factors:
        identity = jnp.arange if bases.ndim == 2 else jnp.eye
        return identity(bases.shape[1], dtype=bases.dtype)
    multiply = operator.getitem if bases.ndim == 2 else operator.matmul
    return functools.reduce(multiply, factors)


def block(word: _Word, bases: _Bases, rows: int, columns: int) -> _Corner:
    """Return the top left corner of λ(w) without forming the rest.

    Costs ℓ·d²·min(rows, columns) operations; the full product would cost ℓ·d³.
    """
    bases = jnp.asarray(bases)
    _check_corner(rows, columns, bases.shape[1])
    if bases.ndim == 2:  # permutations
        image = represent(word, bases)[:columns]
        return (jnp.arange(rows)[:, None] == image[None, :]).astype(float)
    letters = _checked_letters(word, len(bases))
    if columns > rows:
        # λ(w)^T = λ(w^-1), whose corner has the fewer columns.
        return block(-letters[::-1], bases, columns, rows).T
    corner = jnp.eye(bases.shape[1], columns, dtype=bases.dtype)
    for position, letter in enumerate(letters[::-1]):
        factor = _factor(letter, bases)
        corner = factor[:, :columns] if position == 0 else factor @ corner
    return corner[:rows]


def block_all(
    bases: Float[_AnyArray, "n d d"], length: int, columns: int
) -> Float[Array, "n_words d columns"]:
    """Return λ(w)[:, :columns] for all positive words, in lexicographic order.

    Words are built from the last letter on: n + n² + … + n^ℓ thin products.
    """
    bases = jnp.asarray(bases)
    _check_corner(bases.shape[1], columns, bases.shape[1])
    corners = bases[:, :, :columns]
    for _ in range(length - 1):
        corners = jnp.einsum("iab,jbc->ijac", bases, corners)
        corners = corners.reshape(-1, *corners.shape[2:])
    return corners


def _frame(
    key: PRNGKeyArray, dim: int, columns: int, signed: bool
) -> Float[Array, "d columns"]:
    """Draw the first columns of Q; see `_haar_matrix`."""
    if columns == dim:
        return _haar_matrix(key, dim, signed)
    v, gram, signs = _reflectors(jax.random.normal(key, (columns, dim)))
    frame = jnp.eye(dim, columns, dtype=v.dtype) - v.T @ (
        _inverse_of_upper(gram) @ v[:, :columns]
    )
    return frame * signs if signed else frame


def _haar_matrix(key: PRNGKeyArray, dim: int, signed: bool) -> Float[Array, "d d"]:
    """Draw Q of a Gaussian matrix G = QR, with the signs of R's diagonal in Q.

    The k-th Householder reflection of such a QR depends on d-k+1 fresh Gaussians only.
    So all are drawn at once and multiplied in two blocks, the second of which moves
    only the last ⌊d/2⌋ coordinates. This takes a third of LAPACK's time at d = 128.
    """
    low = dim // 2
    high = dim - low
    # One draw for both halves: XLA needs half a second to compile each further draw.
    fresh = jax.random.normal(key, (high * dim + low * low,))
    v, gram, signs = _reflectors(fresh[: high * dim].reshape(high, dim))
    if low == 0:
        return signs[None, :] if signed else jnp.ones_like(signs)[None, :]
    w, gram_w, signs_w = _reflectors(fresh[high * dim :].reshape(low, low))
    first = jnp.eye(dim, dtype=v.dtype) - v.T @ (_inverse_of_upper(gram) @ v)
    second = jnp.eye(low, dtype=v.dtype) - w.T @ (_inverse_of_upper(gram_w) @ w)
    if not signed:
        # LAPACK leaves the last entry as it is, while our last reflection flips it.
        signs, signs_w = jnp.ones_like(signs), jnp.ones_like(signs_w).at[-1].set(-1)
    # Without the signs the distribution is not Haar: it depends on the algorithm.
    left, right = first[:, :high] * signs, first[:, high:] @ (second * signs_w)
    return jnp.concatenate([left, right], axis=1)


def _reflectors(
    gaussian: Float[Array, "m d"],
) -> tuple[Float[Array, "m d"], Float[Array, "m m"], Float[Array, " m"]]:
    """Return Householder vectors v_k, upper triangular S, and the signs of R.

    Row k, from its k-th entry on, is the column to be reflected; then
    H_1 ··· H_m = I - V^T S^-1 V with S = strict upper part of VV^T + diag(|v_k|²/2).
    """
    x = jnp.triu(gaussian)
    corner = jnp.diagonal(x)
    norms = jnp.sqrt(jnp.sum(x * x, axis=1))
    towards = jnp.where(corner < 0, -1, 1).astype(x.dtype)
    v = x + (towards * norms)[:, None] * jnp.eye(*x.shape, dtype=x.dtype)
    half_squares = norms * (norms + jnp.abs(corner))
    return v, jnp.triu(v @ v.T, 1) + jnp.diag(half_squares), -towards


def _inverse_of_upper(matrix: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """Invert an upper triangular matrix: blocks of 1, then of 2, 4, 8, …

    [[A, B], [0, C]] has the inverse [[A⁻¹, -A⁻¹BC⁻¹], [0, C⁻¹]]. Products only, since
    jaxlib's LAPACK, and with it JAX's own solver, waits for ever if as many calls run
    at a time as there are threads.
    """
    n = len(matrix)
    whole = 1 << max(n - 1, 0).bit_length()
    padded = jnp.eye(whole, dtype=matrix.dtype).at[:n, :n].set(matrix)
    inverses = 1 / jnp.diagonal(padded)[:, None, None]
    while len(inverses) > 1:
        size = inverses.shape[1]
        a, c = inverses[0::2], inverses[1::2]
        pair = jnp.arange(len(a))
        grid = padded.reshape(len(a), 2, size, len(a), 2, size)
        b = -a @ grid[pair, 0, :, pair, 1] @ c
        top = jnp.concatenate([a, b], axis=2)
        bottom = jnp.concatenate([jnp.zeros_like(b), c], axis=2)
        inverses = jnp.concatenate([top, bottom], axis=1)
    return inverses[0, :n, :n]


def _factor(letter: Array | np.integer, bases: Array) -> Array:
    """Return U_k, or its inverse for a negative letter."""
    base = bases[abs(letter) - 1]
    if isinstance(letter, np.integer):
        return _invert(base) if letter < 0 else base
    return jnp.where(letter < 0, _invert(base), base)


def _invert(element: Array) -> Array:
    return jnp.argsort(element) if element.ndim == 1 else element.T


def _checked_letters(word: _Word, n_generators: int) -> Int[_AnyArray, " length"]:
    if isinstance(word, Tracer):
        return word
    letters = np.asarray(word)
    if (letters == 0).any() or (np.abs(letters) > n_generators).any():
        raise ValueError(
            f"A word's letters must lie in ±1..±{n_generators} for {n_generators} "
            f"bases, got {letters.tolist()}."
        )
    return letters


def _check_corner(rows: int, columns: int, dim: int) -> None:
    for name, value in (("rows", rows), ("columns", columns)):
        if not 0 < value <= dim:
            raise ValueError(f"`{name}` must lie in 1..{dim} (= d), got {value}.")
