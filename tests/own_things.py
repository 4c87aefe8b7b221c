"""A memory, a family and a map as a user would write them."""

import jax
import numpy as np

from freeproj.agents import GRU


def make_gru(key, size, **settings):
    """A maker of a memory."""
    return GRU.create(key, size, size)


def signs(key, dim):
    """A matrix of random signs."""
    return jax.random.rademacher(key, (dim, dim), float) / dim**0.5


def backwards(input_dim, obs_dim):
    """The observation read backwards."""
    return np.eye(input_dim, obs_dim, dtype=np.float32)[:, ::-1]
