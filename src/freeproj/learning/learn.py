"""Learning from a rollout: epochs of clipped policy gradients over whole environments.

`learn` is one update of PPO: all epochs, all minibatches, as one scan. A minibatch is
made of whole environments, never of pieces of time. (Appendices D.2 and D.7.)
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from freeproj.agents import ActorCritic
from freeproj.learning import ppo
from freeproj.learning.config import TrainConfig
from freeproj.learning.rollout import Rollout, first_steps
from freeproj.meta.episodes import MetaEnv

__all__ = ["Batch", "Metrics", "learn", "optimizer_of", "start_optimizer"]

Metrics = dict[str, Array]


class Batch(NamedTuple):
    """What is learned from: a rollout, its advantages, the memories at its start."""

    rollout: Rollout
    advantages: Float[Array, "time envs"]
    memory: PyTree


def learn(
    key: PRNGKeyArray,
    agent: ActorCritic,
    opt_state: PyTree,
    batch: Batch,
    env: MetaEnv,
    config: TrainConfig,
) -> tuple[ActorCritic, PyTree, Metrics]:
    """Run all epochs of an update."""
    plan, optimizer = config.ppo, optimizer_of(config)

    # One vector: Adam and clipping are then one pass each, not one for every leaf.
    weights, to_agent = ravel_pytree(agent)
    moments = _map_agents(lambda tree: ravel_pytree(tree)[0], opt_state)

    def loss(weights, part):
        return _loss(to_agent(weights), part, env, config)

    def minibatch(carry, chosen):
        weights, moments = carry
        # Whole environments: axis 1 of what has time, axis 0 of memories.
        timed = jax.tree.map(lambda leaf: leaf[:, chosen], batch[:2])
        memory = jax.tree.map(lambda leaf: leaf[chosen], batch.memory)
        part = Batch(timed[0], timed[1], memory)
        gradient, losses = jax.grad(loss, has_aux=True)(weights, part)
        losses["loss/gradient_norm"] = optax.tree.norm(gradient)
        changes, moments = optimizer.update(gradient, moments)
        return (weights + changes, moments), losses

    keys = jax.random.split(key, plan.n_epochs)
    orders = jax.vmap(lambda key: jax.random.permutation(key, config.n_envs))(keys)
    chosen = orders.reshape(plan.n_epochs * plan.n_minibatches, -1)
    carry, losses = jax.lax.scan(minibatch, (weights, moments), chosen)
    opt_state = _map_agents(lambda _, flat: to_agent(flat), opt_state, carry[1])
    means = {name: loss.mean() for name, loss in losses.items()}
    return to_agent(carry[0]), opt_state, means


def _loss(agent: ActorCritic, batch: Batch, env: MetaEnv, config: TrainConfig):
    """Return policy loss + c_1 value loss - c_2 entropy, and its parts."""
    rollout, plan = batch.rollout, config.ppo
    fresh = first_steps(env, rollout.inputs)
    seen = rollout.inputs, batch.memory, fresh, rollout.mask
    policy, values, _ = agent.sequence(*seen)
    new, old = policy.log_prob(rollout.action), rollout.log_prob
    targets = batch.advantages + rollout.value
    estimates = ppo.normalize(batch.advantages)
    parts = {
        "loss/policy": ppo.policy_loss(new, old, estimates, plan.clip),
        "loss/value": ppo.value_loss(values, rollout.value, targets, plan.clip),
        "loss/entropy": policy.entropy().mean(),
        "loss/approximate_kl": ppo.approximate_kl(new, old),
        "loss/clip_fraction": ppo.clip_fraction(new, old, plan.clip),
        "loss/explained_variance": ppo.explained_variance(rollout.value, targets),
    }
    total = parts["loss/policy"] + plan.value_weight * parts["loss/value"]
    return total - plan.entropy_weight * parts["loss/entropy"], parts


def _map_agents(function: Callable, tree: PyTree, *others: PyTree) -> PyTree:
    """Map what has the shape of an agent in an optimiser's state; keep the rest."""

    def is_agent(leaf):
        return isinstance(leaf, ActorCritic)

    def place(leaf, *rest):
        return function(leaf, *rest) if is_agent(leaf) else (*rest, leaf)[0]

    return jax.tree.map(place, tree, *others, is_leaf=is_agent)


def start_optimizer(agent: ActorCritic, config: TrainConfig) -> PyTree:
    """Return the optimiser's state before the first update."""
    tree: Any = agent  # optax's types know no modules
    return optimizer_of(config).init(tree)


def optimizer_of(config: TrainConfig) -> optax.GradientTransformation:
    """Return Adam behind a clipped gradient, at a constant or falling rate."""
    plan = config.ppo
    rate: Any = plan.learning_rate
    if plan.learning_rate_schedule == "linear":
        n_steps = config.n_updates * plan.n_epochs * plan.n_minibatches
        rate = optax.linear_schedule(plan.learning_rate, 0.0, n_steps)
    adam = optax.adam(rate, eps=plan.adam_epsilon)
    return optax.chain(optax.clip_by_global_norm(plan.max_grad_norm), adam)
