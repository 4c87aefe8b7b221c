"""A task that pays nan: what divergence looks like."""

import jax.numpy as jnp

from corridor import Corridor


class NanReward(Corridor):
    """A corridor whose every step pays nan."""

    def step(self, key, state, action, params):
        seen, state, _, done, late, info = super().step(key, state, action, params)
        return seen, state, jnp.full((), jnp.nan), done, late, info


NAN = NanReward(3, 4)
