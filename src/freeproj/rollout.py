"""Playing: a recurrent agent steps many environments and what happens is kept.

Arrays are time-major, (time, environment). What the agent remembers is carried along
and emptied where an episode begins.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray, PyTree

from freeproj.agents import ActorCritic
from freeproj.metaenv import MetaEnv, MetaParams, MetaState

__all__ = ["Play", "Rollout", "collect", "first_steps", "start_play"]


class Play(NamedTuple):
    """Where many environments and the agent's memories of them stand."""

    inputs: Float[Array, "envs inputs"]  # what the agent sees next
    state: MetaState
    memory: PyTree
    episode_return: Float[Array, " envs"]  # of the episode under way, so far


class Rollout(NamedTuple):
    """What happened, step by step."""

    inputs: Float[Array, "time envs inputs"]
    action: Array
    log_prob: Float[Array, "time envs"]
    value: Float[Array, "time envs"]
    reward: Float[Array, "time envs"]
    done: Bool[Array, "time envs"]  # the episode ended with this step
    mask: Bool[Array, "time envs actions"] | None
    finished_return: Float[Array, "time envs"]  # of the episode, where done, else 0


def start_play(
    key: PRNGKeyArray, env: MetaEnv, params: MetaParams, agent: ActorCritic, n_envs: int
) -> Play:
    """Begins episodes in all environments, with empty memories."""
    inputs, state = env.reset_batch(key, params, n_envs)
    return Play(inputs, state, agent.initial_state(n_envs), jnp.zeros(n_envs))


def first_steps(
    env: MetaEnv, inputs: Float[Array, "*batch inputs"]
) -> Bool[Array, "*batch"]:
    """Tells where the agent sees an episode's first step: there memory is emptied."""
    return inputs[..., env.layout["first_step"].start] > 0.5


def collect(
    key: PRNGKeyArray,
    env: MetaEnv,
    params: MetaParams,
    agent: ActorCritic,
    play: Play,
    n_steps: int,
) -> tuple[Play, Rollout, Float[Array, " envs"]]:
    """Plays on for `n_steps`; returns the new place, the steps, and the value there."""
    key_noise, key_env = jax.random.split(key)
    # All of the policy's noise at once: a draw per step would cost more than the step.
    noise = agent.noise(key_noise, (n_steps, len(play.inputs)))
    keys = jax.random.split(key_env, n_steps)

    def step(play: Play, now) -> tuple[Play, Rollout]:
        key, noise = now
        return _step(key, noise, env, params, agent, play)

    play, rollout = jax.lax.scan(step, play, (keys, noise))
    fresh = first_steps(env, play.inputs)
    _, last_value, _ = agent.step(play.inputs, play.memory, fresh)
    return play, rollout, last_value


def _step(key, noise, env, params, agent, play) -> tuple[Play, Rollout]:
    mask = _masks(env, play.state)
    fresh = first_steps(env, play.inputs)
    policy, value, memory = agent.step(play.inputs, play.memory, fresh, mask)
    action = policy.sample_with(noise)
    inputs, state, reward, done, _, _ = env.step_batch(key, play.state, action, params)
    so_far = play.episode_return + reward
    happened = Rollout(
        inputs=play.inputs,
        action=action,
        log_prob=policy.log_prob(action),
        value=value,
        reward=reward,
        done=done,
        mask=mask,
        finished_return=jnp.where(done, so_far, 0.0),
    )
    return Play(inputs, state, memory, jnp.where(done, 0.0, so_far)), happened


def _masks(env: MetaEnv, state: MetaState) -> Bool[Array, "envs actions"] | None:
    one = jax.tree.map(lambda leaf: leaf[0], state)
    if env.action_mask(one) is None:
        return None
    return jax.vmap(env.action_mask)(state)
