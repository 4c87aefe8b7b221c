"""Gated memories, batched and time-major: GRU, with its own backward pass, and LSTM.

For an input x and a memory h, both rows, the GRU computes

    r = σ(x W_r + b_r + h U_r)                 z = σ(x W_z + b_z + h U_z)
    n = tanh(x W_n + b_n + r ⊙ (h U_n + c))    h' = (1 - z) ⊙ n + z ⊙ h,

and h' is both the output and the next memory. (Appendix D.6 of the paper.) The LSTM
computes, with a cell c,

    i, f, o = σ(x W + b + h U) (three gates),    g = tanh(x W_g + b_g + h U_g),
    c' = f ⊙ c + i ⊙ g,                          h' = o ⊙ tanh(c').

Where a reset flag is set, memories are zeroed *before* the input at that position is
processed.

Three measures, all exact, make a whole sequence of the GRU fast. x W + b of all times
is one product before the loop. The loop saves h U only, from which the backward pass
finds the gates of all times at once. And the backward loop only carries the gradient of
the memory, so that the gradient of U, too, is one product after the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from freeproj.agents.dense import as_rows, draw_gates

__all__ = ["GRU", "LSTM"]

_Rows = Float[Array, "*batch hidden"]
_AllGates = Float[Array, "*batch gates"]
_Gates = Sequence[_Rows]  # what belongs to r, z, n
_State = Float[Array, "batch hidden"]
_Input = Float[Array, "batch inputs"]
_States = Float[Array, "time batch hidden"]
_Pair = tuple[_State, _State]  # h, c
_Reset = Bool[Array, " batch"]
_Inputs = Float[Array, "time batch inputs"]
_Resets = Bool[Array, "time batch"]


class GRU(eqx.Module):
    """A gated recurrent unit; the gates r, z, n stand side by side in its weights."""

    input_weight: Float[Array, "inputs gates"]
    bias: Float[Array, " gates"]
    memory_weight: Float[Array, "hidden gates"]
    memory_bias: Float[Array, " hidden"]  # c, of the candidate n only

    @classmethod
    def create(cls, key: PRNGKeyArray, n_inputs: int, hidden_size: int) -> GRU:
        """Draw weights: variance 1 / inputs for W, orthogonal U, zero biases."""
        weight, memory_weight = draw_gates(key, n_inputs, hidden_size, 3)
        biases = jnp.zeros(3 * hidden_size), jnp.zeros(hidden_size)
        return cls(weight, biases[0], memory_weight, biases[1])

    def initial_state(self, n_envs: int) -> _State:
        return jnp.zeros((n_envs, len(self.memory_bias)), self.memory_bias.dtype)

    def step(self, x: _Input, state: _State, reset: _Reset) -> tuple[_State, _State]:
        state = jnp.where(reset[:, None], 0, state)
        inputs = _split(x @ self.input_weight + self.bias)
        state = _cell(inputs, state @ self.memory_weight, self.memory_bias, state)
        return state, state

    def sequence(
        self, xs: _Inputs, state: _State, resets: _Resets
    ) -> tuple[_States, _State]:
        keep = 1 - resets[..., None].astype(xs.dtype)
        inputs = as_rows(xs) @ self.input_weight + self.bias
        inputs = _split(inputs.reshape(*resets.shape, -1))
        outputs = _recur(inputs, self.memory_weight, self.memory_bias, state, keep)
        return outputs, outputs[-1]


@jax.custom_vjp
def _recur(*problem: Any) -> _States:
    """Return the memories after each step; for the arguments see `_loop`."""
    return _loop(*problem)[0]


def _loop(
    inputs: _Gates, weight: Array, bias: Array, state: _State, keep: Array
) -> tuple[_States, _AllGates]:
    """Return the memories after each step, and h U; `inputs` are x W + b."""

    def step(state, now):
        inputs, keep = now
        state = state * keep
        projected = state @ weight
        state = _cell(inputs, projected, bias, state)
        return state, (state, projected)

    return jax.lax.scan(step, state, (inputs, keep))[1]


def _forward(*problem: Any):
    """Run the loop and keep what the backward pass needs."""
    states, projected = _loop(*problem)
    return states, (states, projected, *problem)


def _backward(saved, d_states: _States):
    """Return the gradients of inputs, weight, bias and first memory.

    With D the whole gradient of h' at a step, each gate's gradient is D times a factor
    known beforehand, and D of the step before is D ⊙ z plus those gradients times U^T.
    """
    states, projected, inputs, weight, bias, state, keep = saved
    before = jnp.concatenate([state[None], states[:-1]]) * keep
    r, z, m, n = _activate(inputs, projected, bias)
    to_n = (1 - z) * (1 - n * n)
    to_z = (before - n) * z * (1 - z)
    to_m = to_n * r
    to_r = to_m * m * (1 - r)
    transposed = weight.T

    def step(d_state, now):
        d_output, to_r, to_z, to_m, z, keep = now
        d = d_state + d_output
        d_gates = jnp.concatenate([d * to_r, d * to_z, d * to_m], axis=-1)
        return (d_gates @ transposed + d * z) * keep, d

    now = (d_states, to_r, to_z, to_m, z, keep)
    d_first, d = jax.lax.scan(step, jnp.zeros_like(state), now, reverse=True)
    d_inputs = [d * to_r, d * to_z, d * to_n]
    d_memory = as_rows(jnp.concatenate([d * to_r, d * to_z, d * to_m], axis=-1))
    d_weight = as_rows(before).T @ d_memory
    return d_inputs, d_weight, (d * to_m).sum((0, 1)), d_first, None


_recur.defvjp(_forward, _backward)


def _cell(inputs: _Gates, projected: _AllGates, bias: Array, state: _Rows) -> _Rows:
    """Return h' from x W + b, h U, c and h."""
    _, z, _, n = _activate(inputs, projected, bias)
    return n + z * (state - n)


