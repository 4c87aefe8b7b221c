"""A dense layer, and the initial weights of the agent's layers and memories.

Batches are rows: x ↦ xW + b with x of shape (…, inputs). (Appendix D.6 of the paper.)
"""

from __future__ import annotations

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

__all__ = ["Dense", "as_rows", "draw_gates", "lecun", "orthogonal_stacks"]

lecun = jax.nn.initializers.lecun_normal()  # normal weights of variance 1 / inputs


class Dense(eqx.Module):
    """The affine map x ↦ xW + b."""

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]

    @classmethod
    def lecun(cls, key: PRNGKeyArray, n_inputs: int, n_outputs: int) -> Dense:
        """Draw weights of variance 1 / inputs; the bias is zero."""
        return cls(lecun(key, (n_inputs, n_outputs)), jnp.zeros(n_outputs))

    def __call__(self, x: Float[Array, "*batch inputs"]) -> Float[Array, "*batch n"]:
        return x @ self.weight + self.bias


def as_rows(xs: Float[Array, "time batch size"]) -> Float[Array, "rows size"]:
    """Return a sequence as one matrix: products and gradients need no transposes."""
    return xs.reshape(-1, xs.shape[-1])


def orthogonal_stacks(
    *stacks: tuple[PRNGKeyArray, tuple[int, ...], tuple[float, ...]],
) -> list[tuple[Dense, ...]]:
    """Draw layers from each size to the next, for each (key, sizes, gains).

    Each has `gain` times orthonormal rows or columns, and zero biases.
    """
    keys = jnp.concatenate([jax.random.split(key, len(g)) for key, _, g in stacks])
    shapes = [pair for _, sizes, _ in stacks for pair in itertools.pairwise(sizes)]
    gains = [gain for *_, of_stack in stacks for gain in of_stack]
    # Always square, then cut, and all of one size at once: XLA takes a fifth of a
    # second to compile each draw.
    sizes = [max(shape) for shape in shapes]
    squares = {}
    for size in dict.fromkeys(sizes):
        places = [place for place, each in enumerate(sizes) if each == size]
        squares |= zip(places, _draw(keys[jnp.array(places)], size), strict=True)
    layers = (
        Dense(gain * squares[place][:rows, :columns], jnp.zeros(columns))
        for place, ((rows, columns), gain) in enumerate(zip(shapes, gains, strict=True))
    )
    return [tuple(itertools.islice(layers, len(each))) for *_, each in stacks]


def draw_gates(
    key: PRNGKeyArray, n_inputs: int, hidden_size: int, n_gates: int
) -> tuple[Float[Array, "inputs gates"], Float[Array, "hidden gates"]]:
    """Draw W, of variance 1 / inputs, and orthogonal U, with all gates side by side."""
    key_input, key_memory = jax.random.split(key)
    blocks = _draw(jax.random.split(key_memory, n_gates), hidden_size)
    weight = lecun(key_input, (n_inputs, n_gates * hidden_size))
    return weight, jnp.concatenate([*blocks], axis=1)


def _draw(keys: Key[Array, " n"], size: int) -> Float[Array, "n size size"]:
    """Draw an orthogonal matrix for each key: Q of a Gaussian QR with positive R."""
    gaussians = jax.vmap(lambda key: jax.random.normal(key, (size, size)))(keys)
    return jax.vmap(_orthonormal)(gaussians)


def _orthonormal(matrix: Float[Array, "d d"]) -> Float[Array, "d d"]:
    """Make the columns orthonormal one after the other, each against those before.

    By hand, since two QRs at a time can wait for each other for ever in jaxlib's LAPACK
    (see `freeproj.projection.matrices`). Twice is enough for float32.
    """

    def step(place: Int[Array, ""], done: Float[Array, "d d"]) -> Float[Array, "d d"]:
        column = matrix[:, place]
        for _ in range(2):
            column = column - done @ (done.T @ column)
        return done.at[:, place].set(column / jnp.linalg.norm(column))

    return jax.lax.fori_loop(0, len(matrix), step, jnp.zeros_like(matrix))
