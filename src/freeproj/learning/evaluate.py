"""Test a frozen agent on maps (projections), or a task, that it was not trained on.

Memories begin empty, actions are sampled, nothing is learned. Several maps are played
at once, by as many environments each, from the same initial states. There are two ways
to count, both kept, never mixed:

- `window`: the paper's. Play `n_steps`, count the episodes that ended in that time. It
  has a ceiling: long episodes do not end within the window, so only short ones count.
- `episodes`: play on until every environment has finished its first episode, and count
  each once.

If no episode was counted, the mean is NaN and the count is 0. A run's evaluations
have their own stream of keys and cannot affect training. (Section 4.1, appendices D.5
and D.8.)
"""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from freeproj.agents import ActorCritic
from freeproj.envs import Box, Discrete
from freeproj.learning.config import EvaluationConfig, TrainConfig
from freeproj.learning.rollout import Rollout, RolloutState, play_step
from freeproj.meta.episodes import MetaEnv
from freeproj.meta.inputs import MetaParams
from freeproj.projection import matrices
from freeproj.projection.maps import is_drawn

__all__ = ["EpisodeStats", "Evaluation", "check_fits", "evaluate", "evaluation_inputs"]
__all__ += ["is_tested", "map_norms", "map_table", "named", "run_evaluation"]

_COLUMNS = ("episode_return", "episode_return_std", "n_finished", "n_unfinished")
_PerMap = Float[Array, "*maps"]
_Counts = Int[Array, "*maps"]
_Rows = Int[Array, " envs"]  # of the table of the maps' matrices


class EpisodeStats(NamedTuple):
    """Returns of whole episodes; nan where none was counted."""

    mean_return: _PerMap
    std_return: _PerMap
    n_finished: _Counts
    n_unfinished: _Counts

    @property
    def standard_error(self) -> _PerMap:
        """The standard error of the mean return; nan below two episodes."""
        error = self.std_return / jnp.sqrt(self.n_finished)
        return jnp.where(self.n_finished > 1, error, jnp.nan)


class Evaluation(NamedTuple):
    """Both ways to count, and the mean return of each trial of the first episodes."""

    window: EpisodeStats
    episodes: EpisodeStats
    trial_returns: Float[Array, "*maps trials"]  # nan where no such trial ended
    trial_counts: Int[Array, "*maps trials"]


class _Tally(NamedTuple):
    """What is being counted while playing."""

    state: RolloutState
    step: Int[Array, ""]
    window: Float[Array, "envs 3"]  # number, sum and sum of squares of returns
    first_return: Float[Array, " envs"]  # nan until the first episode ends
    trial_sums: Float[Array, "envs trials"]
    trials_ended: Int[Array, " envs"]  # of the first episode


def evaluate(
    key: PRNGKeyArray,
    agent: ActorCritic,
    config: TrainConfig,
    *,
    task: str = "",
    maps: str | Sequence[str] = (),
) -> dict[str, Evaluation]:
    """Test an agent as its settings say, or on another task or other maps.

    Return an `Evaluation` for each map; without `maps`, for those of the settings and
    for `zero`, the observation blanked.
    """
    chosen = (maps,) if isinstance(maps, str) else tuple(maps) or config.test_maps
    env = config.evaluation_env(task)
    check_fits(config.training_env(), env, task)
    plan = config.evaluation
    key_maps, key_play = jax.random.split(key)
    data = map_table(key_maps, env, chosen, plan.n_envs)
    found = _compiled(agent, key_play, *data, env, plan)
    one = [jax.tree.map(lambda leaf, i=i: leaf[i], found) for i in range(len(chosen))]
    return dict(zip(chosen, one, strict=True))


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
def _inputs(key, number, env: MetaEnv, maps: tuple[str, ...], n_envs: int) -> tuple:
    stream = jax.random.fold_in(key, 0x7E57)  # separate from training's
    key_maps, key_test = jax.random.split(jax.random.fold_in(stream, number))
    return key_test, *map_table(key_maps, env, maps, n_envs)


