"""The averaged kernel of all words of one length, and its spectrum.

For data X (d x p, one sample per column) and bases U_1, …, U_n the kernel is

    K = X^T (A^ℓ)^T A^ℓ X,    A = (U_1 + … + U_n)/√n,

which equals n^-ℓ Σ_{v,w} <λ(v)X_i, λ(w)X_j> over all words of length ℓ: the words are
never written out. (The inner products of single words are those of equation (3.1).)
Everything works on stacks of trials, in float64. Bases are float arrays (…, n, d, d) of
matrices or integer arrays (…, n, d) of permutations with U[σ(j), j] = 1, as
`freeproj.projection.matrices` draws them. (Section 4 of the paper.)
"""

import functools
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Array, Float, Int, Num
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from freeproj.projection import words
from freeproj.spectra.checks import Number, data_matrix, real_array, whole

__all__ = ["GROUPS", "Group", "average_kernel", "check_group", "dense", "draw_bases"]
__all__ += ["draw_words", "expected_inner_product", "gaussian_data", "in_threads"]
__all__ += ["inner_product", "sample_root_singular_values"]

Group = Literal["orthogonal", "permutation"]
GROUPS = get_args(Group)

_AnyArray = Array | np.ndarray
_Bases = Float[_AnyArray, "*trials n d d"] | Int[_AnyArray, "*trials n d"]

# Matrices are drawn by slabs of this many numbers (1 MB), which stay in cache.
_SLAB = 2**17


def average_kernel(
    X: Num[_AnyArray, "*trials d p"],
    bases: _Bases,
    length: int,
    *,
    keep_ones: bool = True,
) -> Float[np.ndarray, "*trials p p"]:
    """Return K = X^T (A^ℓ)^T A^ℓ X, the kernel averaged over all n^ℓ words.

    Args:
        keep_ones: every permutation fixes the all-ones vector, which gives K one
            eigenvalue far outside; False takes that vector out of the data.
    """
    data = _data(X, keep_ones)
    mean = _mean_of_bases(bases, data.shape[-2])
    image = np.linalg.matrix_power(mean, whole(length, "length")) @ data
    return np.swapaxes(image, -1, -2) @ image


