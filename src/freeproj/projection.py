"""Projections of observations: random ones to train on, fixed ones to test on.

`FreeProjection` holds the fixed numbers of M_o = σ T_2 λ(w) T_1: T_1 pads with zeros
to d entries, λ(w) turns, T_2 cuts or pads to what the agent takes in, σ scales. Bases
and word are arguments, drawn by `draw_bases` and `draw_word`. With words of length 1
this is standard random projection. (Definition 3.2 and Algorithm 1.)

Other families of matrices stand behind the same interface, with as many matrices as
there are words, to compare with: see `FAMILIES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Array, Float, Int, PRNGKeyArray

from freeproj import matrices, words

__all__ = [
    "FAMILIES",
    "FIXED_MAPS",
    "FreeProjection",
    "fixed_map",
    "identity",
    "pad",
    "projected_radius",
    "tile",
]

_AnyArray = Array | np.ndarray
_Word = Int[_AnyArray, " length"]
_Corner = Float[Array, "rows columns"]

_MAX_TABLE = 2**16  # matrices of a family that must be kept one by one


@dataclass(frozen=True)
class FreeProjection:
    """The law of M_o = scale · T_2 λ(w) T_1; the defaults are the paper's.

    Args:
        n_generators: n, the number of base matrices.
        length: ℓ, the letters of a word; 1 is standard random projection.
        dim: d, the size of the base matrices.
        input_dim: d_in, what the agent takes in; d unless given.
        scale: σ.
        family: the law of the matrices, one of `FAMILIES`.
        inverses: draw reduced words with inverses instead of positive words.
    """

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
            if getattr(self, name) < 1:
                raise ValueError(
                    f"`{name}` must be at least 1, got {getattr(self, name)}."
                )
        if not (self.scale > 0 and math.isfinite(self.scale)):
            raise ValueError(f"`scale` must be positive and finite, got {self.scale}.")
        _check_family(self)

    @classmethod
    def with_words(cls, n_words: int, length: int, **settings) -> FreeProjection:
        """Returns the projection with n_words = n^ℓ positive words; n is computed."""
        return cls(words.generators_for(n_words, length), length, **settings)

    @property
    def n_words(self) -> int:
        """The number of words, and so of matrices."""
        return words.count_words(self.n_generators, self.length, inverses=self.inverses)

    def draw_bases(self, key: PRNGKeyArray) -> Array:
        """Draws what all words share: U_1, …, U_n, or the family's own table."""
        return _FAMILIES[self.family].draw_bases(key, self)

    def draw_word(self, key: PRNGKeyArray) -> Int[Array, " length"]:
        """Draws a word, uniformly."""
        return words.sample(key, self.n_generators, self.length, inverses=self.inverses)

    def matrix(
        self, word: _Word, bases: _AnyArray, obs_dim: int
    ) -> Float[Array, "d_in d_obs"]:
        """Returns M_o for observations of `obs_dim` entries."""
        self._check_observation(obs_dim)
        rows = min(self.input_dim, self.dim)
        return self._fitted(
            _FAMILIES[self.family].corner(word, bases, rows, obs_dim, self)
        )

    def matrices(
        self, bases: _AnyArray, obs_dim: int
    ) -> Float[Array, "n_words d_in d_obs"]:
        """Returns M_o of every word, in the order of `place`; positive words only."""
        self._check_observation(obs_dim)
        if self.family == "haar":
            corners = matrices.block_all(bases, self.length, obs_dim)
            return self._fitted(corners[:, : self.input_dim])
        family = words.enumerate_words(self.n_generators, self.length)
        return jax.vmap(self.matrix, in_axes=(0, None, None))(family, bases, obs_dim)

    def place(self, word: _Word) -> Int[Array, ""]:
        """Returns a positive word's lexicographic index; traceable, below 2^31."""
        powers = self.n_generators ** np.arange(self.length - 1, -1, -1)
        return jnp.sum((jnp.asarray(word) - 1) * powers)

    def project(
        self,
        word: _Word,
        bases: _AnyArray,
        observations: Float[_AnyArray, "*batch d_obs"],
    ) -> Float[Array, "*batch d_in"]:
        """Returns M_o ξ for each observation ξ."""
        matrix = self.matrix(word, bases, observations.shape[-1])
        return jnp.asarray(observations) @ matrix.T

    def _fitted(
        self, corners: Float[Array, "*words rows d_obs"]
    ) -> Float[Array, "*words d_in d_obs"]:
        """Scales, and pads to the size that the agent takes in."""
        missing = self.input_dim - corners.shape[-2]
        widths = [(0, 0)] * (corners.ndim - 2) + [(0, missing), (0, 0)]
        return jnp.pad(self.scale * corners, widths)

    def _check_observation(self, obs_dim: int) -> None:
        if not 1 <= obs_dim <= self.dim:
            raise ValueError(
                f"Observations must have 1 to {self.dim} entries (the projection's "
                f"`dim`), got {obs_dim}; choose a larger `dim`."
            )


def projected_radius(
    matrix: Float[_AnyArray, "d_in d_obs"],
    low: Float[_AnyArray, " d_obs"],
    high: Float[_AnyArray, " d_obs"],
) -> Float[np.ndarray, " d_in"]:
    """Returns r with |Mξ| ≤ r for all ξ between the bounds.

    r_i = Σ_j |M_ij| max(|low_j|, |high_j|).
    """
    reach = np.maximum(np.abs(np.asarray(low)), np.abs(np.asarray(high)))
    weights = np.abs(np.asarray(matrix))
    # An unbounded entry that has no weight bounds nothing: 0 · inf counts as 0.
    terms = np.where(weights == 0, 0.0, weights * np.where(weights == 0, 0.0, reach))
    return terms.sum(axis=1)


