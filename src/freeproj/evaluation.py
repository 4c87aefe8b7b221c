"""A frozen agent on a map, or a task, that it was not trained on.

Memories begin empty, actions are sampled, nothing is learned. Two ways to count, both
kept, never mixed (SPEC: they answer different questions):

- `window`: the paper's. Play `n_steps`, count the episodes that ended in that time. It
  has a ceiling: long episodes do not end within the window, so only short ones count.
- `episodes`: play on until every environment has finished its first episode, and count
  each once.

Where nothing was counted the mean is nan, and the counts say so. (Section 4.1,
appendices D.5 and D.8.)
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from freeproj.agents import ActorCritic
from freeproj.config import TrainConfig
from freeproj.metaenv import MetaEnv, MetaParams
from freeproj.rollout import Play, first_steps, start_play

__all__ = ["EpisodeStats", "Evaluation", "evaluate", "evaluate_in"]


class EpisodeStats(NamedTuple):
    """Returns of whole episodes; nan where none was counted."""

    mean_return: Float[Array, ""]
    std_return: Float[Array, ""]
    n_finished: Int[Array, ""]
    n_unfinished: Int[Array, ""]


class Evaluation(NamedTuple):
    """Both ways to count, and the mean return of each trial of the first episodes."""

    window: EpisodeStats
    episodes: EpisodeStats
    trial_returns: Float[Array, " trials"]  # nan where no trial of that number ended
    trial_counts: Int[Array, " trials"]


class _Tally(NamedTuple):
    """What is being counted while playing."""

    play: Play
    step: Int[Array, ""]
    window_sums: Float[Array, "3"]  # number, sum and sum of squares of returns
    first_return: Float[Array, " envs"]  # nan until the first episode ends
    trial_sums: Float[Array, "envs trials"]
    trials_ended: Int[Array, " envs"]  # of the first episode


def evaluate(
    key: PRNGKeyArray,
    agent: ActorCritic,
    config: TrainConfig,
    *,
    task: str = "",
    map: str = "",  # noqa: A002
) -> Evaluation:
    """Tests an agent as its settings say, or on another task or map.

    The map `random` draws bases and words that the agent has not met.
    """
    env = config.evaluation_env(task, map)
    if env.input_size != config.training_env().input_size:
        raise ValueError(
            f"The agent takes {config.training_env().input_size} inputs and cannot "
            f"play {task!r}, which shows {env.input_size}: it has more actions."
        )
    plan = config.evaluation
    run = jax.jit(evaluate_in, static_argnums=(2, 3, 4, 5))
    return run(key, agent, env, plan.n_envs, plan.n_steps, plan.episodes)


def evaluate_in(
    key: PRNGKeyArray,
    agent: ActorCritic,
    env: MetaEnv,
    n_envs: int,
    n_steps: int,
    episodes: bool,
) -> Evaluation:
    """Tests an agent in a meta-environment; compilable."""
    key_params, key_start, key_play = jax.random.split(key, 3)
    params = env.draw_params(key_params)
    play = start_play(key_start, env, params, agent, n_envs)
    tally = _Tally(
        play=play,
        step=jnp.zeros((), int),
        window_sums=jnp.zeros(3),
        first_return=jnp.full(n_envs, jnp.nan),
        trial_sums=jnp.zeros((n_envs, env.n_trials)),
        trials_ended=jnp.zeros(n_envs, int),
    )
    bound = max(n_steps, env.max_steps) if episodes else n_steps

    def unfinished(tally: _Tally):
        waiting = jnp.isnan(tally.first_return).any()
        return (tally.step < n_steps) | (waiting & (tally.step < bound))

    def step(tally: _Tally) -> _Tally:
        key = jax.random.fold_in(key_play, tally.step)
        return _step(key, tally, agent, env, params, n_steps)

    return _summary(jax.lax.while_loop(unfinished, step, tally), n_envs)


def _step(
    key: PRNGKeyArray,
    tally: _Tally,
    agent: ActorCritic,
    env: MetaEnv,
    params: MetaParams,
    n_steps: int,
) -> _Tally:
    key_action, key_env = jax.random.split(key)
    play = tally.play
    mask = jax.vmap(env.action_mask)(play.state)
    fresh = first_steps(env, play.inputs)
    policy, _, memory = agent.step(play.inputs, play.memory, fresh, mask)
    action = policy.sample(key_action)
    inputs, state, reward, done, _, info = env.step_batch(
        key_env, play.state, action, params
    )
    so_far = play.episode_return + reward
    counted = jnp.where(done & (tally.step < n_steps), 1.0, 0.0)
    first = jnp.isnan(tally.first_return)
    trial = jnp.arange(env.n_trials) == info["trial"][:, None]
    return _Tally(
        play=Play(inputs, state, memory, jnp.where(done, 0.0, so_far)),
        step=tally.step + 1,
        window_sums=tally.window_sums
        + jnp.stack(
            [counted.sum(), (counted * so_far).sum(), (counted * so_far**2).sum()]
        ),
        first_return=jnp.where(first & done, so_far, tally.first_return),
        trial_sums=tally.trial_sums
        + jnp.where(trial & first[:, None], reward[:, None], 0),
        trials_ended=tally.trials_ended + (first & info["trial_ended"]),
    )


def _summary(tally: _Tally, n_envs: int) -> Evaluation:
    count, total, squares = tally.window_sums
    # Zero divided by zero: no data is nan.
    mean = total / count
    spread = jnp.sqrt(jnp.maximum(squares / count - mean**2, 0.0))
    finished = ~jnp.isnan(tally.first_return)
    ended = jnp.arange(tally.trial_sums.shape[1]) < tally.trials_ended[:, None]
    trial_counts = ended.sum(axis=0)
    return Evaluation(
        window=EpisodeStats(mean, spread, count.astype(int), jnp.asarray(n_envs, int)),
        episodes=EpisodeStats(
            jnp.nanmean(tally.first_return),
            jnp.nanstd(tally.first_return),
            finished.sum(),
            (~finished).sum(),
        ),
        trial_returns=jnp.where(ended, tally.trial_sums, 0).sum(axis=0) / trial_counts,
        trial_counts=trial_counts,
    )
