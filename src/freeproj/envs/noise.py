"""Noise on observations, for POPGym's noisy tasks."""

from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, PRNGKeyArray, PyTree

from freeproj.envs.base import Game, Step, easy_to_hard, static

__all__ = ["Noisy", "noisy_step"]


class Noisy(Game):
    """Gaussian noise on what a task shows; the levels differ in the noise.

    A noisy task inherits from this class first and from the task itself second, and has
    `noisy_step` of the task as its `plain_step`. An observation becomes
    obs + noise · normal, clipped to the bounds of its space.
    """

    noise: float = static(0.1, least=0)

    levels: ClassVar = easy_to_hard(noise=(0.1, 0.2, 0.3), time_limit=(200, 200, 200))

    def reset(
        self, key: PRNGKeyArray, params: PyTree
    ) -> tuple[Float[Array, " d_obs"], PyTree]:
        key_start, key_noise = jax.random.split(key)
        task: Any = super()
        obs, state = task.reset(key_start, params)
        return self._blurred(key_noise, obs), state

    def step(
        self, key: PRNGKeyArray, state: PyTree, action: ArrayLike, params: PyTree
    ) -> Step:
        task: Any = super()
        obs, *rest = task.step(key, state, action, params)
        return self._blurred(key, obs), *rest

    def draw_noise(self, key: PRNGKeyArray) -> Float[Array, " d_obs"]:
        return jax.random.normal(key, (self.observation_space.size,), jnp.float32)

    def _blurred(self, key: PRNGKeyArray, obs: Array) -> Float[Array, " d_obs"]:
        space = self.observation_space
        return space.clip(obs + self.noise * self.draw_noise(key))


def noisy_step(task: type) -> Callable[..., tuple]:
    """Return the plain step of a task with noise on what it shows."""

    def plain_step(self: Any, state: Any, action: Any, noise: Any) -> tuple:
        obs, *outcome = task.plain_step(self, state, action, noise)
        space = self.observation_space
        seen = zip(obs.tolist(), noise, space.low, space.high, strict=True)
        shown = [min(max(x + self.noise * n, low), high) for x, n, low, high in seen]
        return np.array(shown, np.float32), *outcome

    return plain_step