def named(found: Evaluation, maps: tuple[str, ...], axis: int = 0) -> dict[str, Any]:
    """Name an evaluation's numbers as they stand in the log, map by map."""
    metrics: dict[str, Any] = {}
    found = jax.device_get(found)  # JAX would compile a program for each number taken
    for number, name in enumerate(maps):
        one = jax.tree.map(lambda leaf, i=number: np.take(leaf, i, axis), found)
        metrics[f"test/{name}/trial_returns"] = one.trial_returns
        metrics[f"test/{name}/trial_counts"] = one.trial_counts
        for counting in ("window", "episodes"):
            columns = (f"test/{name}/{counting}/{column}" for column in _COLUMNS)
            metrics |= zip(columns, getattr(one, counting), strict=True)
    return metrics


def map_table(
    key: PRNGKeyArray, env: MetaEnv, maps: Sequence[str], n_envs: int
) -> tuple[MetaParams, Int[np.ndarray, " rows"]]:
    """Return the table of the maps' matrices, and the row of each environment.

    The environments of the first map come first. A fixed map has one row; `random` and
    `gaussian` have a row, a fresh matrix, for each of their environments.
    """
    tables, rows, n_rows = [], [], 0
    for number, name in enumerate(maps):
        if is_drawn(name):
            drawn = jax.random.fold_in(key, number)
            table = _drawn_rows(drawn, env, n_envs, name == "gaussian")
        else:
            table = env.map_rows(name)
        rows += [n_rows + i % len(table) for i in range(n_envs)]
        tables.append(table)
        n_rows += len(table)
    n_tasks = max(table.shape[1] for table in tables)
    same = [jnp.broadcast_to(t, (len(t), n_tasks, *t.shape[2:])) for t in tables]
    # Pad the table: programs depend on its number of rows, which must not vary.
    missing = jnp.zeros((len(maps) * n_envs - n_rows, *same[0].shape[1:]))
    tasks = tuple(task.default_params for task in env.tasks)
    table = jnp.concatenate([*same, missing])
    return MetaParams(None, tasks, table), np.array(rows, np.int32)


def map_norms(env: MetaEnv, maps: Sequence[str]) -> dict[str, float]:
    """Return the largest factor by which each map stretches an observation."""
    law = env.projection
    whole = law.input_dim >= law.dim or env.observation_size == 1
    norms = {}
    for name in maps:
        if is_drawn(name):
            norms[name] = law.scale if whole and name == "random" else np.nan
        else:
            matrix = np.asarray(env.map_matrices(name))[0, 0]
            norms[name] = float(np.linalg.norm(matrix, 2))
    return norms