def sample_root_singular_values(
    X: Num[_AnyArray, "d p"] | Num[_AnyArray, "n_trials d p"],
    n_generators: int,
    length: int,
    *,
    n_trials: int,
    seed: int,
    group: Group = "orthogonal",
    keep_ones: bool = True,
) -> Float[np.ndarray, "n_trials p"]:
    """Draw bases n_trials times and return the singular values of √K for each.

    Args:
        X: data for all trials, or one matrix for each.
    """
    data = _data(X, keep_ones)
    check_group(group)
    whole(length, "length")
    whole(n_generators, "n_generators", 1)
    whole(n_trials, "n_trials", 1)
    if data.ndim > 3 or (data.ndim == 3 and len(data) != n_trials):
        rule = f"must be one d x p matrix or one for each of the {n_trials} trials"
        raise ValueError(f"`X` {rule}, got shape {data.shape}.")
    size = max(1, _SLAB // (n_generators * data.shape[-2] ** 2))
    starts = range(0, n_trials, size)
    blocks = [slice(start, min(start + size, n_trials)) for start in starts]
    seeds = np.random.SeedSequence(seed).spawn(len(blocks))

    def work(block: slice, block_seed: np.random.SeedSequence) -> np.ndarray:
        rng = np.random.default_rng(block_seed)
        shape = (block.stop - block.start, n_generators, data.shape[-2])
        mean = _draw_sum(rng, *shape, group) / np.sqrt(n_generators)
        own = data if data.ndim == 2 else data[block]
        image = np.linalg.matrix_power(mean, length) @ own
        found = np.linalg.svd(image, compute_uv=False)[:, ::-1]
        return np.pad(found, [(0, 0), (image.shape[-1] - found.shape[-1], 0)])

    # Seeds belong to blocks, so the result does not depend on the number of threads.
    return np.concatenate(list(in_threads(work, blocks, seeds)))


def inner_product(
    v: ArrayLike, w: ArrayLike, bases: Float[_AnyArray, "n d d"] | Int[_AnyArray, "n d"]
) -> float:
    """Return ⟨λ(v), λ(w)⟩ = Tr(λ(v)^T λ(w))/d for given bases. (Equation 3.1.)

    Letters count from 1, and -k is the inverse of k, as in `freeproj.projection.words`.
    Integer bases are permutations.
    """
    bases = dense(np.asarray(bases))
    product = np.eye(bases.shape[-1])
    for letter in _quotient(v, w).tolist():
        base = bases[abs(letter) - 1]
        product = product @ (base if letter > 0 else base.T)
    return float(np.trace(product) / len(product))


def expected_inner_product(v: ArrayLike, w: ArrayLike, dim: Number = np.inf) -> float:
    """Return E⟨λ(v), λ(w)⟩ over Haar bases from O(d), up to O(1/d²).

    1 if v = w in the free group, 1/d if v^-1 w is a square, and 0 otherwise
    (Magee–Puder: only a Möbius band bounds a word once at that order). That is why
    moments at finite d lie beside their limits.
    """
    quotient = _quotient(v, w)
    if len(quotient) == 0:
        return 1.0
    # g u g^-1 is a square if and only if u is one.
    while quotient[0] == -quotient[-1]:
        quotient = quotient[1:-1]
    half = len(quotient) // 2
    return float(np.array_equal(quotient[:half], quotient[half:]) / dim)


def in_threads(work: Callable, *arguments: Iterable) -> Iterator[Any]:
    """Yield work(*each) in order: one thread per core, and none inside LAPACK.

    LAPACK releases the interpreter's lock. Its own threads would wait for each other in
    busy loops at every step of small matrices.
    """
    limited = threadpool_limits(1, user_api="blas")
    with limited, ThreadPoolExecutor(os.cpu_count()) as threads:
        yield from threads.map(work, *arguments)


def draw_bases(
    rng: np.random.Generator, shape: tuple[int, ...], dim: int, group: str
) -> np.ndarray:
    """Draw independent Haar matrices from O(d), or permutations, in float64."""
    if group == "permutation":
        return rng.permuted(np.broadcast_to(np.arange(dim), (*shape, dim)), axis=-1)
    q, r = np.linalg.qr(rng.standard_normal((*shape, dim, dim)))
    # QR alone is not Haar: the signs of R's diagonal belong into Q.
    return q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[..., None, :]


def draw_words(
    rng: np.random.Generator, n_generators: int, length: int, dim: int, group: Group
) -> Float[np.ndarray, "d d"]:
    """Draw bases and return A^ℓ, the sum of all words over √(n^ℓ)."""
    (total,) = _draw_sum(rng, 1, n_generators, dim, group)
    return np.linalg.matrix_power(total / np.sqrt(n_generators), length)


def gaussian_data(
    n_trials: int, dim: int, n_samples: int, *, seed: int
) -> Float[np.ndarray, "n_trials d p"]:
    """Draw the paper's data, X_ij ~ N(0, 1/d)."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_trials, dim, n_samples)) / np.sqrt(dim)


def _quotient(v: ArrayLike, w: ArrayLike) -> Int[np.ndarray, " length"]:
    return words.reduce(np.concatenate([words.inverse(v), np.asarray(w, int)]))


def _data(X: _AnyArray, keep_ones: bool) -> np.ndarray:
    data = data_matrix(X)
    return data if keep_ones else data - data.mean(axis=-2, keepdims=True)


def _mean_of_bases(bases, dim: int) -> np.ndarray:
    """Return A = ΣU/√n."""
    bases = np.asarray(bases)
    permutes = bases.dtype.kind in "iu"
    if bases.ndim < (2 if permutes else 3) or bases.shape[-1] != dim:
        rule = f"must be n matrices {dim} x {dim} or n permutations of {dim} (integers)"
        found = f"as `X` has {dim} rows; got shape {bases.shape}"
        raise ValueError(f"`bases` {rule}, {found}.")
    if permutes and (np.sort(bases, axis=-1) != np.arange(dim)).any():
        raise ValueError("Integer `bases` must be permutations of 0..d-1, as rows.")
    # Sum first: n times fewer numbers are left to convert and to check.
    n_generators = bases.shape[-2 if permutes else -3]
    return real_array(_sum(bases), "bases") / np.sqrt(n_generators)


def _draw_sum(
    rng: np.random.Generator, n_trials: int, n_generators: int, dim: int, group: Group
) -> np.ndarray:
    """Return ΣU of fresh bases, (n_trials, d, d), without holding all of them."""
    if group == "permutation":
        return _sum(draw_bases(rng, (n_trials, n_generators), dim, group))
    total = np.zeros((n_trials, dim, dim))
    slab = max(1, _SLAB // (n_trials * dim**2))
    for start in range(0, n_generators, slab):
        count = min(slab, n_generators - start)
        total += _sum(draw_bases(rng, (n_trials, count), dim, group))
    return total


def _sum(bases: np.ndarray) -> np.ndarray:
    """Return ΣU, without holding permutations as matrices all at once."""
    if bases.dtype.kind in "iu":
        each = np.moveaxis(bases, -2, 0)
        return functools.reduce(np.add, map(dense, each))
    return bases.sum(axis=-3, dtype=np.result_type(bases, np.float64))


def dense(bases: np.ndarray) -> np.ndarray:
    """Return bases as matrices: permutations (integers) with U[σ(j), j] = 1."""
    if bases.dtype.kind not in "iu":
        return bases
    return (np.arange(bases.shape[-1])[:, None] == bases[..., None, :]).astype(float)


def check_group(group: str) -> None:
    """Refuse an unknown group."""
    if group not in GROUPS:
        raise ValueError(f"`group` must be one of {', '.join(GROUPS)}; got {group!r}.")