# Fixed maps, on which a trained agent is tested.


def tile(
    input_dim: int, obs_dim: int, *, rescale: bool = True
) -> Float[np.ndarray, "d_in d_obs"]:
    """Stacks ⌊d_in/d_obs⌋ copies of the observation, zeros after them.

    Divided by √copies, so that norms are kept, unless `rescale` is off.
    """
    _check_map("tile", input_dim, obs_dim)
    copies = input_dim // obs_dim
    stacked = pad(input_dim, copies * obs_dim) @ np.tile(np.eye(obs_dim), (copies, 1))
    return (stacked / math.sqrt(copies) if rescale else stacked).astype(np.float32)


def pad(input_dim: int, obs_dim: int) -> Float[np.ndarray, "d_in d_obs"]:
    """Puts zeros after the observation."""
    _check_map("pad", input_dim, obs_dim)
    return np.eye(input_dim, obs_dim, dtype=np.float32)


def identity(input_dim: int, obs_dim: int) -> Float[np.ndarray, "d_in d_obs"]:
    """Shows the observation as it is; needs d_in = d_obs."""
    if input_dim != obs_dim:
        raise ValueError(
            f"The map `identity` needs `input_dim` = size of the observation, got "
            f"{input_dim} and {obs_dim}; use `pad` or `tile`."
        )
    return np.eye(input_dim, dtype=np.float32)


FIXED_MAPS: dict[str, Callable[[int, int], np.ndarray]] = {
    "tile": tile,
    "pad": pad,
    "identity": identity,
}


def fixed_map(
    name: str, input_dim: int, obs_dim: int
) -> Float[np.ndarray, "d_in d_obs"]:
    """Returns the fixed map of that name."""
    if name not in FIXED_MAPS:
        raise ValueError(f"No fixed map {name!r}. Known: {', '.join(FIXED_MAPS)}.")
    return FIXED_MAPS[name](input_dim, obs_dim)


# Families of matrices. A corner is the top left part of the matrix of a word.


class _Family(NamedTuple):
    draw_bases: Callable[[PRNGKeyArray, FreeProjection], Array]
    corner: Callable[[_Word, _AnyArray, int, int, FreeProjection], _Corner]


def _word_corner(word, bases, rows, columns, _projection) -> _Corner:
    return matrices.block(word, bases, rows, columns)


def _table_corner(word, bases, rows, columns, projection) -> _Corner:
    return jnp.asarray(bases)[projection.place(word), :rows, :columns]


def _hadamard_corner(word, bases, rows, columns, projection) -> _Corner:
    left, right = jnp.asarray(bases)[projection.place(word)]
    hadamard = scipy.linalg.hadamard(projection.dim)[:rows, :columns]
    unit = hadamard / math.sqrt(projection.dim)
    return left[:rows, None] * unit * right[None, :columns]


def _identity_corner(_word, _bases, rows, columns, _projection) -> _Corner:
    return jnp.eye(rows, columns)


def _draw_gaussian(key: PRNGKeyArray, projection: FreeProjection) -> Array:
    shape = (projection.n_words, projection.dim, projection.dim)
    return jax.random.normal(key, shape) / math.sqrt(projection.dim)


def _draw_signs(key: PRNGKeyArray, projection: FreeProjection) -> Array:
    return jax.random.rademacher(key, (projection.n_words, 2, projection.dim), float)


_FAMILIES = {
    # λ(w) in O(d): the paper's.
    "haar": _Family(
        lambda key, p: matrices.haar(key, p.n_generators, p.dim), _word_corner
    ),
    # λ(w) in S(d).
    "permutation": _Family(
        lambda key, p: matrices.permutations(key, p.n_generators, p.dim), _word_corner
    ),
    # n_words independent matrices: no shared prefixes.
    "iid_haar": _Family(
        lambda key, p: matrices.haar(key, p.n_words, p.dim), _table_corner
    ),
    # ... with independent entries N(0, 1/d): norms are kept on average only.
    "gaussian": _Family(_draw_gaussian, _table_corner),
    # ... D H D' with random signs D, D'.
    "hadamard": _Family(_draw_signs, _hadamard_corner),
    # no projection at all
    "identity": _Family(lambda key, p: jnp.zeros((0,)), _identity_corner),
}

FAMILIES = tuple(_FAMILIES)


def _check_family(projection: FreeProjection) -> None:
    family, grouped = projection.family, ("haar", "permutation")
    if family not in _FAMILIES:
        raise ValueError(f"No family {family!r}. Known: {', '.join(_FAMILIES)}.")
    if projection.inverses and family not in grouped:
        raise ValueError(
            f"`inverses` needs a family of group elements ({', '.join(grouped)}), "
            f"got {family!r}."
        )
    tabled = family in ("iid_haar", "gaussian", "hadamard")
    if tabled and projection.n_words > _MAX_TABLE:
        raise ValueError(
            f"The family {family!r} keeps every matrix, so `n_words` must be at "
            f"most {_MAX_TABLE}, got {projection.n_words}; `haar` has no limit."
        )
    if family == "hadamard" and projection.dim & (projection.dim - 1):
        raise ValueError(
            f"The family 'hadamard' needs a `dim` that is a power of 2, got "
            f"{projection.dim}."
        )


def _check_map(name: str, input_dim: int, obs_dim: int) -> None:
    if not 1 <= obs_dim <= input_dim:
        raise ValueError(
            f"The map `{name}` needs 1 <= size of the observation <= `input_dim`, got "
            f"{obs_dim} and {input_dim}."
        )
