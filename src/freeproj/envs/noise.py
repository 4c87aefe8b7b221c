"""Noise on observations, for POPGym's noisy tasks."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, PRNGKeyArray, PyTree

from freeproj.envs.base import Game, Step, easy_to_hard

__all__ = ["Noisy", "plain_noise"]


class Noisy(Game):
    """Gaussian noise on what a task shows; the levels differ in the noise.

    A noisy task inherits from this class first and from the task itself second. An
    observation becomes obs + noise · normal, clipped to the bounds of its space.
    """

    noise: float = eqx.field(static=True, default=0.1)

    levels: ClassVar = easy_to_hard(noise=(0.1, 0.2, 0.3), time_limit=(200, 200, 200))

    def __check_init__(self):
        if not self.noise >= 0:
            raise ValueError(f"`noise` must not be negative, got {self.noise}.")

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

    def draw_luck(self, key: PRNGKeyArray) -> Float[Array, " d_obs"]:
        return jax.random.normal(key, (self.observation_space.size,), jnp.float32)

    def _blurred(self, key: PRNGKeyArray, obs: Array) -> Float[Array, " d_obs"]:
        space = self.observation_space
        return space.clip(obs + self.noise * self.draw_luck(key))


def plain_noise(env: Any, obs: np.ndarray, luck: Any) -> np.ndarray:
    """Return what is seen with noise, clipped to the bounds, in NumPy."""
    space = env.observation_space
    noisy = zip(obs.tolist(), luck, space.low, space.high, strict=True)
    shown = [min(max(x + env.noise * n, low), high) for x, n, low, high in noisy]
    return np.array(shown, np.float32)
