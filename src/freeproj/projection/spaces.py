"""The spaces of observations and actions: vectors in a box, integers below n."""

import math
from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float, Int, PRNGKeyArray

from freeproj.storage.checks import at_least

__all__ = ["Box", "Discrete"]


@dataclass(frozen=True)
class Box:
    """Vectors with one lower and one upper bound for each entry."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self):
        if len(self.low) != len(self.high):
            raise ValueError(
                f"`low` and `high` must have equally many entries, got "
                f"{len(self.low)} and {len(self.high)}."
            )
        if not all(low <= high for low, high in zip(self.low, self.high, strict=True)):
            raise ValueError(
                f"`low` must not exceed `high`, got {self.low} and {self.high}."
            )

    @property
    def size(self) -> int:
        """The number of entries of a vector."""
        return len(self.low)

    @property
    def shape(self) -> tuple[int]:
        """The shape of a vector, as gymnax's spaces say it."""
        return (self.size,)

    @property
    def bounded(self) -> bool:
        """Return whether all bounds are finite."""
        return all(map(math.isfinite, (*self.low, *self.high)))

    @classmethod
    def unit(cls, size: int) -> "Box":
        """Return the box [0, 1]^size, in which one-hot vectors lie."""
        return cls((0.0,) * size, (1.0,) * size)

    def clip(self, vector: Float[ArrayLike, " d"]) -> Float[Array, " d"]:
        """Return the nearest vector within the bounds."""
        return jnp.clip(jnp.asarray(vector), *self._bounds())

    def sample(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draw uniformly between the bounds."""
        if not self.bounded:
            raise ValueError(
                "A `Box` is sampled uniformly, so its bounds must be finite, got "
                f"{self.low} and {self.high}."
            )
        return jax.random.uniform(key, (self.size,), jnp.float32, *self._bounds())

    def _bounds(self) -> tuple[Float[Array, " d"], Float[Array, " d"]]:
        return jnp.asarray(self.low, jnp.float32), jnp.asarray(self.high, jnp.float32)


@dataclass(frozen=True)
class Discrete:
    """The integers 0, …, n-1."""

    n: int
    shape: ClassVar[tuple[()]] = ()

    def __post_init__(self):
        at_least(1, n=self.n)

    def sample(self, key: PRNGKeyArray) -> Int[Array, ""]:
        """Draw uniformly."""
        return jax.random.randint(key, (), 0, self.n, jnp.int32)
