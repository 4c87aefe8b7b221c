"""A user's own memory, as in docs/extending.md: averages that decay, and a counter."""

import equinox as eqx
import jax
import jax.numpy as jnp


class Decay(eqx.Module):
    """Keep a decaying average of the inputs and how many of them there were."""

    weight: jax.Array
    decay: jax.Array

    def __init__(self, key, size, **settings):
        self.weight = jax.random.normal(key, (2 * size + 1, size)) / size**0.5
        self.decay = jnp.linspace(-1.0, 3.0, size)

    def initial_state(self, n_envs):
        return {"mean": jnp.zeros((n_envs, len(self.decay))), "n": jnp.zeros(n_envs)}

    def step(self, x, state, reset):
        state = jax.tree.map(lambda s: jnp.where(reset, 0, s.T).T, state)
        keep = jax.nn.sigmoid(self.decay)
        mean = keep * state["mean"] + (1 - keep) * x
        n = state["n"] + 1
        seen = jnp.concatenate([x, mean, jnp.log(n)[:, None]], axis=1)
        return jnp.tanh(seen @ self.weight), {"mean": mean, "n": n}

    def sequence(self, xs, state, resets):
        def step(state, now):
            output, state = self.step(now[0], state, now[1])
            return state, output

        state, outputs = jax.lax.scan(step, state, (xs, resets))
        return outputs, state


def nothing(key, size, **settings):
    """Return something that is no memory."""
    return object()
