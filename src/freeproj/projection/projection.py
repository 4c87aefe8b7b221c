"""Random projections of observations.

`FreeProjection` holds the fixed numbers of M_o = σ T_2 λ(w) T_1: T_1 pads with zeros
to d entries, λ(w) rotates, T_2 cuts or pads to the agent's input, σ scales. Bases and
word are arguments, drawn by `draw_bases` and `draw_word`. With words of length 1 this
is standard random projection. (Definition 3.2 and Algorithm 1.)

Other families of matrices stand behind the same interface
(`freeproj.projection.families`); the maps to test on are in `freeproj.projection.maps`.
"""

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Int, PRNGKeyArray

from freeproj.projection import matrices, words
from freeproj.projection.families import check_family, family_of
from freeproj.storage.checks import within
from freeproj.storage.names import as_name

__all__ = ["FreeProjection"]

_AnyArray = Array | np.ndarray
_Word = Int[_AnyArray, " length"]
_Matrix = Float[Array, "d_in d_obs"]
_Matrices = Float[Array, "n_words d_in d_obs"]


@dataclass(frozen=True)
class FreeProjection:
    """The distribution of M_o = scale · T_2 λ(w) T_1; the defaults are the paper's.

    Args:
        n_generators: n, the number of base matrices.
        length: ℓ, the number of letters of a word; 1 is standard random projection.
        dim: d, the size of the base matrices.
        input_dim: d_in, the size of the agent's input; d unless given.
        scale: σ, the factor in front of the matrix.
        family: the distribution of the matrices: a name of `families.FAMILIES`, or
            `module:attribute`.
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
        object.__setattr__(self, "family", as_name(self.family))
        if self.input_dim == 0:
            object.__setattr__(self, "input_dim", self.dim)
        for name in ("n_generators", "length", "dim", "input_dim"):
            within(f"[1, {2**31 - 1}]", **{name: getattr(self, name)})
        within("(0, ∞)", scale=self.scale)
        check_family(self)

    @classmethod
    def with_words(cls, n_words: int, length: int, **settings) -> "FreeProjection":
        """Return the projection with n_words = n^ℓ positive words; n is computed."""
        return cls(words.generators_for(n_words, length), length, **settings)

    @property
    def n_words(self) -> int:
        """The number of words, and so of matrices."""
        return words.count_words(self.n_generators, self.length, inverses=self.inverses)

    def draw_bases(self, key: PRNGKeyArray) -> Array:
        """Draw what all words share: U_1, …, U_n, or the family's own table."""
        return family_of(self.family).draw_bases(key, self)

    def draw_word(self, key: PRNGKeyArray) -> Int[Array, " length"]:
        """Draw a word, uniformly."""
        return words.sample(key, self.n_generators, self.length, inverses=self.inverses)

    def matrix(self, word: _Word, bases: _AnyArray, obs_dim: int) -> _Matrix:
        """Return M_o for observations of `obs_dim` entries."""
        self.check_observation(obs_dim)
        rows, family = min(self.input_dim, self.dim), family_of(self.family)
        return self._fitted(family.corner(word, bases, rows, obs_dim, self))

    def matrices(self, bases: _AnyArray, obs_dim: int) -> _Matrices:
        """Return M_o of every word, in the order of `index`; positive words only."""
        self.check_observation(obs_dim)
        if self.family in ("haar", "qr"):
            corners = matrices.block_all(bases, self.length, obs_dim)
            return self._fitted(corners[:, : self.input_dim])
        family = words.enumerate_words(self.n_generators, self.length)
        return jax.vmap(self.matrix, in_axes=(0, None, None))(family, bases, obs_dim)

    def draw_matrices(self, key: PRNGKeyArray, obs_dim: int) -> _Matrices:
        """Draw M_o of every word, distributed as `matrices` of drawn bases."""
        self.check_observation(obs_dim)
        family = family_of(self.family)
        multiplied = family.grouped and self.length > 1
        if multiplied or family.draw_columns is None:
            return self.matrices(self.draw_bases(key), obs_dim)
        columns = family.draw_columns(key, self, obs_dim)  # only those that are used
        return self._fitted(columns[:, : self.input_dim])

    def letters(self, index: Int[ArrayLike, ""]) -> Int[Array, " length"]:
        """Return the positive word with a lexicographic index; traceable."""
        powers = self.n_generators ** np.arange(self.length - 1, -1, -1)
        return jnp.asarray(index) // powers % self.n_generators + 1

    def index(self, word: _Word) -> Int[Array, ""]:
        """Return a positive word's lexicographic index; traceable, below 2^31."""
        powers = self.n_generators ** np.arange(self.length - 1, -1, -1)
        return jnp.sum((jnp.asarray(word) - 1) * powers)

    def project(
        self,
        word: _Word,
        bases: _AnyArray,
        observations: Float[_AnyArray, "*batch d_obs"],
    ) -> Float[Array, "*batch d_in"]:
        """Return M_o ξ for each observation ξ."""
        matrix = self.matrix(word, bases, observations.shape[-1])
        return jnp.asarray(observations) @ matrix.T

    def check_observation(self, obs_dim: int) -> None:
        """Refuse observations that do not fit."""
        if not 1 <= obs_dim <= self.dim:
            raise ValueError(
                f"Observations must have 1 to {self.dim} entries (the projection's "
                f"`dim`), got {obs_dim}; choose a larger `dim`."
            )

    def _fitted(
        self, corners: Float[Array, "*words rows d_obs"]
    ) -> Float[Array, "*words d_in d_obs"]:
        """Scale, and pad to the size of the agent's input."""
        missing = self.input_dim - corners.shape[-2]
        widths = [(0, 0)] * (corners.ndim - 2) + [(0, missing), (0, 0)]
        return jnp.pad(self.scale * corners, widths)
