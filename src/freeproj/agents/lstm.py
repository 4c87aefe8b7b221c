"""The long short-term memory, batched and time-major.

For an input x, an output h of the step before and a cell c, all rows,

    i, f, o = σ(x W + b + h U) (three gates),    g = tanh(x W_g + b_g + h U_g),
    c' = f ⊙ c + i ⊙ g,                          h' = o ⊙ tanh(c').

The state is the pair (h, c). The bias of f starts at 1, so that a new cell keeps what
it has. Where a reset flag is set, h and c are zeroed *before* the input is processed.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from freeproj.agents.dense import as_rows, draw_gates

__all__ = ["LSTM"]

_Output = Float[Array, "batch hidden"]
_State = tuple[_Output, _Output]  # h, c
_Reset = Bool[Array, " batch"]


class LSTM(eqx.Module):
    """A long short-term memory; i, f, o, g stand side by side in its weights."""

    input_weight: Float[Array, "inputs gates"]
    bias: Float[Array, " gates"]
    memory_weight: Float[Array, "hidden gates"]

    @classmethod
    def create(cls, key: PRNGKeyArray, n_inputs: int, hidden_size: int) -> LSTM:
        """Draw weights: variance 1 / inputs for W, orthogonal U."""
        weight, memory_weight = draw_gates(key, n_inputs, hidden_size, 4)
        forget = jnp.zeros((4, hidden_size)).at[1].set(1.0)
        return cls(weight, forget.ravel(), memory_weight)

    def initial_state(self, n_envs: int) -> _State:
        """Return empty memories."""
        zeros = jnp.zeros((n_envs, len(self.memory_weight)), self.bias.dtype)
        return zeros, zeros

    def step(
        self, x: Float[Array, "batch inputs"], state: _State, reset: _Reset
    ) -> tuple[_Output, _State]:
        """Return output and next memory of one step."""
        return self._cell(x @ self.input_weight + self.bias, state, reset)

    def sequence(
        self,
        xs: Float[Array, "time batch inputs"],
        state: _State,
        resets: Bool[Array, "time batch"],
    ) -> tuple[Float[Array, "time batch hidden"], _State]:
        """Return the outputs of all steps and the last memory."""
        rows = as_rows(xs) @ self.input_weight + self.bias

        def step(state, now):
            output, state = self._cell(now[0], state, now[1])
            return state, output

        inputs = (rows.reshape(*resets.shape, -1), resets)
        state, outputs = jax.lax.scan(step, state, inputs)
        return outputs, state

    def _cell(
        self, inputs: Float[Array, "batch gates"], state: _State, reset: _Reset
    ) -> tuple[_Output, _State]:
        """Return output and next memory from x W + b."""
        h, c = (jnp.where(reset[:, None], 0, each) for each in state)
        i, f, o, g = jnp.split(inputs + h @ self.memory_weight, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return h, (h, c)
