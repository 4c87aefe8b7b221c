"""Words of the free group, as integer arrays.

A letter is a non-zero integer: `k` is the generator a_k and `-k` its inverse. A word
is a row of letters, read from left to right; the empty row is the identity.
(Sections 3.1 and 3.3 of the paper.)

There are two families of words of one length ℓ in n generators, both sampled uniformly:

- *positive* words, the paper's Λ_n^ℓ: no inverses, n^ℓ of them;
- *reduced* words with inverses (`inverses=True`): no letter follows its own inverse,
  2n(2n-1)^(ℓ-1) of them.

Both are indexed lexicographically, first letter most significant, in the letter order
a_1, …, a_n, a_1^-1, …, a_n^-1. Indices are Python integers, so families of any size
can be indexed and sampled; only `enumerate_words` writes one out.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PRNGKeyArray
from numpy.typing import ArrayLike

from freeproj.storage.checks import at_least, within

__all__ = ["common_prefix", "count_words", "enumerate_words", "generators_for"]
__all__ += ["inverse", "reduce", "sample", "spell", "word_at"]

_MAX_BITS = 10_000  # of a number of words
_MAX_ENUMERATED_LETTERS = 2**26  # a quarter of a gigabyte


def sample(
    key: PRNGKeyArray, n_generators: int, length: int, *, inverses: bool = False
) -> Int[Array, " length"]:
    """Draw one word uniformly from its family; batch by `vmap` over keys."""
    _check_family(n_generators, length)
    if not inverses:
        return jax.random.randint(key, (length,), 1, n_generators + 1)
    if length == 0:
        return jnp.zeros((0,), dtype=int)
    # On the cycle a_1, …, a_n, a_1^-1, …, a_n^-1 a letter's inverse is n places ahead.
    # Any step but n is allowed, so a reduced word is a walk of independent steps.
    n, key_first, key_steps = n_generators, *jax.random.split(key)
    first = jax.random.randint(key_first, (1,), 0, 2 * n)
    steps = n + 1 + jax.random.randint(key_steps, (length - 1,), 0, 2 * n - 1)
    places = jnp.cumsum(jnp.concatenate([first, steps])) % (2 * n)
    return jnp.where(places < n, places + 1, n - 1 - places)


def enumerate_words(
    n_generators: int, length: int, *, inverses: bool = False
) -> Int[np.ndarray, "n_words length"]:
    """Return all words of the family in the order of their index."""
    n_words = count_words(n_generators, length, inverses=inverses)
    if n_words * max(length, 1) > _MAX_ENUMERATED_LETTERS:
        raise ValueError(
            f"The family has {n_words} words of length {length}, too many to write "
            "out; draw from it with `sample` or take single words with `word_at`."
        )
    words, alphabet = np.zeros((1, 0), np.int32), _alphabet(n_generators, inverses)
    for _ in range(length):
        letters = np.tile(alphabet, len(words))
        grown = np.column_stack([np.repeat(words, len(alphabet), axis=0), letters])
        cancels = (grown[:, -2:-1] == -grown[:, -1:]).any(axis=1)
        words = grown[~cancels]
    return words


def count_words(n_generators: int, length: int, *, inverses: bool = False) -> int:
    """Return the family's size: n^ℓ, or 2n(2n-1)^(ℓ-1) with inverses."""
    _check_family(n_generators, length)
    if length * (2 * n_generators).bit_length() > _MAX_BITS:
        raise ValueError(
            f"Words of length {length} over {n_generators} generators are too many to "
            f"count; use shorter words or fewer generators."
        )
    if not inverses or length == 0:
        return n_generators**length
    return 2 * n_generators * (2 * n_generators - 1) ** (length - 1)


def generators_for(n_words: int, length: int) -> int:
    """Return the n with n^ℓ = n_words; an error names the nearest possible counts."""
    at_least(1, length=length, n_words=n_words)
    if max(length, n_words.bit_length()) > _MAX_BITS:
        raise ValueError(
            f"`n_words` or `length` is too large to count, got {n_words.bit_length()} "
            f"bits and {length}; n^ℓ may have {_MAX_BITS} bits."
        )
    root = _integer_root(n_words, length)
    if root**length != n_words:
        raise ValueError(
            f"`n_words` must be a power n^{length} for words of length {length}, got "
            f"{n_words}; the nearest are {root**length} (n = {root}) and "
            f"{(root + 1) ** length} (n = {root + 1})."
        )
    return root


def word_at(
    index: int, n_generators: int, length: int, *, inverses: bool = False
) -> Int[np.ndarray, " length"]:
    """Return the word with the given lexicographic index."""
    n_words = count_words(n_generators, length, inverses=inverses)
    within(f"[0, {n_words})", index=index)
    letters: list[int] = []
    alphabet = _alphabet(n_generators, inverses).tolist()
    for _ in range(length):
        allowed = [x for x in alphabet if x != -(letters or [0])[-1]]
        n_words //= len(allowed)
        place, index = divmod(index, n_words)
        letters.append(allowed[place])
    return np.array(letters, dtype=np.int32)


def reduce(word: ArrayLike) -> Int[np.ndarray, " reduced"]:
    """Cancel neighbouring inverses until none are left."""
    kept: list[int] = []
    for letter in _letters(word).tolist():
        if kept and kept[-1] == -letter:
            kept.pop()
        else:
            kept.append(letter)
    return np.array(kept, dtype=np.int32)


def inverse(word: ArrayLike) -> Int[np.ndarray, " length"]:
    """Return w^-1: the letters reversed and inverted."""
    return -_letters(word)[::-1]


def common_prefix(v: ArrayLike, w: ArrayLike) -> int:
    """Return the number of letters that v and w share from the left."""
    v, w = _letters(v), _letters(w)
    shorter = min(len(v), len(w))
    differs = np.flatnonzero(v[:shorter] != w[:shorter])
    return int(differs[0]) if len(differs) else shorter


def spell(word: ArrayLike) -> str:
    """Write a word for humans: "aba⁻¹" for `[1, 2, -1]`, "e" for none, "a27" for 27."""
    letters = _letters(word).tolist()
    numbered = any(abs(letter) > 26 for letter in letters)
    names = [f"a{abs(k)}" if numbered else chr(ord("a") + abs(k) - 1) for k in letters]
    signed = (name + "⁻¹" * (k < 0) for name, k in zip(names, letters, strict=True))
    return "".join(signed) or "e"


def _letters(word: ArrayLike) -> Int[np.ndarray, " length"]:
    letters = np.asarray(word)
    if letters.ndim != 1 or (letters.size and letters.dtype.kind not in "iu"):
        raise ValueError(f"A word is a row of non-zero integers, got {word!r}.")
    if (letters == 0).any():
        raise ValueError(f"A word's letters must be non-zero, got {letters.tolist()}.")
    return letters.astype(np.int32)


def _alphabet(n_generators: int, inverses: bool) -> Int[np.ndarray, " letters"]:
    generators = np.arange(1, n_generators + 1, dtype=np.int32)
    return np.concatenate([generators, -generators]) if inverses else generators


def _integer_root(value: int, degree: int) -> int:
    """Return the largest r with r^degree <= value, exactly, for any size."""
    low, high = 1, 2 ** (value.bit_length() // degree + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle)
    return low


def _check_family(n_generators: int, length: int) -> None:
    at_least(1, n_generators=n_generators)
    at_least(0, length=length)
