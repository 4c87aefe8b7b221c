"""A small transformer that looks back over a sliding window, with gates around it.

One layer, for rows x and the norm LN,

    x ← gate(x, relu(attention(LN(x))))        x ← gate(x, relu(MLP(LN(x))))
    gate(x, y) = (1 - z) ⊙ x + z ⊙ tanh(y W_g + (r ⊙ x) U_g),
    r = σ(y W_r + x U_r),   z = σ(y W_z + x U_z - 2),

so that a new layer is nearly the identity (GTrXL, Parisotto et al. 2020). The query at
time t attends to the keys of times t-W+1 … t of its own episode; each head adds a
learnt bias for the distance. A state holds the keys and values of the last W-1 steps,
and which of them belong to the episode under way. A reset makes all of them invalid
*before* the input at that position is processed.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from freeproj.agents.dense import Dense, as_rows, lecun
from freeproj.agents.recurrence import Sequential

__all__ = ["Gate", "Transformer", "TransformerLayer", "TransformerState"]

_HEAD_SIZE = 32  # the smallest size of an attention head
_FIRST_GATE = -2.0  # the bias of z
_NEVER = -1e9  # finite, so that gradients are finite too
_Rows = Float[Array, "rows size"]
_Steps = Float[Array, "time batch size"]
_Past = Float[Array, "past batch size"]
_All = Float[Array, "all batch size"]  # past and present steps
_Bias = Float[Array, "heads window"]
_Episodes = Int[Array, "all batch"]  # a number for each step, equal within an episode


class TransformerState(NamedTuple):
    """What is kept of the last W-1 steps, the newest last."""

    keys: tuple[Float[Array, "batch past size"], ...]  # of each layer
    values: tuple[Float[Array, "batch past size"], ...]
    valid: Bool[Array, "batch past"]  # whether a step is of the episode under way


class Gate(eqx.Module):
    """The gate of a GRU in place of a residual sum."""

    new: Dense  # W_r, W_z, W_g side by side
    old: Float[Array, "size two"]  # U_r, U_z side by side
    candidate: Float[Array, "size size"]  # U_g

    @classmethod
    def create(cls, key: PRNGKeyArray, size: int) -> Gate:
        """Draw weights of variance 1 / inputs; the gate starts nearly closed."""
        key_new, key_old, key_candidate = jax.random.split(key, 3)
        bias = jnp.zeros(3 * size).at[size : 2 * size].set(_FIRST_GATE)
        new = Dense(lecun(key_new, (size, 3 * size)), bias)
        old = lecun(key_old, (size, 2 * size))
        return cls(new, old, lecun(key_candidate, (size, size)))

    def __call__(self, x: _Rows, y: _Rows) -> _Rows:
        """Return x, moved towards y."""
        of_r, of_z, of_g = jnp.split(self.new(y), 3, axis=-1)
        r, z = jnp.split(x @ self.old, 2, axis=-1)
        r, z = jax.nn.sigmoid(of_r + r), jax.nn.sigmoid(of_z + z)
        return x + z * (jnp.tanh(of_g + (r * x) @ self.candidate) - x)


class TransformerLayer(eqx.Module):
    """Attention and a dense layer, each with its gate."""

    project: Dense  # to queries, keys and values
    merge: Dense
    attention_gate: Gate
    dense: tuple[Dense, Dense]
    dense_gate: Gate
    distance_bias: _Bias

    @classmethod
    def create(cls, key: PRNGKeyArray, size: int, window: int) -> TransformerLayer:
        """Draw weights of variance 1 / inputs; distances start without a bias."""
        keys = jax.random.split(key, 6)
        return cls(
            project=Dense.lecun(keys[0], size, 3 * size),
            merge=Dense.lecun(keys[1], size, size),
            attention_gate=Gate.create(keys[2], size),
            dense=(Dense.lecun(keys[3], size, size), Dense.lecun(keys[4], size, size)),
            dense_gate=Gate.create(keys[5], size),
            distance_bias=jnp.zeros((_n_heads(size), window)),
        )

    def sequence(
        self, xs: _Steps, keys: _Past, values: _Past, episodes: _Episodes
    ) -> tuple[_Steps, _All, _All]:
        """Return outputs, and the keys and values of past and present."""
        x = as_rows(xs)
        projected = self.project(_normalize(x)).reshape(*xs.shape[:2], -1)
        queries, new_keys, new_values = jnp.split(projected, 3, axis=-1)
        keys = jnp.concatenate([keys, new_keys])
        values = jnp.concatenate([values, new_values])
        seen = _attend(queries, keys, values, episodes, self.distance_bias)
        x = self.attention_gate(x, jax.nn.relu(self.merge(seen.reshape(x.shape))))
        hidden = jax.nn.relu(self.dense[0](_normalize(x)))
        x = self.dense_gate(x, jax.nn.relu(self.dense[1](hidden)))
        return x.reshape(xs.shape), keys, values


class Transformer(Sequential):
    """A stack of gated layers that share a window."""

    layers: tuple[TransformerLayer, ...]

    @classmethod
    def create(cls, key: PRNGKeyArray, size: int, n_layers=2, window=64, **_: Any):
        """Draw the layers; an attention head has 32 entries, or somewhat more."""
        keys = jax.random.split(key, n_layers)
        return cls(tuple(TransformerLayer.create(each, size, window) for each in keys))

    def initial_state(self, n_envs: int) -> TransformerState:
        past = self.layers[0].distance_bias.shape[1] - 1
        biases = [layer.merge.bias for layer in self.layers]
        empty = tuple(jnp.zeros((n_envs, past, len(b)), b.dtype) for b in biases)
        return TransformerState(empty, empty, jnp.zeros((n_envs, past), bool))

    def sequence(
        self, xs: _Steps, state: TransformerState, resets: Bool[Array, "time batch"]
    ) -> tuple[_Steps, TransformerState]:
        n_times = len(xs)  # the past after them: [-past:] is everything at no past
        before = jnp.where(state.valid.T, 0, -1)
        episodes = jnp.concatenate([before, jnp.cumsum(resets, axis=0)])
        caches = []
        for layer, *cache in zip(self.layers, state.keys, state.values, strict=True):
            keys, values = (jnp.swapaxes(each, 0, 1) for each in cache)
            xs, *both = layer.sequence(xs, keys, values, episodes)
            caches.append([jnp.swapaxes(each[n_times:], 0, 1) for each in both])
        keys, values = zip(*caches, strict=True)
        valid = (episodes[n_times:] == episodes[-1]).T
        return xs, TransformerState(keys, values, valid)


def _attend(
    queries: _Steps, keys: _All, values: _All, episodes: _Episodes, distance_bias: _Bias
) -> _Steps:
    """Attend within the window, block by block: time · 2W scores instead of time²."""
    (n_times, n_envs, size), (heads, window) = queries.shape, distance_bias.shape
    block = min(n_times, window)
    n_blocks = -(-n_times // block)
    missing = ((0, n_blocks * block - n_times), (0, 0), (0, 0))
    queries = jnp.pad(queries, missing).reshape(n_blocks, block, n_envs, heads, -1)
    # Step t stands at t+W-1 among past and present: block b sees from b·block on.
    reach = jnp.arange(n_blocks)[:, None] * block + jnp.arange(block + window - 1)
    reach = jnp.minimum(reach, len(keys) - 1)  # the last block's padding
    keys, values = (
        each[reach].reshape(n_blocks, -1, n_envs, heads, size // heads)
        for each in (keys, values)
    )
    scores = jnp.einsum("nqbhd,nkbhd->nbhqk", queries, keys)
    distance = jnp.arange(block)[:, None] + window - 1 - jnp.arange(reach.shape[1])
    is_near = (distance >= 0) & (distance < window)
    bias = distance_bias[:, jnp.clip(distance, 0, window - 1)]
    number = jnp.swapaxes(episodes[reach], 1, 2)  # (block, env, key)
    same = number[:, :, window - 1 :, None] == number[:, :, None, :]
    scores = scores / math.sqrt(size // heads) + bias
    scores = jnp.where((same & is_near)[:, :, None], scores, _NEVER)
    seen = jnp.einsum("nbhqk,nkbhd->nqbhd", jax.nn.softmax(scores), values)
    return seen.reshape(n_blocks * block, n_envs, size)[:n_times]


def _n_heads(size: int) -> int:
    """Return the largest number of equal heads with at least `_HEAD_SIZE` entries."""
    most = max(1, size // _HEAD_SIZE)
    return max(n for n in range(1, most + 1) if size % n == 0)


def _normalize(x: _Rows) -> _Rows:
    """Layer norm without learnt scales: a dense layer always follows."""
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + 1e-5)
