"""Memories that are linear recurrences with gated linear units between layers.

One layer of S5 with model size H and P complex states computes, for rows u,

    x_t = λ̄ ⊙ x_{t-1} + u_t B̄,      y_t = 2 Re(x_t C) + D ⊙ u_t,
    out = u + (g W_1 + b_1) ⊙ σ(g W_2 + b_2),   g = gelu(y),

without norms. Continuous eigenvalues λ, input matrix B and step sizes Δ are learnt and
discretised by a zero-order hold: λ̄ = exp(λΔ), B̄ = B (λ̄ - 1)/λ. A state of size N
consists of P = N/2 conjugate pairs; one of each pair is kept, hence 2 Re. (Appendix D.6
of the paper; the initial λ and their basis are those of the HiPPO-N matrix.) Initial
numbers and the missing bound on Re λ are popjaxrl's; `clip_eigenvalues` keeps Re λ
negative.

minGRU has gates that depend on the input only, so that it is linear in time too:

    h_t = (1 - z_t) ⊙ h_{t-1} + z_t ⊙ (u_t W_h + b_h),    z_t = σ(u_t W_z + b_z),
    out = u + (h W_1 + b_1) ⊙ σ(h W_2 + b_2).

Where a reset flag is set, x_{t-1} and h_{t-1} are zeroed *before* u_t is processed.
(Feng et al. 2024, "Were RNNs all we needed?"; the gated unit is S5's.)
"""

from __future__ import annotations

import functools
import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Complex, Float, PRNGKeyArray

from freeproj.agents.dense import Dense, as_rows, lecun
from freeproj.agents.recurrence import Pair, Stack, recur, recur_gated

__all__ = ["S5", "MinGRU", "MinGRULayer", "S5Layer", "hippo_n"]

_SMALLEST_STEP, _LARGEST_STEP = 0.001, 0.1
_SLOWEST_DECAY = 1e-4  # of clipped eigenvalues
_Steps = Float[Array, "time batch model"]
_Resets = Bool[Array, "time batch"]
_Keep = Float[Array, "time batch 1"]
_LayerState = Float[Array, "batch 2 pairs"]
_State = Float[Array, "batch layers 2 pairs"]
_Hidden = Float[Array, "batch model"]  # of one layer of minGRU
_FORGETS_WITHIN = (2.0, 64.0)  # steps, from the fastest unit to the slowest


class S5Layer(eqx.Module):
    """One layer; complex matrices are kept as real and imaginary parts."""

    decay: Float[Array, " pairs"]  # Re λ
    frequency: Float[Array, " pairs"]  # Im λ
    log_step: Float[Array, " pairs"]
    input_re: Float[Array, "model pairs"]
    input_im: Float[Array, "model pairs"]
    output_re: Float[Array, "pairs model"]
    output_im: Float[Array, "pairs model"]
    feedthrough: Float[Array, " model"]
    linear: Dense
    gate: Dense
    clip: bool = eqx.field(static=True, default=False)  # so that no state can grow

    @classmethod
    def create(
        cls, key: PRNGKeyArray, model_size: int, state_size: int, clip: bool = False
    ) -> S5Layer:
        """Draw B and C in the eigenbasis of HiPPO-N.

        With N states the entries of B have variance 1/H, both parts of C's 1/(N·H).
        """
        values, vectors = hippo_n(state_size)
        pairs = state_size // 2
        # One of each conjugate pair; they stand in ascending order of frequency.
        values, vectors = values[pairs:], jnp.asarray(vectors[:, pairs:], complex)
        key_b, key_c, key_d, key_step, key_linear, key_gate = jax.random.split(key, 6)
        b = lecun(key_b, (model_size, state_size)) @ vectors.conj()
        # As popjaxrl draws it: on this shape the fan-in is states times model.
        c_re, c_im = jnp.moveaxis(lecun(key_c, (model_size, state_size, 2)), -1, 0)
        c = vectors.T @ (c_re + 1j * c_im).T
        low, high = math.log(_SMALLEST_STEP), math.log(_LARGEST_STEP)
        return cls(
            decay=jnp.asarray(np.real(values), float),
            frequency=jnp.asarray(np.imag(values), float),
            log_step=jax.random.uniform(key_step, (pairs,), minval=low, maxval=high),
            input_re=b.real,
            input_im=b.imag,
            output_re=c.real,
            output_im=c.imag,
            feedthrough=jax.random.normal(key_d, (model_size,)),
            linear=Dense.lecun(key_linear, model_size, model_size),
            gate=Dense.lecun(key_gate, model_size, model_size),
            clip=clip,
        )

    def discretize(self) -> tuple[Pair, Pair]:
        """Return λ̄ and B̄."""
        decay = jnp.minimum(self.decay, -_SLOWEST_DECAY) if self.clip else self.decay
        step = jnp.exp(self.log_step)
        grow, turn = decay * step, self.frequency * step
        # λ̄ - 1 without cancellation: both parts of λΔ can be small.
        re = jnp.expm1(grow) * jnp.cos(turn) - 2 * jnp.sin(turn / 2) ** 2
        im = jnp.exp(grow) * jnp.sin(turn)
        size = decay**2 + self.frequency**2
        hold_re = (re * decay + im * self.frequency) / size
        hold_im = (im * decay - re * self.frequency) / size
        b_re = self.input_re * hold_re - self.input_im * hold_im
        b_im = self.input_re * hold_im + self.input_im * hold_re
        return (re + 1, im), (b_re, b_im)

    def sequence(
        self, xs: _Steps, state: _LayerState, keep: _Keep
    ) -> tuple[_Steps, _LayerState]:
        factors, (b_re, b_im) = self.discretize()
        u = as_rows(xs)
        shape = (*xs.shape[:2], -1)
        inputs = ((u @ b_re).reshape(shape), (u @ b_im).reshape(shape))
        x_re, x_im = recur(factors, inputs, (state[:, 0], state[:, 1]), keep)
        y = as_rows(x_re) @ (2 * self.output_re) - as_rows(x_im) @ (2 * self.output_im)
        y = jax.nn.gelu(y + self.feedthrough * u)
        out = u + self.linear(y) * jax.nn.sigmoid(self.gate(y))
        return out.reshape(xs.shape), jnp.stack([x_re[-1], x_im[-1]], axis=1)


