"""The evaluations of a run: when they take place, on what maps, and under what names.

They have their own stream of keys, a function of the seed and the update's number, so
they cannot affect training.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Int, PRNGKeyArray

from freeproj.agents import ActorCritic
from freeproj.learning.config import TrainConfig
from freeproj.learning.evaluate import Evaluation, evaluate_maps, map_table
from freeproj.meta.episodes import MetaEnv
from freeproj.meta.tasks import MetaParams

__all__ = ["evaluation_inputs", "is_tested", "named", "run_evaluation"]


def is_tested(number: int, config: TrainConfig) -> bool:
    """Whether the agent is tested after this update."""
    every = config.evaluation.every
    return every > 0 and (number % every == 0 or number == config.n_updates)


def evaluation_inputs(key: PRNGKeyArray, number: int, config: TrainConfig) -> tuple:
    """Return the key, the maps' table and the environments' rows of an evaluation."""
    env, n_envs = config.evaluation_env(), config.evaluation.n_envs
    return _inputs(key, number, env, config.test_maps, n_envs)


# One small program instead of the dozen that its lines would be.
@functools.partial(jax.jit, static_argnums=(2, 3, 4))
def _inputs(
    key: PRNGKeyArray,
    number: Int[Array, ""],
    env: MetaEnv,
    maps: tuple[str, ...],
    n_envs: int,
) -> tuple:
    stream = jax.random.fold_in(key, 0x7E57)  # separate from training's
    key_maps, key_test = jax.random.split(jax.random.fold_in(stream, number))
    return key_test, *map_table(key_maps, env, maps, n_envs)


def run_evaluation(
    agent: ActorCritic,
    key: PRNGKeyArray,
    params: MetaParams,
    rows: Int[Array, " envs"],
    config: TrainConfig,
) -> Evaluation:
    """Test an agent on what `evaluation_inputs` returns; compilable."""
    plan, env = config.evaluation, config.evaluation_env()
    n_maps = len(rows) // plan.n_envs
    return evaluate_maps(
        key, agent, env, params, rows, n_maps, plan.n_steps, plan.episodes
    )


def named(
    found: Evaluation, maps: tuple[str, ...], axis: int = 0
) -> dict[str, np.ndarray]:
    """Name an evaluation's numbers as they stand in the log, map by map."""
    metrics: dict[str, Any] = {}
    found = jax.device_get(found)  # JAX would compile a program for each number taken
    for number, name in enumerate(maps):
        one = jax.tree.map(lambda leaf, i=number: np.take(leaf, i, axis), found)
        metrics[f"test/{name}/trial_returns"] = one.trial_returns
        metrics[f"test/{name}/trial_counts"] = one.trial_counts
        for counting in ("window", "episodes"):
            stats, prefix = getattr(one, counting), f"test/{name}/{counting}"
            metrics[f"{prefix}/episode_return"] = stats.mean_return
            metrics[f"{prefix}/episode_return_std"] = stats.std_return
            metrics[f"{prefix}/n_finished"] = stats.n_finished
            metrics[f"{prefix}/n_unfinished"] = stats.n_unfinished
    return metrics
