"""Block matrices of words: their arrangement and their spectra.

The n_w = 4^k words of one length, in lexicographic order, fill a square of 2^k x 2^k
places; putting λ(w) at the place of w gives λ(A), and its spectrum is that of

    K = n_w^(-1/2) λ(A) λ(A)^T          (mean eigenvalue exactly 1),

whose square roots are the singular values of λ(A)/√(2^k). An *arrangement* is the
square of word indices: `raw` is W, row by row; `partial_transpose` permutes the 2k
binary digits of the places; `shuffled` is a uniform permutation. (Appendix C,
"Higher-order Joint Statistics" and "Partial Transpose".)

For letters (ℓ = 1) of O(d), d → ∞, K has the law `WordLaw(2^k, 1)`; docs/words.md says
why the paper's Marchenko–Pastur is only near it. For longer words `block_moment`
counts: tr K^k is a sum over closed paths through the square of words, and a
product of words has trace 1 in the limit if it is trivial in the free group, else 0.
"""

import functools
import re
from collections import Counter
from fractions import Fraction
from itertools import chain, product

import numpy as np
import scipy.linalg
from jaxtyping import Array, Float, Int

from freeproj.projection import words
from freeproj.spectra.checks import whole
from freeproj.spectra.kernel import check_group, dense, draw_bases, in_threads

__all__ = ["ARRANGEMENTS", "PAPER_TRANSPOSE", "block_matrix", "block_moment"]
__all__ += ["block_spectra", "partial_transpose", "raw", "shuffled"]

ARRANGEMENTS = ("transposed", "raw", "shuffled")

# T_(2,7)(4,5): A[(j1,j7,j3,j5),(j4,j6,j2,j8)] = w_(j1,…,j8).
PAPER_TRANSPOSE = "(2,7)(4,5)"

_Bases = Float[Array | np.ndarray, "n d d"] | Int[Array | np.ndarray, "n d"]
_CHUNK = 2**20  # matrix entries of one piece of work, 8 megabytes
_Square = Int[np.ndarray, "side side"]
_Word = tuple[int, ...]
_Ring = list[list[Counter[_Word]]]  # a matrix over the group ring of the free group


