"""A dense layer with the two initialisations that the agent uses.

Batches are rows: x ↦ xW + b with x of shape (…, inputs). (Appendix D.6 of the paper.)
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

__all__ = ["Dense"]


class Dense(eqx.Module):
    """The affine map x ↦ xW + b."""

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]

    @classmethod
    def orthogonal(
        cls, key: PRNGKeyArray, n_inputs: int, n_outputs: int, gain: float
    ) -> Dense:
        """Return a layer with `gain` times orthonormal rows or columns, zero bias."""
        # Always square, then cut: XLA takes half a second to compile each new size.
        size = max(n_inputs, n_outputs)
        square = jax.nn.initializers.orthogonal(gain)(key, (size, size))
        return cls(square[:n_inputs, :n_outputs], jnp.zeros(n_outputs))

    @classmethod
    def lecun(cls, key: PRNGKeyArray, n_inputs: int, n_outputs: int) -> Dense:
        """Return a layer with normal weights of variance 1 / inputs, zero bias."""
        initialize = jax.nn.initializers.lecun_normal()
        return cls(initialize(key, (n_inputs, n_outputs)), jnp.zeros(n_outputs))

    def __call__(
        self, x: Float[Array, "*batch inputs"]
    ) -> Float[Array, "*batch outputs"]:
        """Return xW + b for each row."""
        return x @ self.weight + self.bias
