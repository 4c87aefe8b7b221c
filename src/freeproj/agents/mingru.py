"""minGRU: gates that do not see the memory, so that time is one linear recurrence.

One layer computes, for rows u,

    h_t = (1 - z_t) ⊙ h_{t-1} + z_t ⊙ (u_t W_h + b_h),    z_t = σ(u_t W_z + b_z),
    out = u + (h W_1 + b_1) ⊙ σ(h W_2 + b_2),

and layers are stacked. Where a reset flag is set, h_{t-1} is zeroed *before* u_t is
processed. (Feng et al. 2024, "Were RNNs all we needed?"; the gated unit between layers
is S5's.)
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from freeproj.agents.dense import Dense, as_rows
from freeproj.agents.recurrence import Sequential, recur_gated

__all__ = ["MinGRU", "MinGRULayer"]

_FORGETS_WITHIN = (2.0, 64.0)  # steps, from the fastest unit to the slowest
_Steps = Float[Array, "time batch size"]
_State = Float[Array, "batch size"]  # of one layer


class MinGRULayer(eqx.Module):
    """One layer."""

    update: Dense  # z
    candidate: Dense  # W_h
    linear: Dense
    gate: Dense

    @classmethod
    def create(cls, key: PRNGKeyArray, size: int) -> MinGRULayer:
        """Draw weights of variance 1 / inputs, with units that forget at many rates.

        With zero biases every unit would forget half of its state at each step, and no
        gradient would come back from twenty steps ago (Tallec and Ollivier 2018).
        """
        keys = jax.random.split(key, 4)
        update, *others = (Dense.lecun(each, size, size) for each in keys)
        steps = jnp.geomspace(*_FORGETS_WITHIN, size)
        return cls(Dense(update.weight, -jnp.log(steps - 1)), *others)  # z = 1 / steps

    def sequence(
        self, xs: _Steps, state: _State, keep: Float[Array, "time batch 1"]
    ) -> tuple[_Steps, _State]:
        """Return the outputs of all steps and the last state."""
        u = as_rows(xs)
        z = jax.nn.sigmoid(self.update(u))
        inputs = (z * self.candidate(u)).reshape(xs.shape)
        h = recur_gated((1 - z).reshape(xs.shape) * keep, inputs, state)
        rows = as_rows(h)
        out = u + self.linear(rows) * jax.nn.sigmoid(self.gate(rows))
        return out.reshape(xs.shape), h[-1]


class MinGRU(Sequential):
    """A stack of minGRU layers; the state is a tuple with one array for each."""

    layers: tuple[MinGRULayer, ...]

    @classmethod
    def create(cls, key: PRNGKeyArray, size: int, n_layers: int = 2, **_: Any):
        """Draw the layers; further settings are for other memories."""
        keys = jax.random.split(key, n_layers)
        return cls(tuple(MinGRULayer.create(each, size) for each in keys))

    def initial_state(self, n_envs: int) -> tuple[_State, ...]:
        """Return empty memories."""
        biases = [layer.update.bias for layer in self.layers]
        return tuple(jnp.zeros((n_envs, len(b)), b.dtype) for b in biases)

    def sequence(
        self, xs: _Steps, state: tuple[_State, ...], resets: Bool[Array, "time batch"]
    ) -> tuple[_Steps, tuple[_State, ...]]:
        """Return the outputs of all steps and the last memory."""
        keep = 1 - resets[..., None].astype(xs.dtype)
        last = []
        for layer, before in zip(self.layers, state, strict=True):
            xs, after = layer.sequence(xs, before, keep)
            last.append(after)
        return xs, tuple(last)
