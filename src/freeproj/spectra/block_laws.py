"""Limit laws of block matrices, and their exact moments for every word length.

For letters (ℓ = 1) of O(d), d → ∞, the 2^k x 2^k block matrix holds free Haar unitaries
u, and K has the law of |u_1 + … + u_N|²/N with N = 2^k, that is `WordLaw(N, 1)`: the
square of the law that Kesten and McKay found on the N-regular tree. The paper names
Marchenko–Pastur (ratio 1), which is the limit N → ∞. At N = 16 the two differ visibly:
the second moment is 31/16, not 2, and the right edge 15/4, not 4.

For longer words the moments are counted: tr K^k is a sum over closed paths through the
square of words, and a product of words has trace 1 in the limit if it is trivial in the
free group, else 0.
"""

from __future__ import annotations

import functools
from collections import Counter
from fractions import Fraction
from itertools import chain

import numpy as np

from freeproj import words

__all__ = ["block_moment"]

_Word = tuple[int, ...]
_Ring = list[list[Counter[_Word]]]  # a matrix over the group ring of the free group


def block_moment(order: int, arrangement: np.ndarray, length: int) -> Fraction:
    """Return lim E tr K^k for words of a length in an arrangement of `blocks`, exactly.

    K = λ(A)λ(A)^T/N with N rows. Orders up to 4 take seconds for 256 words.
    """
    if order < 1:
        raise ValueError(f"`order` must be at least 1, got {order}.")
    square = tuple(map(tuple, np.asarray(arrangement).tolist()))
    half = order // 2
    if half == 0:
        return Fraction(1)
    # With D self-adjoint, the trace of D^(a+b) is the inner product of D^a and D^b.
    first = _power(square, length, half)
    second = _power(square, length, order - half)
    pairs = zip(chain(*first), chain(*second), strict=True)
    closed = sum(one[g] * other[g] for one, other in pairs for g in one)
    return Fraction(closed, len(square) ** (order + 1))


@functools.lru_cache(maxsize=16)
def _power(square: tuple, length: int, exponent: int) -> _Ring:
    """Return D^exponent, D = A A* over the group ring: D_ij = Σ_c w_ic w_jc^-1."""
    n_words = len(square) ** 2
    every = words.enumerate_words(words.generators_for(n_words, length), length)
    spelled = [tuple(word) for word in every.tolist()]
    A = [[Counter([spelled[index]]) for index in row] for row in square]
    if exponent == 1:
        return _times(A, _adjoint(A))
    return _times(_power(square, length, exponent - 1), _power(square, length, 1))


def _times(left: _Ring, right: _Ring) -> _Ring:
    return [
        [_entry(row, column) for column in zip(*right, strict=True)] for row in left
    ]


def _entry(row, column) -> Counter[_Word]:
    total = Counter()
    for one, other in zip(row, column, strict=True):
        for v, times in one.items():
            for w, times_w in other.items():
                total[_joined(v, w)] += times * times_w
    return total


def _joined(v: _Word, w: _Word) -> _Word:
    """Return the reduced word of v·w, both reduced."""
    shared, most = 0, min(len(v), len(w))
    while shared < most and v[-1 - shared] == -w[shared]:
        shared += 1
    return v[: len(v) - shared] + w[shared:]


def _adjoint(matrix: _Ring) -> _Ring:
    def inverse(element):
        return Counter({tuple(-x for x in g[::-1]): k for g, k in element.items()})

    return [
        [inverse(entry) for entry in column] for column in zip(*matrix, strict=True)
    ]