def raw(n_words: int = 256) -> _Square:
    """Return W: the word with index i·2^k + j stands at (i, j)."""
    side = 2 ** (_count_digits(n_words) // 2)
    return np.arange(n_words).reshape(side, side)


def partial_transpose(arrangement: _Square, cycles: str = PAPER_TRANSPOSE) -> _Square:
    """Permute the 2k binary digits of an arrangement's places, counted from 1.

    Digit i of a new place is the digit of the old one that follows i in its cycle.
    """
    n_digits = _count_digits(arrangement.size)
    if not re.fullmatch(r"\s*(\(\s*\d+(\s*,\s*\d+)*\s*\)\s*)+", cycles):
        raise ValueError(f'Cycles are written "(2,7)(4,5)", got {cycles!r}.')
    axes = list(range(n_digits))
    for cycle in re.findall(r"\(([^)]*)\)", cycles):
        digits = [int(digit) - 1 for digit in cycle.split(",")]
        if not all(0 <= digit < n_digits for digit in digits):
            rule = f"{2**n_digits} words have digits 1..{n_digits}"
            raise ValueError(f"{rule}, got ({cycle}) in {cycles!r}.")
        for digit, image in zip(digits, digits[1:] + digits[:1], strict=True):
            axes[digit] = image
    if sorted(axes) != list(range(n_digits)):
        raise ValueError(f"{cycles!r} must permute {n_digits} digits, each once.")
    old = np.reshape(arrangement, (2,) * n_digits)
    return old.transpose(axes).reshape(arrangement.shape)


def shuffled(rng: np.random.Generator, n_words: int = 256) -> _Square:
    """Draw one of all n_w! arrangements, each equally likely."""
    return rng.permutation(n_words).reshape(raw(n_words).shape)


def block_matrix(
    arrangement: _Square, bases: _Bases, length: int, *, keep_ones: bool = True
) -> Float[np.ndarray, "size size"]:
    """Return λ(A) in float64: the block λ(w) at the place of each word w.

    Permutations fix the all-ones vector. With `keep_ones=False` they act on its
    orthogonal complement, and blocks have d - 1 rows.
    """
    bases = np.asarray(bases)
    n_words = len(bases) ** length
    if n_words != arrangement.size:
        found = f"{len(bases)} bases have {n_words} words of length {length}"
        raise ValueError(f"{found}, but the arrangement has {arrangement.size} places.")
    return _fill(arrangement[None], _all_words(bases[None], length, keep_ones))[0]


def block_spectra(
    *,
    length: int,
    group: str = "orthogonal",
    dim: int = 64,
    n_words: int = 256,
    n_trials: int = 32,
    arrangement: str = "transposed",
    keep_ones: bool = True,
    seed: int = 0,
) -> Float[np.ndarray, "trials size"]:
    """Return the eigenvalues of K, ascending, for fresh bases in every trial.

    Args:
        arrangement: "transposed" (the paper's), "raw", "shuffled" (anew in every
            trial), or cycles of digits for `partial_transpose`.
    """
    n_generators = words.generators_for(n_words, length)
    check_group(group)
    whole(dim, "dim", 2)
    whole(n_trials, "n_trials", 1)
    square = _named_arrangement(arrangement, n_words)
    side = len(square)
    if length == 1:
        arrangement, square = "raw", raw(n_words)  # it only renames letters
    if arrangement == "raw" and length % 2 == 0:
        # The word at (i, j) is the i-th half word times the j-th, so λ(A) = U V, where
        # U is the column of all half words and V their row. V V^T and U^T U are both
        # 2^k times the identity: K = U U^T has the eigenvalues 2^k and 0.
        _check_ones(keep_ones, group == "permutation")
        rows = dim - (not keep_ones)
        return np.tile(np.repeat([0.0, side], [(side - 1) * rows, rows]), (n_trials, 1))

    def spectra_of(trials: range) -> Float[np.ndarray, "some size"]:
        rngs = [np.random.default_rng([seed, length, trial]) for trial in trials]
        bases = np.stack([draw_bases(rng, (n_generators,), dim, group) for rng in rngs])
        is_new = arrangement == "shuffled"
        places = [shuffled(rng, n_words) if is_new else square for rng in rngs]
        matrices = _fill(np.stack(places), _all_words(bases, length, keep_ones))
        kernels = matrices @ matrices.swapaxes(-1, -2) / side
        return np.clip(np.linalg.eigvalsh(kernels), 0, None)  # rounding below zero

    step = max(1, _CHUNK // (n_words * dim**2))
    trials = range(n_trials)
    parts = [trials[start : start + step] for start in range(0, n_trials, step)]
    return np.concatenate(list(in_threads(spectra_of, parts)))


def block_moment(order: int, arrangement: np.ndarray, length: int) -> Fraction:
    """Return lim E tr K^k for words of a length in an arrangement of `blocks`, exactly.

    K = λ(A)λ(A)^T/N with N rows. Orders up to 4 take seconds for 256 words.
    """
    if whole(order, "order", 1) == 1:
        return Fraction(1)
    square, half = tuple(map(tuple, np.asarray(arrangement).tolist())), order // 2
    # With D self-adjoint, the trace of D^(a+b) is the inner product of D^a and D^b.
    first = _power(square, length, half)
    second = _power(square, length, order - half)
    pairs = zip(chain(*first), chain(*second), strict=True)
    closed = sum(one[g] * other[g] for one, other in pairs for g in one)
    return Fraction(closed, len(square) ** (order + 1))


def _named_arrangement(arrangement: str, n_words: int) -> _Square:
    if "(" in arrangement:
        return partial_transpose(raw(n_words), arrangement)
    if arrangement not in ARRANGEMENTS:
        known = f"{', '.join(ARRANGEMENTS)}, or cycles such as {PAPER_TRANSPOSE!r}"
        raise ValueError(f"No arrangement {arrangement!r}. Known: {known}.")
    plain = raw(n_words)
    return partial_transpose(plain) if arrangement == "transposed" else plain


def _all_words(
    bases: np.ndarray, length: int, keep_ones: bool
) -> Float[np.ndarray, "trials n_words d d"]:
    """Return λ(w) for all words, lexicographic, from (trials, n, d[, d]) bases."""
    permutes = bases.ndim == 3
    _check_ones(keep_ones, permutes)
    words = bases if permutes else bases.astype(float)
    times = functools.partial(np.take_along_axis, axis=-1) if permutes else np.matmul
    for _ in range(length - 1):
        words = times(words[:, :, None], bases[:, None])
        words = words.reshape(len(bases), -1, *bases.shape[2:])
    if keep_ones:
        return dense(words)
    frame = scipy.linalg.helmert(bases.shape[-1])  # orthonormal rows, all ⟂ 1
    return frame @ dense(words) @ frame.T


def _fill(
    places: Int[np.ndarray, "trials side side"],
    words: Float[np.ndarray, "trials n_words d d"],
) -> Float[np.ndarray, "trials size size"]:
    """Put the block λ(w) at the place of w."""
    trials, side, _ = places.shape
    blocks = words[np.arange(trials)[:, None, None], places]
    size = side * words.shape[-1]
    return blocks.transpose(0, 1, 3, 2, 4).reshape(trials, size, size)


def _count_digits(n_words: int) -> int:
    """Return 2k for n_words = 4^k."""
    k = (n_words.bit_length() - 1) // 2
    if n_words < 4 or 4**k != n_words:
        near = f"the nearest are {4 ** max(k, 1)} and {4 ** (max(k, 1) + 1)}"
        raise ValueError(f"`n_words` must be a power of 4, got {n_words}; {near}.")
    return 2 * k


def _check_ones(keep_ones: bool, permutes: bool) -> None:
    if not (permutes or keep_ones):
        raise ValueError("`keep_ones=False` needs permutations: O(d) fixes no vector.")


@functools.lru_cache(maxsize=16)
def _power(square: tuple, length: int, exponent: int) -> _Ring:
    """Return D^exponent, D = A A* over the group ring: D_ij = Σ_c w_ic w_jc^-1."""
    if exponent > 1:
        return _times(_power(square, length, exponent - 1), _power(square, length, 1))
    every = words.enumerate_words(
        words.generators_for(len(square) ** 2, length), length
    )
    A = [[Counter([tuple(every[at].tolist())]) for at in row] for row in square]
    columns = zip(*square, strict=True)
    adjoint = [
        [Counter([tuple((-every[at, ::-1]).tolist())]) for at in each]
        for each in columns
    ]
    return _times(A, adjoint)


def _times(left: _Ring, right: _Ring) -> _Ring:
    return [
        [_entry(row, column) for column in zip(*right, strict=True)] for row in left
    ]


def _entry(row, column) -> Counter[_Word]:
    total = Counter()
    for one, other in zip(row, column, strict=True):
        for (v, m), (w, k) in product(one.items(), other.items()):
            shared = 0  # letters that cancel
            while shared < min(len(v), len(w)) and v[-1 - shared] == -w[shared]:
                shared += 1
            total[v[: len(v) - shared] + w[shared:]] += m * k
    return total
