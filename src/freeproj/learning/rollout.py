"""Rollouts: a recurrent agent plays many environments, and every step is kept.

`play_step` is the one way to play: collecting, evaluating and watching all use it.
Arrays are time-major, (time, environment). The agent's memory is carried along and
reset where an episode begins.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from freeproj.agents import ActorCritic
from freeproj.meta.episodes import MetaEnv
from freeproj.meta.inputs import MetaParams, MetaState

__all__ = ["Rollout", "RolloutState", "collect", "first_steps", "play_step"]
__all__ += ["start_rollout"]

_Steps = Float[Array, "*time envs"]


class RolloutState(NamedTuple):
    """The state of many environments, and of the agent's memory in each."""

    inputs: Float[Array, "envs inputs"]  # what the agent sees next
    episodes: MetaState
    memory: PyTree
    episode_return: Float[Array, " envs"]  # of the current episode, so far


class Rollout(NamedTuple):
    """What happened, step by step."""

    inputs: Float[Array, "*time envs inputs"]
    action: Array
    log_prob: _Steps
    value: _Steps
    reward: _Steps
    done: Bool[Array, "*time envs"]  # the episode ended with this step
    mask: Bool[Array, "*time envs actions"] | None
    finished_return: _Steps  # of the episode, where done, else 0
    task: Int[Array, "*time envs"]


def start_rollout(
    key: PRNGKeyArray, env: MetaEnv, params: MetaParams, agent: ActorCritic, n_envs: int
) -> RolloutState:
    """Begin episodes in all environments, with empty memories."""
    inputs, episodes = env.reset_batch(key, params, n_envs)
    nothing = jnp.zeros(n_envs)
    return RolloutState(inputs, episodes, agent.initial_state(n_envs), nothing)


def first_steps(env: MetaEnv, inputs: Float[Array, "..."]) -> Bool[Array, "..."]:
    """Mask of the steps that start an episode; the agent's memory is reset there."""
    return inputs[..., env.layout["first_step"].start] > 0.5


def collect(
    key: PRNGKeyArray,
    env: MetaEnv,
    params: MetaParams,
    agent: ActorCritic,
    state: RolloutState,
    n_steps: int,
) -> tuple[RolloutState, Rollout, Float[Array, " envs"]]:
    """Play on for `n_steps`; return the new state, the steps, and the value there."""
    key_noise, key_env = jax.random.split(key)
    # All of the policy's noise at once: a draw per step would cost more than the step.
    noise = agent.noise(key_noise, (n_steps, len(state.inputs)))
    keys = jax.random.split(key_env, n_steps)

    def step(state: RolloutState, now) -> tuple[RolloutState, Rollout]:
        key, noise = now
        return play_step(key, noise, env, params, agent, state)[:2]

    state, rollout = jax.lax.scan(step, state, (keys, noise))
    fresh = first_steps(env, state.inputs)
    _, last_value, _ = agent.step(state.inputs, state.memory, fresh)
    return state, rollout, last_value


def play_step(
    key: PRNGKeyArray,
    noise: Float[Array, "envs n"],
    env: MetaEnv,
    params: MetaParams,
    agent: ActorCritic,
    state: RolloutState,
) -> tuple[RolloutState, Rollout, dict[str, Any]]:
    """Let the agent act, by `agent.noise`, in every environment; tell what happened."""
    one = jax.tree.map(lambda leaf: leaf[0], state.episodes)
    is_masked = env.action_mask(one) is not None
    mask = jax.vmap(env.action_mask)(state.episodes) if is_masked else None
    fresh = first_steps(env, state.inputs)
    policy, value, memory = agent.step(state.inputs, state.memory, fresh, mask)
    action = policy.sample_with(noise)
    inputs, episodes, reward, done, _, info = env.step_batch(
        key, state.episodes, action, params
    )
    so_far = state.episode_return + reward
    finished, log_prob = jnp.where(done, so_far, 0.0), policy.log_prob(action)
    seen = (state.inputs, action, log_prob, value, reward, done, mask, finished)
    happened = Rollout(*seen, info["task"])
    following = RolloutState(inputs, episodes, memory, jnp.where(done, 0.0, so_far))
    return following, happened, info