def run_evaluation(
    agent, key, params, rows: _Rows, env: MetaEnv, plan: EvaluationConfig
) -> Evaluation:
    """Test an agent, map by map, on what `evaluation_inputs` returns; compilable."""
    key_start, key_play = jax.random.split(key)
    n_envs, split = len(rows), (len(rows) // plan.n_envs, plan.n_envs)
    # The same episodes begin under every map.
    keys = jnp.concatenate([jax.random.split(key_start, plan.n_envs)] * split[0])
    inputs, episodes = jax.vmap(env.reset, in_axes=(0, None, 0))(keys, params, rows)
    memory, nothing = agent.initial_state(n_envs), jnp.zeros(n_envs)
    tally = _Tally(
        RolloutState(inputs, episodes, memory, nothing),
        step=jnp.zeros((), int),
        window=jnp.zeros((n_envs, 3)),
        first_return=jnp.full(n_envs, jnp.nan),
        trial_sums=jnp.zeros((n_envs, env.n_trials)),
        trials_ended=jnp.zeros(n_envs, int),
    )
    bound = max(plan.n_steps, env.max_steps) if plan.episodes else plan.n_steps

    def unfinished(tally: _Tally):
        waiting = jnp.isnan(tally.first_return).any()
        return (tally.step < plan.n_steps) | (waiting & (tally.step < bound))

    def step(tally: _Tally) -> _Tally:
        key_step = jax.random.fold_in(key_play, tally.step)
        key_noise, key_env = jax.random.split(key_step)
        noise = agent.noise(key_noise, (n_envs,))
        played = play_step(key_env, noise, env, params, agent, tally.state)
        return _counted(tally, *played, tally.step < plan.n_steps)

    counted = jax.lax.while_loop(unfinished, step, tally)[2:]
    by_map = jax.tree.map(lambda leaf: leaf.reshape(*split, *leaf.shape[1:]), counted)
    return jax.vmap(_summary)(*by_map)


_compiled = jax.jit(run_evaluation, static_argnums=(4, 5))


def _counted(tally, state: RolloutState, happened: Rollout, info, in_window) -> _Tally:
    done, total = happened.done, happened.finished_return
    counted = jnp.where(done & in_window, 1.0, 0.0)
    first = jnp.isnan(tally.first_return)
    trial = jnp.arange(tally.trial_sums.shape[1]) == info["trial"][:, None]
    reward = jnp.where(trial & first[:, None], happened.reward[:, None], 0)
    moments = jnp.stack([counted, counted * total, counted * total**2], axis=1)
    return _Tally(
        state=state,
        step=tally.step + 1,
        window=tally.window + moments,
        first_return=jnp.where(first & done, total, tally.first_return),
        trial_sums=tally.trial_sums + reward,
        trials_ended=tally.trials_ended + (first & info["trial_ended"]),
    )


def _summary(window, first_return, trial_sums, trials_ended) -> Evaluation:
    count, total, squares = window.sum(axis=0)
    # Zero divided by zero: no data is nan.
    mean = total / count
    spread = jnp.sqrt(jnp.maximum(squares / count - mean**2, 0.0))
    n_envs, finished = jnp.asarray(len(first_return), int), ~jnp.isnan(first_return)
    first = jnp.nanmean(first_return), jnp.nanstd(first_return)
    ended = jnp.arange(trial_sums.shape[1]) < trials_ended[:, None]
    trial_counts = ended.sum(axis=0)
    return Evaluation(
        window=EpisodeStats(mean, spread, count.astype(int), n_envs),
        episodes=EpisodeStats(*first, finished.sum(), (~finished).sum()),
        trial_returns=jnp.where(ended, trial_sums, 0).sum(axis=0) / trial_counts,
        trial_counts=trial_counts,
    )


@functools.partial(jax.jit, static_argnums=(1, 2, 3))
def _drawn_rows(
    key: PRNGKeyArray, env: MetaEnv, n_rows: int, gaussian: bool
) -> Float[Array, "rows tasks d_obs d_in"]:
    law, size = env.projection, env.observation_size
    if gaussian:
        corners = jax.random.normal(key, (n_rows, law.input_dim, size))
        corners = corners / math.sqrt(law.input_dim)
    else:
        corners = matrices.frames(key, n_rows, law.dim, size)[:, : law.input_dim]
    missing = law.input_dim - corners.shape[1]
    fitted = jnp.pad(law.scale * corners, ((0, 0), (0, missing), (0, 0)))
    return env.table_of(fitted)


def check_fits(trained: MetaEnv, env: MetaEnv, task: str) -> None:
    """Refuse a task whose inputs or actions are not those of the training."""
    kinds = {Box: "continuous", Discrete: "discrete"}
    known, needed = (kinds[type(each.action_space)] for each in (trained, env))
    n_inputs, problem = trained.input_size, ""
    if known != needed:
        problem = f"whose actions are {needed}, not {known}"
    elif env.input_size != n_inputs:
        problem = f"which has more actions and shows {env.input_size} inputs"
    if problem:
        said = f"The agent, of {n_inputs} inputs, cannot play {task!r}, {problem}."
        raise ValueError(said)
