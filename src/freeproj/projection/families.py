"""Families of matrices: the distribution behind every word, by name.

A family draws what all words share (`draw_bases`), and gives the top left corner of the
matrix of one word (`corner`). `haar` is the paper's. The others have as many matrices
as there are words, behind the same interface, to compare with. `qr` is what QR gives
without the sign correction; it is kept because the published numbers were made with it.

Your own family is a `Family`, or a function `draw(key, dim)` that returns one d x d
matrix and is called independently for every word. It is named `module:attribute`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import scipy.linalg
from jaxtyping import Array, Float, PRNGKeyArray

from freeproj.projection import matrices
from freeproj.storage.names import Registry

if TYPE_CHECKING:
    from freeproj.projection.projection import FreeProjection

__all__ = ["FAMILIES", "Family", "check_family", "family_of", "independent"]

_MAX_TABLE = 2**16  # matrices of a family that must be kept one by one

_Corner = Float[Array, "rows columns"]


class Family(NamedTuple):
    """How matrices are drawn and looked up.

    Args:
        draw_bases: (key, projection) ↦ what all words share.
        corner: (word, bases, rows, columns, projection) ↦ the top left corner of the
            word's matrix.
        draw_columns: (key, projection, columns) ↦ the first columns of independent
            matrices, one for each word, where that is cheaper than whole matrices;
            grouped families use it for words of one letter only.
        grouped: words multiply, so that inverses make sense; otherwise one matrix is
            kept for each word.
    """

    draw_bases: Callable[[PRNGKeyArray, FreeProjection], Array]
    corner: Callable[..., _Corner]
    draw_columns: Callable[[PRNGKeyArray, FreeProjection, int], Array] | None = None
    grouped: bool = False


FAMILIES: Registry[Family] = Registry("family of matrices")


def family_of(name: str) -> Family:
    """Return the family of a name or of `module:attribute`."""
    found = FAMILIES.resolve(name)
    if isinstance(found, Family):
        return found
    if callable(found):
        return independent(found)
    raise ValueError(
        f"`family` = {name!r} must be a `Family` or a function draw(key, dim), got "
        f"{type(found).__name__}."
    )


def independent(draw: Callable[[PRNGKeyArray, int], Array]) -> Family:
    """Return the family that draws an independent matrix for every word."""

    def draw_bases(key: PRNGKeyArray, projection: FreeProjection) -> Array:
        keys = jax.random.split(key, projection.n_words)
        return jax.vmap(lambda each: jnp.asarray(draw(each, projection.dim)))(keys)

    return Family(draw_bases, _table_corner)


def check_family(projection: FreeProjection) -> None:
    """Refuse settings that the family has no matrices for."""
    name, family = projection.family, family_of(projection.family)
    if projection.inverses and not family.grouped:
        known = [each for each in FAMILIES if FAMILIES.resolve(each).grouped]
        raise ValueError(
            f"`inverses` needs a family of group elements ({', '.join(known)}), "
            f"got {name!r}."
        )
    kept = not family.grouped and name != "identity"
    if kept and projection.n_words > _MAX_TABLE:
        raise ValueError(
            f"The family {name!r} keeps every matrix, so `n_words` must be at "
            f"most {_MAX_TABLE}, got {projection.n_words}; `haar` has no limit."
        )
    if name == "hadamard" and projection.dim & (projection.dim - 1):
        raise ValueError(
            f"The family 'hadamard' needs a `dim` that is a power of 2, got "
            f"{projection.dim}."
        )


def _table_corner(word, bases, rows, columns, projection) -> _Corner:
    return jnp.asarray(bases)[projection.index(word), :rows, :columns]


def _hadamard_corner(word, bases, rows, columns, projection) -> _Corner:
    left, right = jnp.asarray(bases)[projection.index(word)]
    hadamard = scipy.linalg.hadamard(projection.dim)[:rows, :columns]
    unit = hadamard / math.sqrt(projection.dim)
    return left[:rows, None] * unit * right[None, :columns]


def _columns(key, projection, columns, signed: bool = True) -> Array:
    return matrices.frames(
        key, projection.n_words, projection.dim, columns, signed=signed
    )


def _letters(draw: Callable[[PRNGKeyArray, int, int], Array], columns=None) -> Family:
    """Return the family in which `draw` gives the matrices of the n letters."""
    return Family(
        lambda key, p: draw(key, p.n_generators, p.dim),
        lambda word, bases, rows, n, _: matrices.block(word, bases, rows, n),
        columns,
        grouped=True,
    )


FAMILIES |= {
    # λ(w) in O(d): the paper's.
    "haar": _letters(matrices.haar, _columns),
    # λ(w) in O(d), from QR without the signs of R: a common mistake, never a default.
    "qr": _letters(
        functools.partial(matrices.haar, signed=False),
        functools.partial(_columns, signed=False),
    ),
    # λ(w) in S(d).
    "permutation": _letters(matrices.permutations),
    # n_words independent matrices: no shared prefixes.
    "iid_haar": Family(
        lambda key, p: matrices.haar(key, p.n_words, p.dim), _table_corner, _columns
    ),
    # ... with independent entries N(0, 1/d): norms are kept on average only.
    "gaussian": Family(
        lambda key, p: (
            jax.random.normal(key, (p.n_words, p.dim, p.dim)) / math.sqrt(p.dim)
        ),
        _table_corner,
    ),
    # ... D H D' with random signs D, D'.
    "hadamard": Family(
        lambda key, p: jax.random.rademacher(key, (p.n_words, 2, p.dim), float),
        _hadamard_corner,
    ),
    # No projection at all.
    "identity": Family(
        lambda key, p: jnp.zeros((0,)),
        lambda word, bases, rows, columns, p: jnp.eye(rows, columns),
    ),
}
