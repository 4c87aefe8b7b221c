"""One episode of an agent, frame by frame, as text."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp

from freeproj.agents import ActorCritic
from freeproj.metaenv import MetaEnv
from freeproj.rollout import first_steps

__all__ = ["watch_episode"]


def watch_episode(agent: ActorCritic, env: MetaEnv, seed: int = 0) -> Iterator[str]:
    """Yields what each step looks like, until the episode ends."""
    key_params, key_reset, key_play = jax.random.split(jax.random.key(seed), 3)
    params = env.draw_params(key_params)
    inputs, state = jax.jit(env.reset)(key_reset, params)
    memory, total, trial_total = agent.initial_state(1), 0.0, 0.0
    act, advance = jax.jit(_act, static_argnums=1), jax.jit(env.advance)
    task = env.tasks[int(state.task)]
    yield task.render(state.current[int(state.task)])
    for number in range(env.max_steps):
        key_action, key_env = jax.random.split(jax.random.fold_in(key_play, number))
        action, memory = act(agent, env, key_action, inputs, memory, state)
        inputs, state, reward, over, _, info = advance(key_env, state, action, params)
        total, trial_total = total + float(reward), trial_total + float(reward)
        done = f"trial {int(info['trial']) + 1}/{env.n_trials}  return {total:.3f}"
        yield f"{_named(task, action)}  {float(reward):+.3f}  {done}"
        if info["trial_ended"]:
            yield f"--- trial {int(info['trial']) + 1} ended: {trial_total:.3f}"
            trial_total = 0.0
        if over:
            return
        yield task.render(state.current[int(state.task)])


def _act(agent: ActorCritic, env: MetaEnv, key, inputs, memory, state):
    mask = env.action_mask(state)
    policy, _, memory = agent.step(
        inputs[None],
        memory,
        first_steps(env, inputs[None]),
        None if mask is None else mask[None],
    )
    return policy.sample(key)[0], memory


def _named(task, action: jax.Array) -> str:
    names = task.action_names
    if names and action.ndim == 0 and int(action) < len(names):
        return names[int(action)]
    return str(jnp.round(action, 2))
