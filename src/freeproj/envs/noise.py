"""Noise on observations, for POPGym's noisy tasks."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from freeproj.envs.base import Box

__all__ = ["add_noise", "check_noise"]


def add_noise(
    key: PRNGKeyArray, obs: Float[Array, " d_obs"], noise: float, space: Box
) -> Float[Array, " d_obs"]:
    """Returns obs + noise · N(0, I), clipped to the bounds of the space."""
    return space.clip(obs + noise * jax.random.normal(key, obs.shape, jnp.float32))


def check_noise(noise: float) -> None:
    """Refuses a standard deviation that is negative."""
    if not noise >= 0:
        raise ValueError(f"`noise` must not be negative, got {noise}.")
