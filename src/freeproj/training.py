"""Recurrent PPO under random words: redraw bases, collect, learn, evaluate, repeat.

`train` is a Python loop over one compiled update, so that progress, logs, checkpoints
and Ctrl-C have a place at every update. Whatever an update needs is in `TrainState`:
a run that continues from a stored one is the same run, bit for bit. Evaluation has its
own stream of keys and cannot touch training. (Appendices D.2 and D.7.)
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray, PyTree

from freeproj import ppo
from freeproj.agents import ActorCritic
from freeproj.cache import use_cache
from freeproj.config import NetworkConfig, TrainConfig
from freeproj.envs.base import Box, Discrete
from freeproj.evaluation import Evaluation, evaluate_in
from freeproj.metaenv import MetaEnv, MetaParams
from freeproj.rollout import Play, Rollout, collect, first_steps, start_play

__all__ = [
    "Metrics",
    "TrainResult",
    "TrainState",
    "start",
    "train",
    "train_seeds",
    "update",
]

Metrics = dict[str, Array]


class TrainState(NamedTuple):
    """All that an update needs and changes."""

    agent: ActorCritic
    optimizer: PyTree
    params: MetaParams
    play: Play
    key: PRNGKeyArray
    n_done: Int[Array, ""]  # updates


class TrainResult(NamedTuple):
    """A trained agent and one row of numbers for each update."""

    agent: ActorCritic
    log: list[dict[str, Any]]


class _Batch(NamedTuple):
    """What is learned from: a rollout, its advantages, the memories at its start."""

    rollout: Rollout
    advantages: Float[Array, "time envs"]
    memory: PyTree


def train(
    key: PRNGKeyArray,
    config: TrainConfig,
    *,
    state: TrainState | None = None,
    report: Callable[[TrainState, dict[str, Any]], None] | None = None,
) -> TrainResult:
    """Trains an agent; `report` is called with the state and the log's row each time.

    With a `state` the run goes on from there instead of starting.
    """
    use_cache()
    now = start(key, config) if state is None else state
    step, test = _programs(_seedless(config))
    key_test = _evaluation_key(key)
    log = []
    for number in range(int(now.n_done) + 1, config.n_updates + 1):
        now, metrics = step(now)
        if _is_tested(number, config):
            metrics |= test(jax.random.fold_in(key_test, number), now.agent)
        row = {"update": number, "steps": number * config.n_envs * config.n_steps}
        row |= jax.tree.map(lambda leaf: leaf.tolist(), metrics)
        log.append(row)
        if report is not None:
            report(now, row)
    return TrainResult(now.agent, log)


def train_seeds(
    keys: Key[Array, " seeds"], config: TrainConfig
) -> tuple[ActorCritic, Metrics]:
    """Trains one agent for each key at once, by `vmap`: for accelerators.

    Returns the agents, stacked, and the metrics with axes (update, seed).
    """
    use_cache()
    state = jax.jit(jax.vmap(functools.partial(start, config=config)))(keys)
    step = jax.jit(jax.vmap(functools.partial(update, config=config)), donate_argnums=0)
    test = jax.jit(jax.vmap(functools.partial(_test, config=config)))
    keys_test = jax.vmap(_evaluation_key)(keys)
    fold = jax.vmap(jax.random.fold_in, in_axes=(0, None))
    rows = []
    for number in range(1, config.n_updates + 1):
        state, metrics = step(state)
        if _is_tested(number, config):
            metrics |= test(fold(keys_test, number), state.agent)
        rows.append(metrics)
    names = {name for row in rows for name in row}
    empty = jax.tree.map(lambda leaf: jnp.full_like(leaf, jnp.nan, float), rows[-1])
    log = {
        name: jnp.stack([row.get(name, empty.get(name)) for row in rows])
        for name in sorted(names)
    }
    return state.agent, log


def start(key: PRNGKeyArray, config: TrainConfig) -> TrainState:
    """Draws an agent, base matrices and the first episodes."""
    key_agent, key_params, key_play, key_updates = jax.random.split(key, 4)
    # Small programs compile sooner than one, and runs that differ in other settings
    # share them.
    env = config.training_env()
    agent = _start_agent(
        key_agent, env.input_size, env.action_space, config.memory, config.network
    )
    optimizer = _optimizer(config).init(_tree(agent))
    params = _start_params(key_params, env)
    play = _start_play(key_play, env, params, agent, config.n_envs)
    return TrainState(agent, optimizer, params, play, key_updates, jnp.zeros((), int))


def update(state: TrainState, config: TrainConfig) -> tuple[TrainState, Metrics]:
    """Redraws bases, collects, learns; compilable, and the same for the same state."""
    key, key_redraw, key_collect, key_learn = jax.random.split(state.key, 4)
    env = config.training_env()
    params, play = _redrawn(key_redraw, env, state, config.redraw_every)
    memory = play.memory
    play, rollout, last_value = collect(
        key_collect, env, params, state.agent, play, config.n_steps
    )
    estimates = ppo.advantages(
        rollout.reward,
        rollout.value,
        last_value,
        rollout.done,
        config.ppo.discount,
        config.ppo.gae_lambda,
    )
    batch = _Batch(rollout, estimates, memory)
    agent, optimizer, losses = _learn(key_learn, state, batch, env, config)
    metrics = {**_returns(rollout, config.n_envs), **losses}
    done = state.n_done + 1
    return TrainState(agent, optimizer, params, play, key, done), metrics


@functools.lru_cache(maxsize=2)
def _programs(config: TrainConfig) -> tuple[Callable, Callable]:
    """Returns update and test, traced and compiled once for all seeds."""
    step = jax.jit(functools.partial(update, config=config), donate_argnums=0)
    return step, jax.jit(functools.partial(_test, config=config))


def _seedless(config: TrainConfig) -> TrainConfig:
    """The settings that programs depend on; the seed is in the keys."""
    return dataclasses.replace(config, seed=0)


@functools.partial(jax.jit, static_argnums=(1, 2, 3, 4))
def _start_agent(
    key: PRNGKeyArray,
    input_size: int,
    action_space: Box | Discrete,
    memory: str,
    network: NetworkConfig,
) -> ActorCritic:
    sizes = dataclasses.asdict(network)
    return ActorCritic.create(key, input_size, action_space, memory, **sizes)


@functools.partial(jax.jit, static_argnums=1)
def _start_params(key: PRNGKeyArray, env: MetaEnv) -> MetaParams:
    return env.draw_params(key)


_start_play = jax.jit(start_play, static_argnums=(1, 4))


def _redrawn(
    key: PRNGKeyArray, env: MetaEnv, state: TrainState, every: int
) -> tuple[MetaParams, Play]:
    """Draws new bases when it is time to; running episodes keep their word."""
    if every == 0:
        return state.params, state.play

    def redraw():
        params = env.redraw(key, state.params)
        rematch = jax.vmap(env.rematch, in_axes=(0, None))
        episodes = rematch(state.play.state, params)
        return params, state.play._replace(state=episodes)

    if every == 1:
        return redraw()
    # The first collection uses the bases drawn at the start.
    is_time = (state.n_done > 0) & (state.n_done % every == 0)
    return jax.lax.cond(is_time, redraw, lambda: (state.params, state.play))


def _learn(
    key: PRNGKeyArray,
    state: TrainState,
    batch: _Batch,
    env: MetaEnv,
    config: TrainConfig,
) -> tuple[ActorCritic, PyTree, Metrics]:
    """Runs all epochs; a minibatch is made of whole environments, never of cut time."""
    n_envs, plan = config.n_envs, config.ppo
    optimizer = _optimizer(config)

    def minibatch(carry, chosen):
        agent, memo = carry
        part = _take_envs(batch, chosen)
        gradient, losses = jax.grad(_loss, has_aux=True)(agent, part, env, config)
        losses["loss/gradient_norm"] = optax.tree.norm(gradient)
        changes, memo = optimizer.update(gradient, memo)
        return (optax.apply_updates(_tree(agent), changes), memo), losses

    def orders(key):
        order = jax.random.permutation(key, n_envs)
        return order.reshape(plan.n_minibatches, -1)

    chosen = jax.vmap(orders)(jax.random.split(key, plan.n_epochs))
    chosen = chosen.reshape(plan.n_epochs * plan.n_minibatches, -1)
    (agent, memo), losses = jax.lax.scan(
        minibatch, (state.agent, state.optimizer), chosen
    )
    return _tree(agent), memo, {name: loss.mean() for name, loss in losses.items()}


def _loss(
    agent: ActorCritic, batch: _Batch, env: MetaEnv, config: TrainConfig
) -> tuple[Float[Array, ""], Metrics]:
    rollout, plan = batch.rollout, config.ppo
    fresh = first_steps(env, rollout.inputs)
    policy, values, _ = agent.sequence(
        rollout.inputs, batch.memory, fresh, rollout.mask
    )
    log_prob = policy.log_prob(rollout.action)
    targets = batch.advantages + rollout.value
    estimates = ppo.normalize(batch.advantages)
    policy_loss = ppo.policy_loss(log_prob, rollout.log_prob, estimates, plan.clip)
    value_loss = ppo.value_loss(values, rollout.value, targets, plan.clip)
    entropy = policy.entropy().mean()
    total = ppo.total_loss(
        policy_loss, value_loss, entropy, plan.value_weight, plan.entropy_weight
    )
    return total, {
        "loss/policy": policy_loss,
        "loss/value": value_loss,
        "loss/entropy": entropy,
        "loss/approximate_kl": ppo.approximate_kl(log_prob, rollout.log_prob),
        "loss/clip_fraction": ppo.clip_fraction(log_prob, rollout.log_prob, plan.clip),
        "loss/explained_variance": ppo.explained_variance(rollout.value, targets),
    }


def _take_envs(batch: _Batch, chosen: Int[Array, " envs"]) -> _Batch:
    """Takes whole environments: axis 1 of what has time, axis 0 of memories."""
    rollout, advantages = jax.tree.map(
        lambda leaf: leaf[:, chosen], (batch.rollout, batch.advantages)
    )
    return _Batch(rollout, advantages, jax.tree.map(lambda x: x[chosen], batch.memory))


def _optimizer(config: TrainConfig) -> optax.GradientTransformation:
    plan = config.ppo
    rate: Any = plan.learning_rate
    if plan.learning_rate_schedule == "linear":
        n_steps = config.n_updates * plan.n_epochs * plan.n_minibatches
        rate = optax.linear_schedule(plan.learning_rate, 0.0, n_steps)
    return optax.chain(
        optax.clip_by_global_norm(plan.max_grad_norm),
        optax.adam(rate, eps=plan.adam_epsilon),
    )


def _tree(agent: Any) -> Any:
    """An agent, as the tree of arrays that optax takes it for."""
    return agent


def _returns(rollout: Rollout, n_envs: int) -> Metrics:
    count = rollout.done.sum()
    return {
        # Zero divided by zero: no data is nan.
        "train/episode_return": rollout.finished_return.sum() / count,
        "train/n_finished": count,
        "train/n_unfinished": jnp.asarray(n_envs),
    }


def _test(key: PRNGKeyArray, agent: ActorCritic, config: TrainConfig) -> Metrics:
    plan = config.evaluation
    env = config.evaluation_env()
    found = evaluate_in(key, agent, env, plan.n_envs, plan.n_steps, plan.episodes)
    return _flat(found)


def _flat(found: Evaluation) -> Metrics:
    """Names an evaluation's numbers as they stand in the log."""
    metrics = {
        "test/trial_returns": found.trial_returns,
        "test/trial_counts": found.trial_counts,
    }
    for counting in ("window", "episodes"):
        stats = getattr(found, counting)
        metrics[f"test/{counting}/episode_return"] = stats.mean_return
        metrics[f"test/{counting}/episode_return_std"] = stats.std_return
        metrics[f"test/{counting}/n_finished"] = stats.n_finished
        metrics[f"test/{counting}/n_unfinished"] = stats.n_unfinished
    return metrics


def _is_tested(number: int, config: TrainConfig) -> bool:
    every = config.evaluation.every
    return every > 0 and (number % every == 0 or number == config.n_updates)


def _evaluation_key(key: PRNGKeyArray) -> PRNGKeyArray:
    return jax.random.fold_in(key, 0x7E57)  # a stream apart from training's
