"""The agent: embedding, memory, and the two heads, batched and time-major.

    inputs → Dense 128 → Dense 256 → memory → actor: Dense 128, 128 → policy
                                            → critic: Dense 128, 128 → value

with leaky ReLUs between. Inputs have shape (batch, features), or (time, batch,
features) in `sequence`. There is no `vmap` over environments: products over all times
and environments at once are what makes it fast. A flag in `resets` marks the first step
of an episode: memory is zeroed before that input is processed. All leaves of an agent
are arrays, so it passes through `jax.jit`, `jax.grad` and optimisers as it is.
(Appendix D.6 of the paper.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray, PyTree

from freeproj.agents.dense import Dense, as_rows, orthogonal_stacks
from freeproj.agents.memories import Memory, make_memory
from freeproj.agents.policies import Categorical, Gaussian, Policy
from freeproj.projection.spaces import Box, Discrete

__all__ = ["ActorCritic"]

_Rows = Float[Array, "rows size"]
_Mask = Bool[Array, "*batch n"] | None


class ActorCritic(eqx.Module):
    """A recurrent policy and its value function, sharing embedding and memory."""

    embedding: tuple[Dense, ...]
    memory: Memory
    actor: tuple[Dense, ...]
    critic: tuple[Dense, ...]
    log_std: Float[Array, " k"] | None  # None where actions are discrete

    @classmethod
    def create(
        cls,
        key: PRNGKeyArray,
        input_size: int,
        action_space: Box | Discrete,
        memory: str = "gru",
        *,
        embedding_size: int = 128,
        hidden_size: int = 256,
        head_size: int = 128,
        **settings: Any,
    ) -> ActorCritic:
        """Draw an agent; the default sizes are the paper's.

        `memory` is a name of `MEMORIES`, or `module:attribute` of a maker; it has
        inputs and outputs of `hidden_size` entries, and takes the further `settings`.
        """
        continuous = isinstance(action_space, Box)
        n_outputs = action_space.size if continuous else action_space.n
        key_embedding, key_memory, key_actor, key_critic = jax.random.split(key, 4)
        widths, root = (hidden_size, head_size, head_size), math.sqrt(2)
        embedding, actor, critic = orthogonal_stacks(
            (key_embedding, (input_size, embedding_size, hidden_size), (root, root)),
            (key_actor, (*widths, n_outputs), (2.0, 2.0, 0.01)),
            (key_critic, (*widths, 1), (2.0, 2.0, 1.0)),
        )
        made = make_memory(key_memory, memory, hidden_size, **settings)
        log_std = jnp.zeros(n_outputs) if continuous else None
        return cls(embedding, made, actor, critic, log_std)

    def initial_state(self, n_envs: int) -> PyTree:
        return self.memory.initial_state(n_envs)

    def step(
        self,
        inputs: Float[Array, "batch features"],
        state: PyTree,
        resets: Bool[Array, " batch"],
        mask: _Mask = None,
    ) -> tuple[Policy, Float[Array, " batch"], PyTree]:
        """Return policies of the allowed actions, values and the next memory."""
        embedded = _relu_layers(self.embedding, inputs)
        outputs, state = self.memory.step(embedded, state, resets)
        value = _head(self.critic, outputs)[:, 0]
        return self._policy(_head(self.actor, outputs), mask), value, state

    def sequence(
        self,
        inputs: Float[Array, "time batch features"],
        state: PyTree,
        resets: Bool[Array, "time batch"],
        mask: _Mask = None,
    ) -> tuple[Policy, Float[Array, "time batch"], PyTree]:
        """Return what repeated `step` would: policies, values and the last memory."""
        shape = inputs.shape[:2]
        embedded = _relu_layers(self.embedding, as_rows(inputs)).reshape(*shape, -1)
        outputs, state = self.memory.sequence(embedded, state, resets)
        rows = as_rows(outputs)
        logits = _head(self.actor, rows).reshape(*shape, -1)
        values = _head(self.critic, rows).reshape(shape)
        return self._policy(logits, mask), values, state

    def noise(self, key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "..."]:
        """Draw what `sample_with` of a policy needs, for a whole rollout at once."""
        draw = jax.random.gumbel if self.log_std is None else jax.random.normal
        return draw(key, (*shape, len(self.actor[-1].bias)))

    def _policy(self, outputs: Float[Array, "*batch n"], mask: _Mask) -> Policy:
        if self.log_std is None:
            policy = Categorical(outputs)
            return policy if mask is None else policy.masked(mask)
        if mask is not None:
            raise ValueError("`mask` is for discrete actions only; leave it out here.")
        return Gaussian(outputs, self.log_std)


def _relu_layers(layers: Iterable[Dense], rows: _Rows) -> Float[Array, "rows n"]:
    for layer in layers:
        rows = jax.nn.leaky_relu(layer(rows))
    return rows


def _head(layers: tuple[Dense, ...], rows: _Rows) -> Float[Array, "rows outputs"]:
    return layers[-1](_relu_layers(layers[:-1], rows))
