"""The two distributions of actions: categorical, with masks, and diagonal Gaussian.

A policy holds a batch of distributions; `log_prob`, `entropy` and `mode` work on the
whole batch. Sampling is a fixed function of standard noise (`sample_with`), so that the
noise of a whole rollout can be drawn in advance.
"""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

__all__ = ["Categorical", "Gaussian", "Policy"]


class Categorical(eqx.Module):
    """Actions 0, …, n-1 with probabilities softmax(logits)."""

    logits: Float[Array, "*batch n"]

    def masked(self, mask: Bool[Array, "*batch n"]) -> Categorical:
        """Return the distribution conditioned on the actions where `mask` is true.

        Other actions have probability 0 and no gradient. At least one must be allowed.
        """
        # Finite, so that 0 · log 0 is 0 and not nan in entropies and gradients.
        never = jnp.finfo(self.logits.dtype).min
        return Categorical(jnp.where(mask, self.logits, never))

    def sample_with(self, noise: Float[Array, "*batch n"]) -> Int[Array, "*batch"]:
        """Return the action that standard Gumbel noise picks."""
        return jnp.argmax(self.logits + noise, axis=-1)

    def log_prob(self, action: Int[Array, "*batch"]) -> Float[Array, "*batch"]:
        """Return log π(a)."""
        log_probs = jax.nn.log_softmax(self.logits)
        return jnp.take_along_axis(log_probs, action[..., None], axis=-1)[..., 0]

    def entropy(self) -> Float[Array, "*batch"]:
        """Return -Σ π log π."""
        log_probs = jax.nn.log_softmax(self.logits)
        return -jnp.sum(jnp.exp(log_probs) * log_probs, axis=-1)

    def mode(self) -> Int[Array, "*batch"]:
        """Return the likeliest action."""
        return jnp.argmax(self.logits, axis=-1)


class Gaussian(eqx.Module):
    """Vectors with independent normal entries; the spread does not depend on the state.

    Actions are not clipped here: the environment clips what it applies, and the density
    stays that of the unclipped action.
    """

    mean: Float[Array, "*batch k"]
    log_std: Float[Array, " k"]

    def sample_with(self, noise: Float[Array, "*batch k"]) -> Float[Array, "*batch k"]:
        """Return mean + std · noise, for standard normal noise."""
        return self.mean + jnp.exp(self.log_std) * noise

    def log_prob(self, action: Float[Array, "*batch k"]) -> Float[Array, "*batch"]:
        """Return the log density at a."""
        distance = (action - self.mean) * jnp.exp(-self.log_std)
        terms = -0.5 * distance**2 - self.log_std - 0.5 * math.log(2 * math.pi)
        return terms.sum(axis=-1)

    def entropy(self) -> Float[Array, "*batch"]:
        """Return the differential entropy, the same for the whole batch."""
        entropy = jnp.sum(self.log_std + 0.5 * math.log(2 * math.pi * math.e))
        return jnp.broadcast_to(entropy, self.mean.shape[:-1])

    def mode(self) -> Float[Array, "*batch k"]:
        """Return the mean."""
        return self.mean


Policy = Categorical | Gaussian