def _activate(inputs: _Gates, projected: _AllGates, bias: Array) -> tuple[_Rows, ...]:
    """Return r, z, m = h U_n + c and n."""
    to_r, to_z, m = _split(projected)
    m = m + bias
    r = jax.nn.sigmoid(inputs[0] + to_r)
    z = jax.nn.sigmoid(inputs[1] + to_z)
    return r, z, m, jnp.tanh(inputs[2] + r * m)


def _split(gates: _AllGates) -> list[_Rows]:
    """Return the parts of r, z, n: a slice of a slice keeps XLA from vectorising."""
    return jnp.split(gates, 3, axis=-1)


class LSTM(eqx.Module):
    """A long short-term memory; i, f, o, g stand side by side in its weights."""

    input_weight: Float[Array, "inputs gates"]
    bias: Float[Array, " gates"]
    memory_weight: Float[Array, "hidden gates"]

    @classmethod
    def create(cls, key: PRNGKeyArray, n_inputs: int, hidden_size: int) -> LSTM:
        """Draw weights: variance 1 / inputs for W, orthogonal U."""
        weight, memory_weight = draw_gates(key, n_inputs, hidden_size, 4)
        bias = jnp.zeros((4, hidden_size)).at[1].set(1.0)  # f: new cells keep all
        return cls(weight, bias.ravel(), memory_weight)

    def initial_state(self, n_envs: int) -> _Pair:
        zeros = jnp.zeros((n_envs, len(self.memory_weight)), self.bias.dtype)
        return zeros, zeros

    def step(self, x: _Input, state: _Pair, reset: _Reset) -> tuple[_State, _Pair]:
        return self._cell(x @ self.input_weight + self.bias, state, reset)

    def sequence(
        self, xs: _Inputs, state: _Pair, resets: _Resets
    ) -> tuple[_States, _Pair]:
        rows = as_rows(xs) @ self.input_weight + self.bias

        def step(state, now):
            output, state = self._cell(now[0], state, now[1])
            return state, output

        inputs = (rows.reshape(*resets.shape, -1), resets)
        state, outputs = jax.lax.scan(step, state, inputs)
        return outputs, state

    def _cell(self, inputs: _AllGates, state: _Pair, reset: _Reset):
        """Return output and next memory from x W + b."""
        h, c = (jnp.where(reset[:, None], 0, each) for each in state)
        i, f, o, g = jnp.split(inputs + h @ self.memory_weight, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return h, (h, c)
