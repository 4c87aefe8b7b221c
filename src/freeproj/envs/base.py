"""The contract of a task, and its spaces.

A task is a frozen object whose attributes are fixed numbers. Whatever varies is an
argument: numbers of the physics in `params`, everything that changes in `state`,
randomness in `key`. Steps return six values and never reset by themselves. All
observations are vectors: a task with discrete observations shows them one-hot.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

__all__ = ["Box", "Discrete", "Environment", "Step"]

# observation, state, reward, terminated, truncated, info
Step = tuple[
    Float[Array, " d_obs"],
    Any,
    Float[Array, ""],
    Bool[Array, ""],
    Bool[Array, ""],
    dict[str, Any],
]


@dataclass(frozen=True)
class Box:
    """Vectors with one lower and one upper bound for each entry."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self):
        if len(self.low) != len(self.high):
            raise ValueError(
                f"`low` and `high` must have as many entries as each other, got "
                f"{len(self.low)} and {len(self.high)}."
            )

    @property
    def size(self) -> int:
        """The number of entries of a vector."""
        return len(self.low)

    def contains(self, vector: Float[Array, " d"]) -> Bool[Array, ""]:
        """Tells whether a vector lies within the bounds."""
        low, high = jnp.asarray(self.low), jnp.asarray(self.high)
        return jnp.all((vector >= low) & (vector <= high))

    def sample(self, key: PRNGKeyArray) -> Float[Array, " d"]:
        """Draws uniformly between the bounds (which must be finite)."""
        low, high = jnp.asarray(self.low), jnp.asarray(self.high)
        return jax.random.uniform(key, (self.size,), minval=low, maxval=high)


@dataclass(frozen=True)
class Discrete:
    """The integers 0, …, n-1."""

    n: int

    def contains(self, value: Int[Array, ""]) -> Bool[Array, ""]:
        """Tells whether an integer is one of the n."""
        return (value >= 0) & (value < self.n)

    def sample(self, key: PRNGKeyArray) -> Int[Array, ""]:
        """Draws uniformly."""
        return jax.random.randint(key, (), 0, self.n)


class Environment(eqx.Module):
    """A task: what every file beside this one implements.

    `max_steps` bounds the length of a trial; a trial may end earlier. `terminated`
    says that the task is over, `truncated` that only the time is.
    """

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name by which `make` finds this task."""

    @property
    @abc.abstractmethod
    def observation_space(self) -> Box:
        """The bounds of an observation; infinite where the task has none."""

    @property
    @abc.abstractmethod
    def action_space(self) -> Box | Discrete:
        """The actions."""

    @property
    @abc.abstractmethod
    def max_steps(self) -> int:
        """The longest possible trial."""

    @property
    @abc.abstractmethod
    def default_params(self) -> PyTree:
        """The numbers that `reset` and `step` take as `params`."""

    @abc.abstractmethod
    def reset(
        self, key: PRNGKeyArray, params: PyTree
    ) -> tuple[Float[Array, " d_obs"], PyTree]:
        """Returns a first observation and a fresh state."""

    @abc.abstractmethod
    def step(
        self, key: PRNGKeyArray, state: PyTree, action: Array, params: PyTree
    ) -> Step:
        """Returns observation, state, reward, terminated, truncated and info."""

    @abc.abstractmethod
    def render(self, state: PyTree) -> str:
        """Draws a state as text, for people."""
