"""The contract of a task.

A task is a frozen object whose attributes are fixed numbers. Whatever varies is an
argument: numbers of the physics in `params`, everything that changes in `state`,
randomness in `key`. A step returns six values and never resets by itself. A state holds
all that is hidden (deck, board), so stepping again from a stored state replays the same
trial. All observations are vectors: a task with discrete observations shows them
one-hot.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, ArrayLike, Bool, Float, PRNGKeyArray, PyTree, Shaped

from freeproj.envs.painting import Canvas
from freeproj.projection.spaces import Box, Discrete

__all__ = ["Environment", "LevelledTask", "Step", "check_action"]

# observation, state, reward, terminated, truncated, info
Step = tuple[
    Float[Array, " d_obs"],
    Any,
    Float[Array, ""],
    Bool[Array, ""],
    Bool[Array, ""],
    dict[str, Any],
]


class Environment(eqx.Module):
    """A task: what every file beside this one implements.

    `max_steps` bounds the length of a trial; a trial may end earlier. `terminated`
    says that the task is over, `truncated` that only its time is up. In the tasks of
    this package a trial that has ended stays as it is: further steps keep the state and
    the flags and earn nothing.

    A class may define two more things: `plain_step`, its rules in Python for loops that
    step one environment (see `envs.plain`), and `paint`, a picture of a state. Under a
    name of the registry it has a `summary`, for POPGym's tasks a `popgym_name`, and
    `levels`.
    """

    summary: ClassVar[str] = ""
    popgym_name: ClassVar[str | None] = None
    popgym_version: ClassVar[Any] = None  # POPGym's own task, where the two differ
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @property
    def name(self) -> str:
        """The task's name: that of its class, unless the class defines another."""
        return type(self).__name__

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
    def default_params(self) -> PyTree:
        """The numbers that `reset` and `step` take as `params`; none by default."""
        return None

    @abc.abstractmethod
    def reset(
        self, key: PRNGKeyArray, params: PyTree
    ) -> tuple[Float[Array, " d_obs"], PyTree]:
        """Return a first observation and a fresh state."""

    @abc.abstractmethod
    def step(
        self, key: PRNGKeyArray, state: PyTree, action: ArrayLike, params: PyTree
    ) -> Step:
        """Return observation, state, reward, terminated, truncated and info."""

    def render(self, state: PyTree) -> str:
        """Draw a state as text: what a player may know. By default all its numbers."""
        entries = (
            f"{jax.tree_util.keystr(path, simple=True)}: {np.asarray(leaf)}"
            for path, leaf in jax.tree_util.tree_leaves_with_path(state)
        )
        return "  ".join(entries).removeprefix(": ")

    def paint(self, canvas: Canvas, state: PyTree) -> bool:
        """Paint a state, and return True; False: it is shown as its text."""
        return False

    def draw_luck(self, key: PRNGKeyArray) -> Shaped[Array, "..."] | None:
        """Draw the random numbers of one step; None where a step draws none."""
        return None

    @property
    def observation_scale(self) -> tuple[float, ...]:
        """What to divide observations by to bring them to unit range."""
        space = self.observation_space
        if not space.bounded:
            raise ValueError(
                f"{self.name} has infinite observation bounds {space.low} and "
                f"{space.high}, so its class must define `observation_scale`."
            )
        bounds = zip(space.low, space.high, strict=True)
        return tuple(max(abs(low), abs(high)) or 1.0 for low, high in bounds)

    @property
    def action_names(self) -> tuple[str, ...]:
        """The names of the actions, in order; empty for continuous ones."""
        space = self.action_space
        return tuple(map(str, range(space.n))) if isinstance(space, Discrete) else ()


class LevelledTask(Environment):
    """A task of POPGym: a class with one set of attributes for each level.

    The first level is the default, and its suffix is left out of the name.
    """

    @property
    def name(self) -> str:
        family = type(self).__name__
        own = {key: getattr(self, key) for key in next(iter(self.levels.values()))}
        for position, (level, attributes) in enumerate(self.levels.items()):
            if own == attributes:
                return f"{family}{level}" if position else family
        return f"{family}({', '.join(f'{key}={own[key]}' for key in own)})"


def check_action(action: ArrayLike, space: Box | Discrete) -> None:
    """Refuse an action of wrong shape, or a concrete one outside a discrete space.

    Traced values cannot be checked: inside `jit` the caller must stay in the space.
    Continuous actions may lie outside; tasks clip them, as POPGym does.
    """
    shape = (space.size,) if isinstance(space, Box) else ()
    if jnp.shape(action) != shape:
        raise ValueError(
            f"`action` must have shape {shape}, got {jnp.shape(action)}; batch "
            "environments by `jax.vmap`."
        )
    if isinstance(action, Tracer) or isinstance(space, Box):
        return
    value = np.asarray(action)
    if value.dtype.kind not in "iub" or not 0 <= value < space.n:
        raise ValueError(
            f"`action` must be an integer in 0..{space.n - 1}, got {value.item()}."
        )