class S5(Stack):
    """A stack of S5 layers; the memory of an environment is one array for all."""

    @classmethod
    def create(
        cls, key, size, state_size=None, n_layers=4, clip_eigenvalues=False, **_: Any
    ) -> S5:
        """Draw the layers; without a `state_size` states are as large as inputs."""
        state_size = size if state_size is None else state_size
        if state_size < 2 or state_size % 2:
            raise ValueError(
                "`state_size` must be even and positive (it counts conjugate pairs "
                f"twice), got {state_size}."
            )
        keys = jax.random.split(key, n_layers)
        layer = functools.partial(S5Layer.create, clip=clip_eigenvalues)
        return cls(tuple(layer(each, size, state_size) for each in keys))

    def initial_state(self, n_envs: int) -> _State:
        decay = self.layers[0].decay
        return jnp.zeros((n_envs, len(self.layers), 2, len(decay)), decay.dtype)

    def sequence(
        self, xs: _Steps, state: _State, resets: _Resets
    ) -> tuple[_Steps, _State]:
        own = (state[:, index] for index in range(len(self.layers)))
        xs, last = super().sequence(xs, own, resets)
        return xs, jnp.stack(last, axis=1)


class MinGRULayer(eqx.Module):
    """One layer."""

    update: Dense  # z
    candidate: Dense  # W_h
    linear: Dense
    gate: Dense

    @classmethod
    def create(cls, key: PRNGKeyArray, size: int) -> MinGRULayer:
        """Draw weights of variance 1 / inputs, with units that forget at many rates."""
        # With zero biases units would forget half of their state at each step, and no
        # gradient would come back from twenty steps ago (Tallec and Ollivier 2018).
        keys = jax.random.split(key, 4)
        update, *others = (Dense.lecun(each, size, size) for each in keys)
        steps = jnp.geomspace(*_FORGETS_WITHIN, size)
        return cls(Dense(update.weight, -jnp.log(steps - 1)), *others)  # z = 1 / steps

    def sequence(
        self, xs: _Steps, state: _Hidden, keep: _Keep
    ) -> tuple[_Steps, _Hidden]:
        u = as_rows(xs)
        z = jax.nn.sigmoid(self.update(u))
        inputs = (z * self.candidate(u)).reshape(xs.shape)
        h = recur_gated((1 - z).reshape(xs.shape) * keep, inputs, state)
        rows = as_rows(h)
        out = u + self.linear(rows) * jax.nn.sigmoid(self.gate(rows))
        return out.reshape(xs.shape), h[-1]


class MinGRU(Stack):
    """A stack of minGRU layers; the state is a tuple with one array for each."""

    @classmethod
    def create(cls, key: PRNGKeyArray, size: int, n_layers: int = 2, **_: Any):
        """Draw the layers; further settings are for other memories."""
        keys = jax.random.split(key, n_layers)
        return cls(tuple(MinGRULayer.create(each, size) for each in keys))

    def initial_state(self, n_envs: int) -> tuple[_Hidden, ...]:
        biases = [layer.update.bias for layer in self.layers]
        return tuple(jnp.zeros((n_envs, len(b)), b.dtype) for b in biases)


@functools.cache
def hippo_n(n: int) -> tuple[Complex[np.ndarray, " n"], Complex[np.ndarray, "n n"]]:
    """Return eigenvalues and orthonormal eigenvectors of the HiPPO-N matrix.

    It is the normal part of the HiPPO-LegS matrix: -1/2 on the diagonal and the
    skew-symmetric ∓√((i + 1/2)(j + 1/2)) below and above it. The eigenvalues
    -1/2 + iω come in conjugate pairs, in ascending order of ω.
    """
    root = np.sqrt(np.arange(n) + 0.5)
    outer = np.outer(root, root)
    skew = np.triu(outer, 1) - np.tril(outer, -1)
    frequencies, vectors = np.linalg.eigh(-1j * skew)
    values = -0.5 + 1j * frequencies
    values.flags.writeable = vectors.flags.writeable = False  # shared
    return values, vectors
