"""Noise on observations, for POPGym's noisy tasks."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from freeproj.envs.base import Box

__all__ = ["add_noise", "check_noise", "draw_normal"]


def draw_normal(key: PRNGKeyArray, size: int) -> Float[Array, " size"]:
    """Draw independent standard normal numbers."""
    return jax.random.normal(key, (size,), jnp.float32)


def add_noise(
    luck: Float[Array, " d_obs"], obs: Float[Array, " d_obs"], noise: float, space: Box
) -> Float[Array, " d_obs"]:
    """Return obs + noise · luck, clipped to the bounds of the space."""
    return space.clip(obs + noise * luck)


def check_noise(noise: float) -> None:
    """Refuses a standard deviation that is negative."""
    if not noise >= 0:
        raise ValueError(f"`noise` must not be negative, got {noise}.")
