"""The linear recurrence x_t = k_t λ x_{t-1} + u_t with complex λ, in real arithmetic.

One λ for each entry of x; k_t ∈ {0, 1} forgets. Complex arrays are pairs (real part,
imaginary part): XLA's complex arithmetic on CPUs is several times slower. The gradient
of a linear recurrence is the same recurrence backwards with λ conjugated,

    g_t = d_t + k_{t+1} conj(λ) g_{t+1},   du_t = g_t,   dλ = Σ_t conj(k_t x_{t-1}) g_t,

so both directions together save only the x_t. Two loops give the same numbers up to
rounding: one step after the other (CPUs), or an associative scan in log2(T) passes over
the whole array (accelerators).
"""

import abc
import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PyTree

__all__ = ["Pair", "Sequential", "Stack", "recur", "recur_gated"]

Pair = tuple[Float[Array, "..."], Float[Array, "..."]]
_Steps = Float[Array, "time batch size"]
_Keep = Float[Array, "time batch 1"]


class Sequential(eqx.Module):
    """A memory of which one step is a sequence of one."""

    @abc.abstractmethod
    def sequence(self, xs: Array, state: Any, resets: Array) -> tuple[Array, Any]:
        """Return the outputs of all steps and the last memory."""

    def step(
        self, x: Float[Array, "batch size"], state: PyTree, reset: Bool[Array, " batch"]
    ) -> tuple[Float[Array, "batch size"], PyTree]:
        outputs, state = self.sequence(x[None], state, reset[None])
        return outputs[0], state


class Stack(Sequential):
    """Layers one after the other, each with a state of its own."""

    layers: tuple[Any, ...]

    def sequence(self, xs: _Steps, state: Any, resets: Array) -> tuple[_Steps, Any]:
        keep = 1 - resets[..., None].astype(xs.dtype)
        last = []
        for layer, before in zip(self.layers, state, strict=True):
            xs, after = layer.sequence(xs, before, keep)
            last.append(after)
        return xs, tuple(last)


def recur(
    factors: Pair, inputs: Pair, state: Pair, keep: _Keep, in_turn: bool | None = None
) -> Pair:
    """Return x_1, …, x_T from λ, u_1, …, u_T, x_0 and k_1, …, k_T.

    With `in_turn` one step after the other, by default on CPUs.
    """
    return _recur(_chosen(in_turn), factors, inputs, state, keep)


def recur_gated(
    factors: _Steps, inputs: _Steps, state: Float[Array, "batch size"], in_turn=None
) -> _Steps:
    """Return x_1, …, x_T of x_t = a_t ⊙ x_{t-1} + u_t, with real a_t of each step."""
    if not _chosen(in_turn):
        return _associative(factors, inputs, state)

    def step(state, now):
        state = now[0] * state + now[1]
        return state, state

    return jax.lax.scan(step, state, (factors, inputs))[1]


def _chosen(in_turn: bool | None) -> bool:
    return jax.default_backend() == "cpu" if in_turn is None else in_turn


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _recur(in_turn: bool, factors, inputs, state, keep) -> Pair:
    return _loop(in_turn, factors, inputs, state, keep)


def _forward(in_turn: bool, factors, inputs, state, keep):
    states = _loop(in_turn, factors, inputs, state, keep)
    return states, (factors, states, state, keep)


def _backward(in_turn: bool, saved, d_states: Pair):
    """Return the gradients of factors, inputs and first state."""
    factors, states, state, keep = saved
    conjugate = (factors[0], -factors[1])
    # g_t uses k_{t+1}; after the last step there is nothing to forget.
    keep_next = jnp.concatenate([keep[1:], jnp.ones_like(keep[:1])])
    nothing = jax.tree.map(jnp.zeros_like, state)
    g = _loop(in_turn, conjugate, d_states, nothing, keep_next, reverse=True)
    re, im = (
        jnp.concatenate([first[None], each[:-1]]) * keep
        for first, each in zip(state, states, strict=True)
    )
    d_factors = (
        jnp.sum(re * g[0] + im * g[1], axis=(0, 1)),
        jnp.sum(re * g[1] - im * g[0], axis=(0, 1)),
    )
    d_state = _times(conjugate, (g[0][0] * keep[0], g[1][0] * keep[0]))
    return d_factors, g, d_state, None


_recur.defvjp(_forward, _backward)


def _loop(in_turn: bool, factors, inputs, state, keep, reverse=False) -> Pair:
    """Run the recurrence, one step after the other or in a tree."""
    if not in_turn:
        a, u, x = (jax.lax.complex(*pair) for pair in (factors, inputs, state))
        x = _associative(a * keep, u, x, reverse)
        return x.real, x.imag

    def step(state, now):
        inputs, keep = now
        re, im = _times(factors, (state[0] * keep, state[1] * keep))
        state = re + inputs[0], im + inputs[1]
        return state, state

    return jax.lax.scan(step, state, (inputs, keep), reverse=reverse)[1]


def _associative(factors: Array, inputs: Array, state: Array, reverse=False) -> Array:
    """Compose the maps x ↦ ax + u of all times in a tree."""

    def compose(earlier, later):
        return later[0] * earlier[0], later[0] * earlier[1] + later[1]

    first = -1 if reverse else 0
    inputs = inputs.at[first].add(factors[first] * state)
    return jax.lax.associative_scan(compose, (factors, inputs), reverse=reverse)[1]


def _times(a: Pair, b: Pair) -> Pair:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]
